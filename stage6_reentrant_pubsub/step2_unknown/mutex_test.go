package stage6_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	miniserver "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/subject62"
	stage6 "lockkata/stage6_reentrant_pubsub/step2_unknown"
)

var lock = locktest.Lock{
	Subject: subject62.Subject(), Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.2")) }

// The fix: the reply to A's acquire is lost, and what it has got is freed.
func TestAcquireOfUnknownOutcomeIsCleanedUp(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.Lock()
		b.TryLock()
	})
	require.NotEmpty(t, run.Returned(t, "A", world.OpLock).Result.Error)
	require.True(t, run.Returned(t, "B", world.OpTryLock).Result.Held)
}

// The command itself is late: the first clean-up finds nothing yet.
func TestCleanUpTriesUntilTheLateCommandHasArrived(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Delay(2 * time.Second)
		a.Lock(world.Within(time.Second))
		w.Sleep(time.Hour)
	})
	require.Equal(t, []string{
		"1s EVALSHA unlock 1 lock:order:1001 A?",
		"1.5s EVALSHA unlock 1 lock:order:1001 A?",
		"2s SET lock:order:1001 A1 NX PX 30000",
		"2.5s EVALSHA unlock 1 lock:order:1001 A1",
	}, run.Timed("A"))
}

func TestRefusedAcquireLeavesNothingToCleanUp(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.TryLock()
		b.Before(world.Any).Fail("LOADING Redis is loading the dataset in memory")
		b.TryLock()
		w.Sleep(time.Second)
	})
	require.Len(t, run.Commands("B"), 1)
}

// With go-redis's own retries a SET NX would meet the key that it has itself created.
func TestCommandsAreSentOnceWhateverTheClientsOptions(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: 3})
	defer rdb.Close()
	var sent atomic.Int32
	server.Server().SetPreHook(func(p *miniserver.Peer, command string, _ ...string) bool {
		if command == "SET" { // an unlock follows it on a machine that is slow enough
			sent.Add(1)
			p.Close()
			return true
		}
		return false
	})
	mutex, err := stage6.NewMutex(rdb, "order:1001", 60*time.Millisecond)
	require.NoError(t, err)
	_, err = mutex.TryLock(t.Context())
	require.Error(t, err)
	require.EqualValues(t, 1, sent.Load())
}

func TestUnlockIsSentAgainUntilRedisAnswers(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Of(world.OpUnlock, world.Write)).Drop()
		a.Unlock()
	})
	require.Empty(t, run.Returned(t, "A", world.OpUnlock).Result.Error)
	require.Len(t, run.Commands("A"), 3, "SET, unlock, and unlock again, which finds nothing")
}

func TestUnlockIsBounded(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Cut()
		a.Unlock()
		a.Heal()
		a.Unlock()
	})
	require.Equal(t, 15*time.Second, run.Returned(t, "A", world.OpUnlock).At)
	require.Empty(t, run.Returned(t, "A", world.OpUnlock).Result.Error, "the second time")
}

// The bug: A holds the lock, and a function that A calls takes it too.
func TestHolderThatLocksAgainWaitsForItself(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Lock(world.Within(time.Minute + time.Millisecond))
	})
	require.Equal(t, "stage6: wait for lock:order:1001: context deadline exceeded", run.Returned(t, "A", world.OpLock).Result.Error)
}
