package failures_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

type work = func(context.Context) error

// results are what Lock and Unlock of one client come to.
func results(t *testing.T, locker func() failures.Locker) (lock, unlock world.Result) {
	t.Helper()
	create := func(redis.UniversalClient, string, time.Duration) (failures.Locker, error) { return locker(), nil }
	trace, err := world.Run(t, world.Config{New: create}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.NoError(t, err)
	for _, e := range trace.Events {
		switch {
		case e.Kind == world.Returned && e.Op == world.OpLock:
			lock = *e.Result
		case e.Kind == world.Returned && e.Op == world.OpUnlock:
			unlock = *e.Result
		}
	}
	return lock, unlock
}

func TestLockThatCallsBackOnceAndInTimeIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		lock         func(context.Context, work) error
		held         bool
		says, unlock string
	}{
		"once": {func(ctx context.Context, w work) error { return w(ctx) }, true, "", ""},
		"elsewhere": {func(ctx context.Context, w work) error {
			over := make(chan error)
			go func() { over <- w(ctx) }()
			return <-over
		}, true, "", ""},
		"never":         {func(context.Context, work) error { return nil }, false, failures.ErrNotCalledBack.Error(), failures.ErrNoHold.Error()},
		"twice":         {func(ctx context.Context, w work) error { _ = w(ctx); _ = w(ctx); return nil }, true, "", failures.ErrCalledBackTwice.Error()},
		"no context":    {func(_ context.Context, w work) error { return w(nil) }, false, failures.ErrNoContext.Error(), failures.ErrNoHold.Error()},
		"panics before": {func(context.Context, work) error { panic("no callback") }, false, "panic: no callback", failures.ErrNoHold.Error()},
		"panics after":  {func(ctx context.Context, w work) error { _ = w(ctx); panic("no release") }, true, "", "panic: no release"},
	} {
		t.Run(name, func(t *testing.T) {
			lock, unlock := results(t, func() failures.Locker { return failures.Callback(c.lock, c.lock, nil) })
			require.Equal(t, c.held, lock.Held)
			require.Equal(t, c.says, lock.Error)
			require.Equal(t, c.unlock, unlock.Error)
		})
	}
}

func TestHoldThatIsNoneIsNotHeld(t *testing.T) {
	type hold struct{ released *bool }
	released := false
	for name, given := range map[string]*hold{"a hold": {&released}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			lock, unlock := results(t, holding(given, func(h *hold, _ context.Context) error { *h.released = true; return nil }))
			require.Equal(t, given != nil, lock.Held)
			if given == nil {
				require.Equal(t, failures.ErrNothing.Error(), lock.Error)
				require.Equal(t, failures.ErrNoHold.Error(), unlock.Error)
			}
		})
	}
	require.True(t, released)
	lock, _ := results(t, holding(hold{}, func(hold, context.Context) error { return nil }))
	require.True(t, lock.Held, "a hold may be a value")
}

// holding is a lock that gives everybody this hold.
func holding[H any](given H, release func(H, context.Context) error) func() failures.Locker {
	acquire := func(context.Context) (H, error) { return given, nil }
	return func() failures.Locker { return &failures.Holder[H]{Acquire: acquire, Try: acquire, Release: release} }
}
