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

// Promise is something that a lock does in normal use, and that no failure asks.
type Promise struct {
	ID    string
	Title i18n.Text          // a sentence, without a full stop
	Basic bool               // a lock that breaks it is not worth a failure
	Needs []failures.Feature // without all of these it does not apply
	Check func(*testing.T, failures.Subject) Broken
}

// Broken is how a lock breaks a promise. The zero value is a promise that is kept.
type Broken struct {
	Text   i18n.Message // one or two sentences; no text if the promise is kept
	Advice i18n.Message // what to change
	Source world.Source // the line of the lock that sent the command; no file if no command is to blame
	Trace  *world.Trace // what happened, without what the business sends
	Err    error        // of the run; a [world.FloodError], or a [world.ErrLeft] where goroutines did not end
}

// IsBroken reports whether the promise is broken.
func (b Broken) IsBroken() bool { return b.Text.Text != "" }

// Promises lists the promises. The basic ones come first, in the order in which they are to be asked.
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
		ID: "waiters-unsubscribe", Title: "A waiter that has given up listens no longer", Needs: []failures.Feature{failures.PubSub},
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

// run is a scenario in which a promise is asked.
type run struct {
	*world.World
	broken Broken
	ended  <-chan struct{} // closed when the hold that was unlocked last has ended; nil: the lock does not tell
}

// business begins the names of keys in which the lock has no part.
const business = "business:"

// asked returns the check that plays a scenario.
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

// create makes the same locks, which keep the end of a hold if they tell of it.
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

// ending is a lock that keeps the end of the hold that it frees.
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

// Close ends what the lock has beyond its holds.
func (l ending) Close() error {
	if closing, ok := l.Locker.(io.Closer); ok {
		return closing.Close()
	}
	return nil
}

// Token is that of the caller's hold.
func (l ending) Token(ctx context.Context) int64 {
	if fenced, ok := l.Locker.(world.Fenced); ok {
		return fenced.Token(ctx)
	}
	return 0
}
