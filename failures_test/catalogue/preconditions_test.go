package catalogue_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// unreachable is a lock whose every call fails as if there were no network: it breaks no
// rule, and meets no precondition.
type unreachable struct{}

func (unreachable) Lock(context.Context) error                          { return io.EOF }
func (unreachable) TryLock(context.Context) (bool, error)               { return false, io.EOF }
func (unreachable) Unlock(context.Context) error                        { return io.EOF }
func (unreachable) HoldCount(context.Context) (int, error)              { return 0, io.EOF }
func (unreachable) ForceUnlock(context.Context) (freed bool, err error) { return false, io.EOF }
func (unreachable) Close() error                                        { return nil }

func newUnreachable(redis.UniversalClient, string, time.Duration) (failures.Locker, error) {
	return unreachable{}, nil
}

var everything = []catalogue.Feature{
	catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub, catalogue.Fencing, catalogue.Force, catalogue.Closing, catalogue.HoldContext,
}

func TestLockWithoutNetworkMeetsNoPrecondition(t *testing.T) {
	subject := failures.Subject{
		Name: "unreachable", New: adapters.Plain(newUnreachable), Has: everything,
		Variants: map[catalogue.Variant]world.Constructor{},
	}
	for _, f := range catalogue.All {
		if slices.Contains(f.Breaks, oracle.NeedlessError) { // it is broken: there is a network
			continue
		}
		f.Unless, subject.Variants[f.Variant] = nil, adapters.Plain(newUnreachable)
		v := failures.Run(t, f, subject)
		require.Equal(t, failures.NotTested, v.Outcome, "%s: %s", f.ID, v.Sentence())
		require.NotEqual(t, "not tested", v.Sentence(), "it says why")
	}
}

func TestEmptyTraceMeetsNoPrecondition(t *testing.T) {
	for _, f := range catalogue.All {
		for i, precondition := range f.Requires {
			require.NotEmpty(t, precondition(&trace.Trace{}), "%s, its precondition %d", f.ID, i)
		}
	}
}

// scriptOf is the script of another failure.
func scriptOf(id string) func(*world.World) {
	f, _ := catalogue.Find(id)
	return f.Script
}

// In each of these runs one precondition of the failure is not met.
func TestFailureIsNotTestedIfAPreconditionIsMissing(t *testing.T) {
	renews := failures.Subject{Name: "renews, and does not say so", New: stages.MustFind("5").Subject.New}
	polls := failures.Subject{Name: "polls, and says that it listens", New: stages.MustFind("4").Subject.New, Has: everything}
	polls.Variants = map[catalogue.Variant]world.Constructor{catalogue.FixedLease: polls.New}
	whole := stages.MustFind("6").Subject
	for _, c := range []struct {
		failure string
		lock    failures.Subject
		script  func(*world.World) // nil: the failure's own
		missing string
	}{
		{"loss-hidden-at-unlock", renews, nil, "A's key was still there"},
		{"work-outlives-fixed-lease", renews, nil, "A's key was still there"},
		{"loss-hidden-at-unlock", stages.MustFind("4").Subject, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Unlock()
		}, "A's key was already deleted, so the failure could not happen"},
		{"key-gone-at-unlock", whole, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Client("B").StartRun("DEL", "lock:"+w.Lock).Wait() // some of the business
			a.Unlock()
			a.Lock()
		}, "A's key was already deleted, so the failure could not happen"},
		{"delete-foreign", renews, nil, "B got the lock 0 times, not 1"},
		{"wake-lost", polls, nil, "B never sent the command to delay"},
		{"wake-early", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock()
			w.Sleep(w.Lease / 60)
			wait.Cancel()
			wait.Wait()
			a.Unlock()
		}, "not all of these clients waited: B"},
		{"key-gone", whole, func(w *world.World) { w.Client("A").Lock() }, "A's key was still there"},
		{"forced-unlock", whole, func(w *world.World) {
			a, c := w.Client("A"), w.Client("C")
			a.Lock()
			wait := c.StartLock()
			w.Sleep(w.Lease / 4)
			a.Unlock()
			wait.Wait()
		}, "A's key was already deleted, so the failure could not happen"},
		{"unlock-at-once", whole, func(w *world.World) {
			a := w.Client("A")
			for range 2 {
				a.Lock()
				a.Unlock()
			}
		}, "nothing renewed A's lock"},
		{"dog-unlock-race", whole, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			w.Sleep(w.Lease / 2)
			a.Unlock()
		}, "no renewal was on its way when A unlocked"},
		{"second-hold-renewed", whole, func(w *world.World) { w.Client("A").Lock() }, "A got the lock 1 times, not 2"},
		{"delete-sibling", whole, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Unlock()
			a.Goroutine("G").Lock()
		}, "A's key was already deleted, so the failure could not happen"},
		{"publish-before-delete", whole, scriptOf("unlock-wakes"), "not all of these clients waited: C"},
		{"short-lease-renewed", whole, func(w *world.World) { w.Client("A").Lock() }, "B got the lock 0 times, not 1"},
		{"last-millisecond", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease - 2*time.Millisecond)
			b.TryLock()
		}, "B did not ask in the last millisecond of a lease"},
		{"two-at-once", whole, func(w *world.World) {
			a := w.Client("A")
			g := a.Goroutine("G")
			a.Lock()
			g.Lock(world.Within(w.Lease / 30))
		}, "G did not ask at the same moment as A"},
		{"waiter-gives-up", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Unlock()
			b.Lock()
		}, "B did not give up while another client held the lock"},
		{"waiter-gives-up", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.Lock(world.Within(w.Lease / 6))
		}, "G did not give up while another client held the lock"},
		{"close-after-lost-grant", whole, func(w *world.World) {
			b := w.Client("B")
			for range 2 {
				b.Lock()
				b.Unlock()
			}
			b.Close()
		}, "not all of these clients waited: G"},
		{"unlock-after-failed-unlock", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for _, c := range []*world.Client{a, b} {
				c.Lock()
				c.Unlock()
			}
		}, "A got the lock 1 times, not 2"},
		{"acquire-context-ends", whole, func(w *world.World) { w.Client("A") }, "A got the lock 0 times, not 1"},
		{"oom", whole, func(w *world.World) { w.Client("A").TryLock() }, "Redis did not answer any command with OOM"},
		{"late-unlock", whole, func(w *world.World) {
			a := w.Client("A")
			for range 2 {
				a.Lock()
				a.Unlock()
			}
		}, "no Unlock of A reached Redis when A had the lock again"},
		{"token-before-grant", whole, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for _, c := range []*world.Client{a, b, a} {
				c.Lock()
				c.Unlock()
			}
		}, "B did not get the lock while A was about to take it"},
		{"token-after-grant", whole, func(w *world.World) {
			for _, c := range []*world.Client{w.Client("B"), w.Client("A")} {
				c.Lock()
				c.Unlock()
			}
		}, "A's key was already deleted, so the failure could not happen"},
		{"acquire-arrives-late", whole, func(w *world.World) {
			w.Client("A").Lock(world.Within(w.Lease))
			w.Sleep(2 * w.Lease)
		}, "no command of A took the lock after its call was over"},
		{"acquire-arrives-late", whole, func(w *world.World) { // it has no deadline
			a := w.Client("A")
			a.Before(world.Write).Delay(w.Lease / 60)
			a.Lock()
		}, "no command of A took the lock after its call was over"},
		{"reentries-at-once", whole, func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Lock()
		}, "A did not have two Locks under way at once"},
		{"process-pause-unique", whole, func(w *world.World) {
			for _, c := range []*world.Client{w.Client("A"), w.Client("B")} {
				c.Lock()
				c.Unlock()
			}
		}, "A did not ask the ledger to insert an order"},
		{"two-locks-any-order", whole, scriptOf("two-locks-one-order"), "A and B did not each have one of the locks"},
		{"retry-count-two", whole, func(w *world.World) {
			a := w.Client("A")
			a.After(world.Named("SUBSCRIBE")).Drop()
			a.Lock()
		}, "A never sent the command to drop"},
	} {
		f, _ := catalogue.Find(c.failure)
		if c.script != nil {
			f.Script = c.script
		}
		v := failures.Run(t, f, c.lock)
		require.NoError(t, v.Err, f.ID)
		require.Equal(t, failures.NotTested, v.Outcome, "%s on %s: %s", f.ID, c.lock.Name, v.Sentence())
		require.Equal(t, c.missing, v.Sentence(), "%s on %s", f.ID, c.lock.Name)
	}
}

var errTaken = errors.New("somebody else has it")

// impatient is a lock whose Lock makes one attempt.
type impatient struct{ failures.Locker }

func (l impatient) Lock(ctx context.Context) error {
	held, err := l.TryLock(ctx)
	if err == nil && !held {
		return errTaken
	}
	return err
}

// No client waits for the key that stays, so the story itself has to let the time pass.
func TestLeftOverKeyIsReportedIfLockDoesNotWait(t *testing.T) {
	for column, outcome := range map[string]failures.Outcome{"4": failures.Broken, "6": failures.Safe} {
		subject := stages.MustFind(column).Subject
		create := subject.New
		subject.New = func(p *world.Process, name string, lease time.Duration) (failures.Locker, error) {
			lock, err := create(p, name, lease)
			return impatient{lock}, err
		}
		for _, id := range []string{"grant-reply-lost", "grant-answered-with-error", "deadline-in-flight", "unlock-cancelled-ctx", "unlock-refused"} {
			f, _ := catalogue.Find(id)
			require.Equal(t, outcome, failures.Run(t, f, subject).Outcome, "%s on %s", id, column)
		}
	}
}
