package adapt_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
)

// outcome is what a failure does to a lock.
func outcome(t *testing.T, id string, s failures.Subject) failures.Outcome {
	t.Helper()
	f, found := failures.Find(id)
	require.True(t, found)
	s, err := failures.DiscoverScripts(t, s)
	require.NoError(t, err)
	return failures.Run(t, f, s).Outcome
}

// bound is stage 4 for the goroutine that took it. It counts re-entry in its own memory, and
// tells nobody how often.
type bound struct {
	failures.Locker
	owner string
	count int
}

var errOtherThread = errors.New("bound: another goroutine holds the lock")

// goroutine is the header of the goroutine's stack, up to its state.
func goroutine() string {
	head := make([]byte, 64)
	name, _, _ := bytes.Cut(head[:runtime.Stack(head, false)], []byte(" ["))
	return string(name)
}

func (b *bound) TryLock(ctx context.Context) (bool, error) {
	if b.count > 0 && b.owner == goroutine() {
		b.count++
		return true, nil
	}
	held, err := b.Locker.TryLock(ctx)
	if held {
		b.owner, b.count = goroutine(), 1
	}
	return held, err
}

func (b *bound) Lock(ctx context.Context) error {
	if b.count > 0 && b.owner == goroutine() {
		b.count++
		return nil
	}
	err := b.Locker.Lock(ctx)
	if err == nil {
		b.owner, b.count = goroutine(), 1
	}
	return err
}

func (b *bound) Unlock(ctx context.Context) error {
	if b.count > 0 && b.owner != goroutine() {
		return errOtherThread
	}
	if b.count--; b.count > 0 {
		return nil
	}
	b.count = 0
	return b.Locker.Unlock(ctx)
}

// A lock whose owner is a goroutine, and that counts by itself, needs no more than this.
func TestLockOfAGoroutineIsJudged(t *testing.T) {
	lock := func(with func(world.Locker) world.Locker) failures.Subject {
		return failures.Subject{
			Name: "bound", Has: []failures.Feature{failures.Scripts, failures.Reentry},
			New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
				inner, err := columns.Must("4").Subject.New(rdb, name, lease)
				return with(&bound{Locker: inner}), err
			},
		}
	}
	bare, adapted := lock(func(l world.Locker) world.Locker { return l }), lock(adapt.Threads)
	require.Equal(t, failures.Broken, outcome(t, "second-client", bare), "each call of a client is a goroutine of its own")
	for _, id := range []string{"second-client", "self-deadlock", "inner-unlock-frees", "shared-object", "oom"} {
		require.Equal(t, failures.Safe, outcome(t, id, adapted), id)
	}
	require.Equal(t, failures.Broken, outcome(t, "work-outlives-ttl", adapted))
}

// What a lock sends on the goroutine that an adapter keeps for it belongs to the call for
// which it works just then.
func TestCommandsOnAnAdaptersGoroutineAreTheCalls(t *testing.T) {
	within := func(lock world.Locker) world.Locker { // a lock that calls its caller back
		do := func(ctx context.Context, work func(context.Context) error) error {
			if err := lock.Lock(ctx); err != nil {
				return err
			}
			return errors.Join(work(ctx), lock.Unlock(ctx))
		}
		return adapt.Callback(do, do, nil)
	}
	for name, with := range map[string]func(world.Locker) world.Locker{"callback": within, "threads": adapt.Threads} {
		t.Run(name, func(t *testing.T) {
			lock := func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
				inner, err := columns.Must("4").Subject.New(rdb, name, lease)
				return with(inner), err
			}
			trace, err := world.Run(t, world.Config{New: lock}, func(w *world.World) {
				a := w.Client("A")
				a.Lock()
				a.Unlock()
			})
			require.NoError(t, err)
			var sent []string
			for _, e := range trace.Events {
				if e.Kind == world.Executed {
					sent = append(sent, e.Op)
				}
			}
			require.Subset(t, []string{world.OpLock, world.OpUnlock}, sent)
			require.Equal(t, world.OpLock, sent[0])
			require.Equal(t, world.OpUnlock, sent[len(sent)-1])
		})
	}
}

func TestPanicOnTheGoroutineOfAClientIsTheCalls(t *testing.T) {
	lock, unlock := results(t, func() world.Locker { return adapt.Threads(panicking{}) })
	require.Equal(t, "panic: no lock", lock.Error)
	require.Equal(t, "panic: no unlock", unlock.Error)
}

type panicking struct{ world.Locker }

func (panicking) Lock(context.Context) error   { panic("no lock") }
func (panicking) Unlock(context.Context) error { panic("no unlock") }

// extending is stage 4 with an Extend, and without a watchdog.
type extending struct {
	failures.Locker
	rdb redis.UniversalClient
	key string
	ttl time.Duration
}

func (e *extending) Extend(ctx context.Context) error {
	return e.rdb.PExpire(ctx, e.key, e.ttl).Err()
}

func TestLockThatIsExtendedByItsCallerIsJudged(t *testing.T) {
	lock := func(with func(*extending) world.Locker) failures.Subject {
		return failures.Subject{
			Name: "extending", Has: []failures.Feature{failures.Scripts, failures.Watchdog},
			New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
				inner, err := columns.Must("4").Subject.New(rdb, name, lease)
				return with(&extending{Locker: inner, rdb: rdb, key: "lock:" + name, ttl: lease}), err
			},
		}
	}
	bare := lock(func(e *extending) world.Locker { return e })
	adapted := lock(func(e *extending) world.Locker { return adapt.Renewed(e, e.Extend, e.ttl/3) })
	for id, want := range map[string][2]failures.Outcome{
		"work-outlives-ttl":      {failures.Broken, failures.Safe},
		"second-hold-renewed":    {failures.Broken, failures.Safe},
		"unlock-at-once":         {failures.NotTold, failures.Safe},
		"unlock-error-dog-lives": {failures.Safe, failures.Safe},
		"check-then-set":         {failures.Safe, failures.Safe},      // the client that is told no extends nothing
		"renew-foreign":          {failures.NotTold, failures.Broken}, // its Extend does not look whose key it is
	} {
		require.Equal(t, want[0], outcome(t, id, bare), "bare: %s", id)
		require.Equal(t, want[1], outcome(t, id, adapted), "adapted: %s", id)
	}
}
