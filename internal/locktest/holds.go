package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// A timeout of 5 s fits a lease of 30 s, and no other. A hold that writes the value of an earlier one frees that one too.
func keepsItsOutcomes(t *testing.T, l Lock) {
	subject, err := failures.DiscoverScripts(t, l.Subject)
	require.NoError(t, err)
	for _, f := range subject.Failures() {
		if f.Lease == 0 {
			f.Lease = 7 * time.Second
		}
		v := failures.Run(t, f, subject)
		if want := l.expects(f); want != failures.Broken {
			require.True(t, v.Is(want), "%s: %s", f.ID, v.Sentence())
		}
		if v.Trace != nil && l.NotHeld != nil {
			require.Empty(t, oracle.Ask(v.Trace, oracle.RepeatedValue), f.ID)
		}
	}
}

func leavesNoKeyForever(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	for _, call := range []func(context.Context) error{mutex.Lock, mutex.Unlock} {
		require.NoError(t, call(t.Context()))
		for _, key := range server.Keys() {
			require.NotZero(t, server.TTL(key), key)
		}
	}
}

// The same name on another server is another lock.
func reentersWithItsClientOnly(t *testing.T, l Lock) {
	server, other := miniredis.RunT(t), miniredis.RunT(t)
	outer, inner := l.take(t, server, lease), l.take(t, other, lease)
	require.NoError(t, outer.Lock(t.Context()))
	nested, cancel := outer.(interface {
		Nest(context.Context) (context.Context, context.CancelFunc)
	}).Nest(t.Context())
	defer cancel()
	held, err := inner.TryLock(nested)
	require.NoError(t, err)
	require.True(t, held)
	require.True(t, other.Exists(l.Key))
	require.NoError(t, inner.Unlock(t.Context()))
	require.NoError(t, outer.Unlock(t.Context()))
}

// Two goroutines of A, which holds the lock twice, make each pair of calls at one instant. Then A gives back what is left.
func countsCallsAtOneInstant(t *testing.T, l Lock) {
	starts := map[int]func(*world.Client, ...world.Option) *world.Call{+1: (*world.Client).StartLock, -1: (*world.Client).StartUnlock}
	for first := range starts {
		for second := range starts {
			left := 2 + first + second
			run := l.Play(t, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				a.Lock()
				a.Lock()
				a.Before(world.Any).Delay(time.Second)
				one, two := starts[first](a), starts[second](a)
				one.Wait()
				two.Wait()
				for range left {
					b.TryLock()
					a.Unlock()
				}
				b.TryLock()
			})
			var got []bool
			for _, e := range run.Events {
				if e.Kind == trace.Returned && e.Client == "B" {
					got = append(got, e.Result.Held)
				}
			}
			want := make([]bool, left+1)
			want[left] = true
			require.Equal(t, want, got, "%+d, %+d", first, second)
		}
	}
}

func countsItsHolds(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	counts := func(want int) {
		t.Helper()
		n, err := mutex.(world.Counting).HoldCount(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	counts(0)
	for n := range 2 {
		require.NoError(t, mutex.Lock(t.Context()))
		counts(n + 1)
	}
	server.SetError("LOADING Redis is loading the dataset in memory")
	_, err := mutex.(world.Counting).HoldCount(t.Context())
	require.ErrorContains(t, err, l.Prefix+": ")
	require.ErrorContains(t, err, "LOADING")
	server.SetError("")
	for n := range 2 {
		require.NoError(t, mutex.Unlock(t.Context()))
		counts(1 - n)
	}
}

// The loss is reported at once, not at the next renewal.
func tellsAtReentry(t *testing.T, l Lock) {
	server := miniredis.RunT(t)
	mutex := l.take(t, server, lease)
	require.NoError(t, mutex.Lock(t.Context()))
	told, isLost := mutex.(world.Noticing).Lost(t.Context())
	server.Del(l.Key)
	require.ErrorIs(t, mutex.Lock(t.Context()), l.Lost)
	select {
	case <-told:
	case <-time.After(lease / 6):
		require.Fail(t, "the holder works on")
	}
	require.True(t, isLost())
}
