package locktest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Promise is a property of a lock in normal use that no failure checks.
type Promise struct {
	ID    string
	Title i18n.Text          // a sentence, without a full stop
	Basic bool               // a lock that breaks it is not ready for the failures
	Needs []failures.Feature // it applies only to locks with all of these
	Check func(*testing.T, failures.Subject) Broken
}

// Broken describes how a lock breaks a promise. The zero value means that the promise is kept.
type Broken struct {
	Text   i18n.Message // one or two sentences; no text if the promise is kept
	Advice i18n.Message // how to fix the lock
	Source world.Source // the line of the lock that sent the command; empty if no command caused it
	Trace  *world.Trace // the trace, without the commands of the business
	Err    error        // the error of the run; a [world.FloodError], or a [world.ErrLeft] if goroutines did not end
}

// IsBroken reports whether the promise is broken.
func (b Broken) IsBroken() bool { return b.Text.Text != "" }

// Promises lists the promises. The basic ones come first. They are checked in this order.
var Promises = []Promise{
	{ID: "new-mutex", Title: "NewMutex returns a lock", Basic: true, Check: asked((*run).newMutex)},
	{ID: "free-lock-given", Title: "Lock takes a free lock, and Redis has a key for it", Basic: true, Check: asked((*run).freeLock)},
	{ID: "held-lock-refused", Title: "TryLock refuses a held lock at once, with false and nil", Basic: true, Check: asked((*run).heldLock)},
	{ID: "unlock-frees", Title: "Unlock frees the lock, and the next client gets it", Basic: true, Check: asked((*run).unlock)},
	{ID: "names-apart", Title: "Another name is another lock", Basic: true, Check: asked((*run).names)},
	{ID: "client-stays-open", Title: "The client stays open, and the keys of the business stay", Basic: true, Check: asked((*run).business)},
	{ID: "wait-ends-with-context", Title: "Lock ends when its context does", Basic: true, Check: asked((*run).wait)},
	{ID: "connections-given-back", Title: "Lock and TryLock give back their connections", Basic: true, Check: asked((*run).connections)},
	{ID: "new-values", Title: "Each hold writes a new and random value", Check: asked((*run).values)},
	{ID: "unlock-again", Title: "An Unlock that Redis refused can be called again", Check: asked((*run).unlockAgain)},
	{
		ID: "unlock-waits", Title: "Unlock waits for a renewal that is under way", Needs: []failures.Feature{failures.Watchdog},
		Check: asked((*run).renewal),
	},
	{ID: "hold-context-ends", Title: "The context of a hold ends with Unlock", Check: asked((*run).holdEnds)},
	{
		ID: "waiters-unsubscribe", Title: "A waiter that gives up unsubscribes", Needs: []failures.Feature{failures.PubSub},
		Check: asked((*run).listening),
	},
	{
		ID: "tokens-rise", Title: "Each hold has a higher token than the one before", Needs: []failures.Feature{failures.Fencing},
		Check: asked((*run).tokens),
	},
}

func init() {
	for _, p := range Promises {
		i18n.Register(p.Title)
	}
}

// run is a scenario that checks a promise.
type run struct {
	*world.World
	broken Broken
	ended  <-chan struct{} // closed when the hold that was unlocked last has ended; nil: the lock does not report it
}

// business is the prefix of keys that do not belong to the lock.
const business = "business:"

// asked returns the check that runs a scenario.
func asked(scenario func(*run)) func(*testing.T, failures.Subject) Broken {
	return func(t *testing.T, s failures.Subject) Broken {
		r := &run{}
		config := s.Config()
		config.New = r.create(s.New)
		config.Ignore = func(key string) bool { return strings.HasPrefix(key, business) || s.Ignore != nil && s.Ignore(key) }
		trace, err := world.Run(t, config, func(w *world.World) {
			r.World = w
			scenario(r)
		})
		r.broken.Err = err
		if !r.broken.IsBroken() && err != nil && !errors.Is(err, world.ErrLeft) {
			r.broken.Text = i18n.Text(err.Error()).Args()
		}
		if r.broken.IsBroken() && trace != nil {
			r.broken.explain(trace)
			r.broken.Trace = trace
			trace.Events = slices.DeleteFunc(trace.Events, func(e world.Event) bool { return e.Op == world.OpRun })
		}
		return r.broken
	}
}

var (
	noLock    = i18n.New("NewMutex returns neither a lock nor an error.")
	newFails  = i18n.New("NewMutex ends in an error: {error}")
	returnOne = i18n.New("Return the lock and nil; return an error only for a name or a lease with which no lock can work.")
)

// create wraps a constructor: if its locks report the end of a hold, r.ended gets it.
func (r *run) create(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		lock, err := create(rdb, name, lease)
		if made := reflect.ValueOf(lock); err == nil && (lock == nil || made.Kind() == reflect.Pointer && made.IsNil()) {
			err = noLock.Args()
			r.broken = Broken{Text: noLock.Args(), Advice: returnOne.Args()}
		} else if err != nil {
			r.broken = Broken{Text: newFails.Args("error", err), Advice: returnOne.Args()}
		}
		if tells, ok := lock.(world.Noticing); ok {
			return ending{lock, tells, r}, err
		}
		return lock, err
	}
}

// ending is a lock whose Unlock stores the end of the hold in its run.
type ending struct {
	world.Locker
	world.Noticing
	run *run
}

// Unlock frees the lock.
func (l ending) Unlock(ctx context.Context) error {
	l.run.ended, _ = l.Lost(ctx)
	return l.Locker.Unlock(ctx)
}

// Close closes the lock, if it has a Close.
func (l ending) Close() error {
	if closing, ok := l.Locker.(io.Closer); ok {
		return closing.Close()
	}
	return nil
}

// Token returns the token of the caller's hold, or 0.
func (l ending) Token(ctx context.Context) int64 {
	if fenced, ok := l.Locker.(world.Fenced); ok {
		return fenced.Token(ctx)
	}
	return 0
}
