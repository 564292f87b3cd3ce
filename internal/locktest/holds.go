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

// Two goroutines of A, which holds the lock twice, make each pair of calls at one instant. Then A gives back what is
// left. A Lock fails if the other goroutine has just released the hold whose context it uses.
func countsCallsAtOneInstant(t *testing.T, l Lock) {
	type start func(*world.Client, ...world.Option) *world.Call
	for _, pair := range [][2]start{
		{(*world.Client).StartLock, (*world.Client).StartLock}, {(*world.Client).StartLock, (*world.Client).StartUnlock},
		{(*world.Client).StartUnlock, (*world.Client).StartLock}, {(*world.Client).StartUnlock, (*world.Client).StartUnlock},
	} {
		left := 2
		run := l.Play(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Lock()
			a.Before(world.Any).Delay(time.Second)
			for _, call := range []*world.Call{pair[0](a), pair[1](a)} {
				switch call.Wait(); {
				case call.Op == trace.OpUnlock:
					left--
				case call.Held():
					left++
				}
			}
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
		require.Equal(t, want, got)
	}
}

// A clean-up that goes on after a lease has nothing to find. The attempt itself takes a while.
func cleansUpForALease(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Drop()
		a.Before(world.Any).Always().Delay(time.Hour)
		a.TryLock()
		w.Sleep(2 * lease)
	})
	for _, e := range run.Events {
		require.False(t, e.Kind == trace.Sent && e.At > lease*7/6, "%s at %v", e.Line(), e.At)
	}
}

func leavesNothingToCleanUp(t *testing.T, l Lock) {
	run := l.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.TryLock()
		for _, refusal := range []string{
			"OOM command not allowed when used memory > 'maxmemory'.", "READONLY You can't write against a read only replica.",
			"NOSCRIPT No matching script.", "NOPERM this user has no permissions to run the 'set' command", "NOAUTH Authentication required.",
			"WRONGPASS invalid username-password pair", "WRONGTYPE Operation against a key holding the wrong kind of value",
			"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script.", "MASTERDOWN Link with MASTER is down",
			"MISCONF Redis is configured to save RDB snapshots", "NOREPLICAS Not enough good replicas to write.",
			"CLUSTERDOWN The cluster is down", "CROSSSLOT Keys in request don't hash to the same slot", "TRYAGAIN Multiple keys request",
			"MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381", "EXECABORT Transaction discarded", "ERR max number of clients reached",
			"ERR unknown command 'SET'", "ERR wrong number of arguments for 'set' command", "ERR invalid expire time in 'set' command",
			"ERR The user executing the script can't run this command script: 0f5f38fe, on @user_script:1.",
		} {
			b.Before(world.Of(trace.OpTryLock, world.Write)).Fail(refusal)
			b.TryLock()
		}
		w.Sleep(time.Second)
	})
	for _, e := range run.Events {
		require.False(t, e.Process == "B" && e.Background, e.Line())
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
