package stage5_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
	stage5 "lockkata/stage5_watchdog"
)

const (
	lockName = "order:1001"
	key      = "lock:order:1001"
	lease    = 30 * time.Second
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewMutexRefusesBadInput(t *testing.T) {
	rdb := newClient(t, miniredis.RunT(t))
	tests := []struct {
		input string
		rdb   redis.UniversalClient
		name  string
		ttl   time.Duration
		want  string
	}{
		{"nil client", nil, lockName, lease, "stage5: client is nil: pass a redis.UniversalClient such as redis.NewClient returns"},
		{"empty name", rdb, "", lease, `stage5: lock name is empty: name what is protected, such as "order:1001"`},
		{"no ttl", rdb, lockName, 0, "stage5: ttl 0s is too short: the shortest lease Redis keeps is 1ms"},
		{"negative ttl", rdb, lockName, -time.Second, "stage5: ttl -1s is too short: the shortest lease Redis keeps is 1ms"},
		{"ttl of 999µs", rdb, lockName, 999 * time.Microsecond, "stage5: ttl 999µs is too short: the shortest lease Redis keeps is 1ms"},
	}
	for _, test := range tests {
		t.Run(test.input, func(t *testing.T) {
			mutex, err := stage5.NewMutex(test.rdb, test.name, test.ttl)
			require.EqualError(t, err, test.want)
			require.Nil(t, mutex)
		})
	}
}

func TestTryLockGivesTheLockToTheFirstClientOnly(t *testing.T) {
	server := miniredis.RunT(t)
	require.True(t, tryLock(t, newMutex(t, server)))
	require.False(t, tryLock(t, newMutex(t, server)))
}

func TestLeaseInRedisIsTheTTL(t *testing.T) {
	server := miniredis.RunT(t)
	mutex, err := stage5.NewMutex(newClient(t, server), lockName, 1500*time.Millisecond)
	require.NoError(t, err)
	require.True(t, tryLock(t, mutex))
	require.Equal(t, 1500*time.Millisecond, server.TTL(key))
	require.NoError(t, mutex.Unlock(t.Context()))
}

func TestLockPollsEvery100Milliseconds(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(350 * time.Millisecond))
	})
	var polls []time.Duration
	for _, e := range trace.Events {
		if e.Kind == world.Executed && e.Client == "B" {
			polls = append(polls, e.At)
		}
	}
	require.Equal(t, []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}, polls)
}

func TestLockGetsTheLockAtTheNextPollAfterUnlock(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		waiting := b.StartLock()
		w.Sleep(250 * time.Millisecond)
		a.Unlock()
		waiting.Wait()
	})
	lock := returned(t, trace, "B", world.OpLock)
	require.True(t, lock.Result.Held)
	require.Equal(t, 300*time.Millisecond, lock.At)
}

func TestLockGetsTheLockWhenTheLeaseEnds(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(50 * time.Millisecond)
		a.Crash() // the watchdog dies with it
		b.Lock()
	})
	lock := returned(t, trace, "B", world.OpLock)
	require.True(t, lock.Result.Held)
	require.Equal(t, lease+50*time.Millisecond, lock.At)
}

func TestLockEndsTheMomentItsContextDoes(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(250 * time.Millisecond)) // between two polls
	})
	lock := returned(t, trace, "B", world.OpLock)
	require.Equal(t, "stage5: wait for lock:order:1001: context deadline exceeded", lock.Result.Error)
	require.Equal(t, 250*time.Millisecond, lock.At)
}

func TestLockReturnsTheErrorOfItsContext(t *testing.T) {
	server := miniredis.RunT(t)
	require.True(t, tryLock(t, newMutex(t, server)))
	waiter := newMutex(t, server)
	require.False(t, tryLock(t, waiter)) // its connection is open from here on

	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		require.ErrorIs(t, waiter.Lock(ctx), context.Canceled)
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, waiter.Lock(ctx), context.DeadlineExceeded)
	})
}

func TestLockEndsAtOnceOnAnErrorOfRedis(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Any).Always().Fail("OOM command not allowed when used memory > 'maxmemory'.")
		a.Lock(world.Within(time.Second))
	})
	lock := returned(t, trace, "A", world.OpLock)
	require.Equal(t, "stage5: lock lock:order:1001: OOM command not allowed when used memory > 'maxmemory'.", lock.Result.Error)
	require.Zero(t, lock.At)
}

func TestUnlockLetsTheNextClientIn(t *testing.T) {
	server := miniredis.RunT(t)
	first, second := newMutex(t, server), newMutex(t, server)
	require.True(t, tryLock(t, first))
	require.NoError(t, first.Unlock(t.Context()))
	require.True(t, tryLock(t, second))
}

func TestUnlockReturnsAnErrorOfRedis(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Of(world.OpUnlock, world.Any)).Fail("LOADING Redis is loading the dataset in memory")
		a.Unlock()
	})
	unlock := returned(t, trace, "A", world.OpUnlock)
	require.Equal(t, "stage5: unlock lock:order:1001: LOADING Redis is loading the dataset in memory", unlock.Result.Error)
}

func TestLockAndUnlockSendTheseCommands(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{
		"SET lock:order:1001 A1 NX PX 30000",
		"EVALSHA unlock 1 lock:order:1001 A1",
	}, executed(trace))
}

func TestUnlockByAStrangerIsErrNotHeld(t *testing.T) {
	server := miniredis.RunT(t)
	require.True(t, tryLock(t, newMutex(t, server)))
	require.ErrorIs(t, newMutex(t, server).Unlock(t.Context()), stage5.ErrNotHeld)
}

func TestUnlockByAStrangerSendsNothing(t *testing.T) {
	trace := play(t, func(w *world.World) { w.Client("A").Unlock() })
	require.Empty(t, executed(trace))
}

func TestSecondUnlockIsErrNotHeld(t *testing.T) {
	mutex := newMutex(t, miniredis.RunT(t))
	require.True(t, tryLock(t, mutex))
	require.NoError(t, mutex.Unlock(t.Context()))
	require.ErrorIs(t, mutex.Unlock(t.Context()), stage5.ErrNotHeld)
}

func TestUnlockAfterTheLeaseIsErrNotHeld(t *testing.T) {
	server := miniredis.RunT(t)
	mutex := newMutex(t, server)
	require.True(t, tryLock(t, mutex))
	server.FastForward(lease + time.Second)
	require.ErrorIs(t, mutex.Unlock(t.Context()), stage5.ErrNotHeld)
}

func TestUnlockMayBeRepeatedAfterAnErrorOfRedis(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Of(world.OpUnlock, world.Write)).Fail("READONLY You can't write against a read only replica.")
		a.Unlock()
		a.Unlock()
	})
	require.Empty(t, returned(t, trace, "A", world.OpUnlock).Result.Error)
}

func TestEveryAcquisitionWritesAFreshValue(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
		a.Lock()
	})
	require.Contains(t, executed(trace), "SET lock:order:1001 A2 NX PX 30000") // the first one was A1
}

func TestUnlockSendsTheScriptAgainAfterScriptFlush(t *testing.T) {
	trace := play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.FlushScripts()
		a.Unlock()
	})
	require.Empty(t, returned(t, trace, "A", world.OpUnlock).Result.Error)
	require.Equal(t, []string{
		"SET lock:order:1001 A1 NX PX 30000",
		"EVALSHA unlock 1 lock:order:1001 A1", // NOSCRIPT
		"EVAL unlock 1 lock:order:1001 A1",
	}, executed(trace))
}

func TestFailures(t *testing.T) {
	failures.Check(t, stages.All[4].Subject, failures.Stage(5))
}

// newClient is a connection pool of its own, as another process would have it.
func newClient(t *testing.T, server *miniredis.Miniredis) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return rdb
}

func newMutex(t *testing.T, server *miniredis.Miniredis, opts ...stage5.Option) *stage5.Mutex {
	t.Helper()
	mutex, err := stage5.NewMutex(newClient(t, server), lockName, lease, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = mutex.Unlock(context.Background()) }) // ends the watchdog of one that still holds
	return mutex
}

func tryLock(t *testing.T, mutex *stage5.Mutex) bool {
	t.Helper()
	held, err := mutex.TryLock(t.Context())
	require.NoError(t, err)
	return held
}

// play runs a scenario with this stage's lock in the controlled world, where
// Redis knows the lock's scripts from an earlier day.
func play(t *testing.T, scenario func(*world.World)) *world.Trace {
	t.Helper()
	return playWith(t, stages.All[4].Subject.New, scenario)
}

func playWith(t *testing.T, newLocker world.New, scenario func(*world.World)) *world.Trace {
	t.Helper()
	scripts, err := failures.Rehearse(t, stages.All[4].Subject)
	require.NoError(t, err)
	trace, err := world.Run(t, world.Config{New: newLocker, Lock: lockName, Lease: lease, Scripts: scripts}, scenario)
	require.NoError(t, err)
	return trace
}

// executed are the commands that Redis ran, in order.
func executed(trace *world.Trace) []string {
	var commands []string
	for _, e := range trace.Events {
		if e.Kind == world.Executed {
			commands = append(commands, e.Line())
		}
	}
	return commands
}

// returned is how the client's last call of op came back.
func returned(t *testing.T, trace *world.Trace, client, op string) (last world.Event) {
	t.Helper()
	for _, e := range trace.Events {
		if e.Kind == world.Returned && e.Client == client && e.Op == op {
			last = e
		}
	}
	require.NotNil(t, last.Result, "%s of %s did not come back", op, client)
	return last
}
