package stage6_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

var lock = locktest.Lock{
	Subject: step.Subject("6.5", "step5_fenced", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force),
	Prefix: "stage6", NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Resends: true,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { locktest.Test(t, lock) }

func TestFailures(t *testing.T) { failures.Check(t, lock.Subject, failures.Expected("6.5")) }

// The fix: every hold's token is higher than those before, even if Redis loses the counter.
func TestTokensRise(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "order:1001", time.Minute)
	require.NoError(t, err)
	now := time.Unix(1_800_000_000, 0)
	last := int64(0)
	for _, between := range []func(){
		func() { server.SetTime(now) },
		func() {}, // the clock does not advance
		func() { server.SetTime(now.Add(-time.Hour)) },
		func() { server.SetTime(now.Add(time.Second)); server.FlushAll() },
	} {
		between()
		hold, err := mutex.Lock(t.Context())
		require.NoError(t, err)
		require.Greater(t, hold.Token(), last)
		last = hold.Token()
		inner, err := mutex.Lock(hold.Context())
		require.NoError(t, err)
		require.Equal(t, last, inner.Token(), "a re-entry is no new hold of the lock")
		require.NoError(t, inner.Unlock())
		require.NoError(t, hold.Unlock())
	}
	require.Equal(t, now.Add(time.Second).UnixMicro(), last)
}

// Lua counts up to 2^53: beyond it the next token would not be higher. The others are not numbers.
func TestTokenThatCannotBeRightGrantsNothing(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "order:1001", 30*time.Millisecond)
	require.NoError(t, err)
	for _, token := range []string{"9007199254740991", "1e300", "inf", "nan", "-1", "tea", ""} {
		require.NoError(t, server.Set("lock:order:1001:token", token))
		_, err = mutex.TryLock(t.Context())
		require.ErrorContains(t, err, "stage6: lock lock:order:1001: BADTOKEN the fencing token in Redis cannot be right: delete its key", token)
		require.False(t, server.Exists("lock:order:1001"), token)
	}
}

// The reply to A's unlock is lost. No other client has a higher token when A asks again.
func TestTokenShowsThatAnUnlockWithoutAnAnswerFreedTheLock(t *testing.T) {
	run := lock.Play(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.After(world.Of(trace.OpUnlock, world.Write)).Drop()
		a.Unlock()
	})
	require.Empty(t, run.Returned(t, "A", trace.OpUnlock).Result.Error)
	require.Equal(t, []string{
		"EVALSHA acquire 2 lock:order:1001 lock:order:1001:token A1 30000",
		"EVALSHA count 1 lock:order:1001 A1 0",
		"EVALSHA count 2 lock:order:1001 lock:order:1001:token A1 0 946684800000000",
	}, run.Commands("A"))
}

func TestForceUnlockReportsWhetherTheLockWasHeld(t *testing.T) {
	server := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer rdb.Close()
	mutex, err := stage6.NewMutex(rdb, "order:1001", time.Minute)
	require.NoError(t, err)
	freed, err := mutex.ForceUnlock(t.Context())
	require.NoError(t, err)
	require.False(t, freed)
	hold, err := mutex.Lock(t.Context())
	require.NoError(t, err)
	freed, err = mutex.ForceUnlock(t.Context())
	require.NoError(t, err)
	require.True(t, freed)
	require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
	server.SetError("LOADING Redis is loading the dataset in memory")
	_, err = mutex.ForceUnlock(t.Context())
	require.ErrorContains(t, err, "stage6: force lock:order:1001: LOADING")
}
