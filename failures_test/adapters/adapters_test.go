package adapters_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

type work = func(context.Context) error

// results returns the results of Lock and Unlock of one client.
func results(t *testing.T, locker func() world.Locker) (lock, unlock trace.Result) {
	t.Helper()
	create := func(redis.UniversalClient, string, time.Duration) (world.Locker, error) { return locker(), nil }
	tr, err := world.Run(t, world.Config{New: create}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.NoError(t, err)
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Returned && e.Op == trace.OpLock:
			lock = *e.Result
		case e.Kind == trace.Returned && e.Op == trace.OpUnlock:
			unlock = *e.Result
		}
	}
	return lock, unlock
}

func TestCallback(t *testing.T) {
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
		"never":         {func(context.Context, work) error { return nil }, false, adapters.ErrNotCalledBack.Error(), adapters.ErrNoHold.Error()},
		"panics before": {func(context.Context, work) error { panic("no callback") }, false, "panic: no callback", adapters.ErrNoHold.Error()},
		"panics after":  {func(ctx context.Context, w work) error { _ = w(ctx); panic("no release") }, true, "", "panic: no release"},
	} {
		t.Run(name, func(t *testing.T) {
			lock, unlock := results(t, func() world.Locker { return adapters.Callback(c.lock, c.lock, nil) })
			require.Equal(t, c.held, lock.Held)
			require.Equal(t, c.says, lock.Error)
			require.Equal(t, c.unlock, unlock.Error)
		})
	}
}

func TestNilHoldIsAnError(t *testing.T) {
	type hold struct{ released *bool }
	released := false
	for name, given := range map[string]*hold{"a hold": {&released}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			lock, unlock := results(t, holding(given, func(h *hold, _ context.Context) error { *h.released = true; return nil }))
			require.Equal(t, given != nil, lock.Held)
			if given == nil {
				require.Equal(t, trace.ErrNothing.Error(), lock.Error)
				require.Equal(t, adapters.ErrNoHold.Error(), unlock.Error)
			}
		})
	}
	require.True(t, released)
	lock, _ := results(t, holding(hold{}, func(hold, context.Context) error { return nil }))
	require.True(t, lock.Held, "a hold may be a value")
}

// holding returns a constructor of a lock that always returns this hold.
func holding[H any](given H, release func(H, context.Context) error) func() world.Locker {
	acquire := func(context.Context) (H, error) { return given, nil }
	return func() world.Locker { return &adapters.Holds[H]{Acquire: acquire, Try: acquire, Release: release} }
}

func TestSecondUnlockReleasesTheLastHoldAgain(t *testing.T) {
	released := 0
	h := &adapters.Holds[int]{
		Try:     func(context.Context) (int, error) { return 7, nil },
		Release: func(hold int, _ context.Context) error { require.Equal(t, 7, hold); released++; return nil },
	}
	held, err := h.TryLock(t.Context())
	require.NoError(t, err)
	require.True(t, held)
	require.NoError(t, h.Unlock(t.Context()))
	require.NoError(t, h.Unlock(t.Context()), "the lock decides about it")
	require.Equal(t, 2, released)
}

func TestTakenIsNotAnError(t *testing.T) {
	taken, broken := errors.New("taken"), errors.New("broken")
	given := taken
	try := func(context.Context, work) error { return given }
	c := adapters.Callback(try, try, taken)
	held, err := c.TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	given = broken
	_, err = c.TryLock(t.Context())
	require.ErrorIs(t, err, broken)
}

// The context of a nested acquire is derived from the hold's, and ends when the caller's does.
func TestNestedContextEndsWithTheCallers(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		inside := context.WithValue(t.Context(), key{}, "the hold's")
		h := &adapters.Holds[int]{
			Try: func(context.Context) (int, error) { return 1, nil }, Inside: func(int) context.Context { return inside },
		}
		_, err := h.TryLock(t.Context())
		require.NoError(t, err)
		until, stop := context.WithTimeout(t.Context(), time.Minute)
		nested, end := h.Nest(until)
		require.Equal(t, "the hold's", nested.Value(key{}))
		at, limited := nested.Deadline()
		require.True(t, limited)
		require.Equal(t, time.Minute, time.Until(at))
		stop()
		synctest.Wait()
		require.ErrorIs(t, nested.Err(), context.Canceled)
		end()
	})
}

// The context of do ends with that of the Lock until work begins, and with that of the Unlock after
// that.
func TestCallbackContextEndsWithTheCurrentCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := func(ctx context.Context, _ work) error { <-ctx.Done(); return ctx.Err() }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, adapters.Callback(waiting, waiting, nil).Lock(ctx), "the wait ends with the context")

		slow := func(ctx context.Context, w work) error { _ = w(ctx); return waiting(ctx, nil) }
		c := adapters.Callback(slow, slow, nil)
		ctx, cancel = context.WithCancel(t.Context())
		require.NoError(t, c.Lock(ctx))
		ended, isLost := c.(world.Noticing).Lost(ctx)
		cancel()
		synctest.Wait()
		select {
		case <-ended:
			require.Fail(t, "the hold ends with the context of the Lock")
		default:
		}
		require.True(t, isLost())
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, c.Unlock(ctx), "the release ends with the context of the Unlock")
		require.False(t, isLost(), "a released hold is not lost")
		require.ErrorIs(t, c.Unlock(t.Context()), adapters.ErrNoHold)
	})
}

func TestUnlockWithACancelledContextReleasesWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		do := func(ctx context.Context, w work) error { _ = w(ctx); return ctx.Err() }
		c := adapters.Callback(do, do, nil)
		require.NoError(t, c.Lock(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, c.Unlock(ctx), context.Canceled)
		require.NoError(t, c.Lock(t.Context()))
		require.NoError(t, c.Unlock(t.Context()))
	})
}

func TestCloseEndsCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := false
		do := func(ctx context.Context, w work) error { defer func() { out = true }(); return w(ctx) }
		c := adapters.Callback(do, do, nil)
		require.NoError(t, c.Lock(t.Context()))
		require.NoError(t, c.(interface{ Close() error }).Close())
		synctest.Wait()
		require.True(t, out)
	})
}

// A lock with a callback API may renew in the goroutine that took it.
func TestRenewalOfACallbackLockIsBackground(t *testing.T) {
	create := func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		renewing := func(ctx context.Context, w work) error {
			if err := rdb.Do(ctx, "SET", name, "1", "NX", "PX", lease.Milliseconds()).Err(); err != nil {
				return err
			}
			over := make(chan error)
			go func() { over <- w(ctx) }()
			tick := time.NewTicker(lease / 3)
			defer tick.Stop()
			for {
				select {
				case err := <-over:
					return errors.Join(err, rdb.Do(ctx, "DEL", name).Err())
				case <-tick.C:
					_ = rdb.Do(ctx, "PEXPIRE", name, lease.Milliseconds()).Err() // the next one may get through
				}
			}
		}
		return adapters.Callback(renewing, renewing, nil), nil
	}
	tr, err := world.Run(t, world.Config{New: create}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(w.Lease / 2)
		a.Unlock()
	})
	require.NoError(t, err)
	sent := map[string]string{} // command → the call that sent it
	for _, e := range tr.Events {
		if e.Kind == trace.Sent {
			require.Equal(t, e.Op == "", e.Background)
			sent[e.Command[0]] = e.Op
		}
	}
	require.Equal(t, map[string]string{"SET": trace.OpLock, "PEXPIRE": "", "DEL": trace.OpUnlock}, sent)
}

// counter is a lock that counts its calls. It refuses TryLock if taken is set.
type counter struct {
	taken                 bool
	locks, unlocks, ended int
}

func (c *counter) Lock(ctx context.Context) error {
	if held, err := c.TryLock(ctx); err != nil || !held {
		return errors.Join(err, errors.New("taken"))
	}
	return nil
}
func (c *counter) TryLock(context.Context) (bool, error) { c.locks++; return !c.taken, nil }
func (c *counter) Unlock(context.Context) error          { c.unlocks++; return nil }
func (c *counter) Close() error                          { c.ended++; return nil }

func TestAroundHoldsBothLocksOrNone(t *testing.T) {
	for _, taken := range []bool{false, true} {
		outer, inner := &counter{}, &counter{taken: taken}
		lock := adapters.Around(outer, inner)
		held, err := lock.TryLock(t.Context())
		require.NoError(t, err)
		require.Equal(t, taken, lock.Lock(t.Context()) != nil)
		require.Equal(t, !taken, held)
		require.Equal(t, taken, outer.unlocks == 2)
		require.NoError(t, lock.(io.Closer).Close())
		require.Equal(t, 2, outer.ended+inner.ended)
	}
	outer, inner := &counter{taken: true}, &counter{}
	held, err := adapters.Around(outer, inner).TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	require.Zero(t, inner.locks+outer.unlocks)
}

func TestCallbackHasTheDeadlineOfItsLockUntilWorkBegins(t *testing.T) {
	var limited, stillLimited bool
	do := func(ctx context.Context, w work) error {
		_, limited = ctx.Deadline()
		defer func() { _, stillLimited = ctx.Deadline() }()
		return w(ctx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	c := adapters.Callback(do, do, nil)
	require.NoError(t, c.Lock(ctx))
	require.NoError(t, c.Unlock(ctx))
	require.True(t, limited)
	require.False(t, stillLimited)
}
