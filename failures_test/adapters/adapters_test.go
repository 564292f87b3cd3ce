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

// results returns the results of Lock and Unlock of one client.
func results(t *testing.T, locker func() world.Locker) (lock, unlock trace.Result) {
	t.Helper()
	create := func(redis.UniversalClient, string, time.Duration) (world.Locker, error) { return locker(), nil }
	tr, err := world.Run(t, world.Config{New: adapters.Plain(create)}, func(w *world.World) {
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
	h := &adapters.Holds[int]{Try: func(context.Context) (int, error) { return 0, given }, Taken: taken}
	held, err := h.TryLock(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	given = broken
	_, err = h.TryLock(t.Context())
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

// scripted is a lock whose TryLock succeeds if its script returns 2.
type scripted struct {
	counter
	rdb redis.UniversalClient
}

func (s *scripted) TryLock(ctx context.Context) (bool, error) {
	answer, err := redis.NewScript("return 1").Run(ctx, s.rdb, nil).Int()
	return answer == 2, err
}

func TestWithScriptSendsAnotherScript(t *testing.T) {
	plain := adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (*scripted, error) {
		return &scripted{rdb: rdb}, nil
	})
	for want, create := range map[bool]world.Constructor{false: plain, true: adapters.WithScript(plain, "return 1", "return 2")} {
		_, err := world.Run(t, world.Config{New: create}, func(w *world.World) {
			require.Equal(t, want, w.Client("A").TryLock().Held())
		})
		require.NoError(t, err)
	}
}
