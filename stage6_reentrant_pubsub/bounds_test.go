package stage6_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

const year = 365 * 24 * time.Hour

func TestLeaseThatIsNoneIsRefusedAndSendsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		for d, text := range map[time.Duration]string{
			0: "0s", -time.Second: "-1s", 1: "0s", 30*time.Millisecond - 1: "29ms",
			math.MinInt64: "-2562047h47m16.854s", // it is cut to whole milliseconds
		} {
			_, err := m.Lock(t.Context(), stage6.Lease(d))
			require.EqualError(t, err, "stage6: lease "+text+" is too short: the shortest is 30ms")
			_, err = m.TryLock(t.Context(), stage6.Lease(d))
			require.Error(t, err)
			_, err = m.TryLockFor(t.Context(), time.Second, stage6.Lease(d))
			require.Error(t, err)
		}
		require.Empty(t, r.Sent())
	})
}

// The longest duration there is, as a lease: convicts an end of the lease that
// overflows into the past, and would lose the hold at once.
func TestLongestLeaseLasts(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		hold := lock(t, m, t.Context(), stage6.Lease(math.MaxInt64))
		left, err := m.RemainingTTL(t.Context())
		require.NoError(t, err)
		require.Greater(t, left, 292*year)
		lock(t, m, hold.Context(), stage6.Lease(math.MaxInt64))
		time.Sleep(10 * year)
		require.NoError(t, hold.Context().Err())
		require.Equal(t, []string{"2"}, r.HoldCounts())
	})
}

// Behind it one waits as behind any other: a look once a lease, and woken at once.
func TestWaiterBehindTheLongestLeaseDoesNotPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(), t.Context(), stage6.Lease(math.MaxInt64))
		m := r.Mutex()
		first, second := startLock(m, t.Context()), startLock(m, t.Context())
		r.Forget()
		time.Sleep(time.Hour)
		require.LessOrEqual(t, r.Count("acquire"), 2*int(time.Hour/lease))
		require.NoError(t, hold.Unlock())
		require.NoError(t, requireHeld(t, first).Unlock())
		requireHeld(t, second)
	})
}

// With the longest watchdog timeout nothing is ever due, and everything works.
func TestLongestWatchdogTimeout(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service(stage6.WithWatchdogTimeout(math.MaxInt64))
		m := mutexOf(t, svc, lockName)
		outer := lock(t, m, t.Context())
		time.Sleep(year)
		inner := lock(t, m, outer.Context())
		waiting := startLock(r.Mutex(), t.Context())
		require.Zero(t, r.Count("renew"))
		require.NoError(t, outer.Unlock())
		require.NoError(t, inner.Unlock())
		require.NoError(t, requireHeld(t, waiting).Unlock())
		lock(t, m, t.Context())
		require.NoError(t, svc.Close())
		require.False(t, r.Exists(key))
	})
}

func TestShortestWatchdogTimeoutKeepsTheLock(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		hold := lock(t, r.Mutex(stage6.WithWatchdogTimeout(30*time.Millisecond)), t.Context())
		time.Sleep(10 * time.Second)
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
	})
}

func TestMaxHoldOfAnyLength(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		began := time.Now()
		hold := lock(t, r.Mutex(stage6.WithMaxHold(1)), t.Context())
		waitForEnd(t, hold)
		require.LessOrEqual(t, time.Since(began), time.Millisecond)
		require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
		time.Sleep(lease + time.Millisecond)

		hold = lock(t, r.Mutex(stage6.WithMaxHold(math.MaxInt64)), t.Context())
		time.Sleep(time.Hour)
		require.NoError(t, hold.Context().Err(), "no limit that anybody meets")
		require.NoError(t, hold.Unlock())
	})
}

func TestTryLockForOfAnyPatience(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		blocker := lock(t, r.Mutex(), t.Context())
		m := r.Mutex()
		for _, wait := range []time.Duration{math.MinInt64, -1, 0, 1} {
			began, before := time.Now(), r.Count("acquire")
			_, err := m.TryLockFor(t.Context(), wait)
			require.ErrorIs(t, err, stage6.ErrLocked, wait)
			require.LessOrEqual(t, time.Since(began), time.Millisecond)
			require.Greater(t, r.Count("acquire"), before, "it tries once at least")
		}
		got := make(chan error, 1)
		go func() {
			_, err := m.TryLockFor(t.Context(), math.MaxInt64)
			got <- err
		}()
		time.Sleep(time.Hour)
		require.Empty(t, got)
		require.NoError(t, blocker.Unlock())
		synctest.Wait()
		require.NoError(t, <-got)
	})
}

// An observer that is told of one thing only, and an OnLost that is none.
func TestObserverWithoutSomeOfItsFunctions(t *testing.T) {
	told := 0
	for name, o := range map[string]stage6.Observer{
		"none":     {},
		"acquired": {Acquired: func(string, time.Duration) { told++ }},
		"released": {Released: func(string, time.Duration) { told++ }},
		"renewed":  {Renewed: func(int, error) { told++ }},
		"lost":     {Lost: func(string) { told++ }},
	} {
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			before := told
			m := r.Mutex(stage6.WithObserver(o), stage6.WithOnLost(nil), stage6.WithLogger(nil))
			hold := lock(t, m, t.Context())
			time.Sleep(11 * time.Second)
			require.NoError(t, hold.Unlock())
			hold = lock(t, m, t.Context())
			r.Del(key)
			require.ErrorIs(t, hold.Unlock(), stage6.ErrLost)
			synctest.Wait()
			require.Equal(t, name == "none", told == before)
		})
	}
}

// The last of two options of a kind counts.
func TestLaterOptionReplacesAnEarlierOne(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex(stage6.WithWatchdogTimeout(-1), stage6.WithWatchdogTimeout(6*time.Second))
		require.NoError(t, lock(t, m, t.Context(), stage6.Lease(0), stage6.Lease(time.Minute)).Unlock())
		lock(t, m, t.Context())
		require.Equal(t, 6*time.Second, r.TTL(key))
	})
}
