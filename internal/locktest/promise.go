package locktest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Promise is a property of a lock in normal use that no failure checks.
type Promise struct {
	ID    string
	Title i18n.Text        // a sentence, without a full stop
	Basic bool             // a lock that breaks it is not ready for the failures
	Needs failures.Feature // it applies only to locks with this one; "" for any lock
	play  func(*run)
}

// Applies reports whether the promise is about a lock of this kind.
func (p Promise) Applies(s failures.Subject) bool {
	return p.Needs == "" || slices.Contains(s.Has, p.Needs)
}

// Broken describes how a lock breaks a promise. The zero value means that the promise is kept.
type Broken struct {
	Text   i18n.Message // one or two sentences; no text if the promise is kept
	Advice i18n.Message // how to fix the lock
	Source trace.Source // the line of the lock that sent the command; empty if no command caused it
	Trace  *trace.Trace // the trace, without the commands of the business
	Err    error        // the error of the run; a [world.FloodError], or a [world.ErrLeft] if goroutines did not end
}

// IsBroken reports whether the promise is broken.
func (b Broken) IsBroken() bool { return b.Text.Text != "" }

// Promises lists the promises. The basic ones come first. They are checked in this order.
var Promises = []Promise{
	{ID: "new-mutex", Title: "NewMutex returns a lock", Basic: true, play: (*run).newMutex},
	{ID: "free-lock-given", Title: "Lock takes a free lock, and Redis has a key for it", Basic: true, play: (*run).freeLock},
	{ID: "held-lock-refused", Title: "TryLock refuses a held lock at once, with false and nil", Basic: true, play: (*run).heldLock},
	{ID: "unlock-frees", Title: "Unlock frees the lock, and the next client gets it", Basic: true, play: (*run).unlock},
	{ID: "names-apart", Title: "Another name is another lock", Basic: true, play: (*run).names},
	{ID: "client-stays-open", Title: "The client stays open, and the keys of the business stay", Basic: true, play: (*run).business},
	{ID: "wait-ends-with-context", Title: "Lock ends when its context does", Basic: true, play: (*run).wait},
	{ID: "connections-given-back", Title: "Lock and TryLock give back their connections", Basic: true, play: (*run).connections},
	{ID: "new-values", Title: "Each hold writes a new and random value", play: (*run).values},
	{ID: "unlock-again", Title: "An Unlock that Redis refused can be called again", play: (*run).unlockAgain},
	{ID: "unlock-waits", Title: "Unlock waits for a renewal that is under way", Needs: failures.Watchdog, play: (*run).renewal},
	{ID: "hold-context-ends", Title: "The context of a hold ends with Unlock", play: (*run).holdEnds},
	{ID: "waiters-unsubscribe", Title: "A waiter that gives up unsubscribes", Needs: failures.PubSub, play: (*run).listening},
	{ID: "tokens-rise", Title: "Each hold has a higher token than the one before", Needs: failures.Fencing, play: (*run).tokens},
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
}

// business is the prefix of keys that do not belong to the lock.
const business = "business:"

// Check plays the scenario of the promise on a lock.
func (p Promise) Check(t *testing.T, s failures.Subject) Broken {
	r := &run{}
	config := s.Config()
	config.New = r.create(s.New)
	config.Ignore = func(key string) bool { return strings.HasPrefix(key, business) || s.Ignore != nil && s.Ignore(key) }
	tr, err := world.Run(t, config, func(w *world.World) {
		r.World = w
		p.play(r)
	})
	r.broken.Err = err
	if !r.broken.IsBroken() && err != nil && !errors.Is(err, world.ErrLeft) {
		r.broken.Text = i18n.Text(err.Error()).Args()
	}
	if r.broken.IsBroken() && tr != nil {
		r.broken.explain(tr)
		r.broken.Trace = tr
		tr.Events = slices.DeleteFunc(tr.Events, func(e trace.Event) bool { return e.Op == trace.OpRun })
	}
	return r.broken
}

var (
	noLock    = i18n.New("NewMutex returns neither a lock nor an error.")
	newFails  = i18n.New("NewMutex ends in an error: {error}")
	returnOne = i18n.New("Return the lock and nil; return an error only for a name or a lease with which no lock can work.")
)

// create wraps a constructor, and reports if it returns no lock.
func (r *run) create(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		lock, err := create(rdb, name, lease)
		if made := reflect.ValueOf(lock); err == nil && (lock == nil || made.Kind() == reflect.Pointer && made.IsNil()) {
			err = noLock.Args()
			r.broken = Broken{Text: noLock.Args(), Advice: returnOne.Args()}
		} else if err != nil {
			r.broken = Broken{Text: newFails.Args("error", err), Advice: returnOne.Args()}
		}
		return lock, err
	}
}
