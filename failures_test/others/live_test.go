//go:build live

package others

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// playRueidislock plays failures on redis-servers, at most six at once. A failure with an
// unexpected outcome is played up to two more times, alone: a busy machine can delay a renewal for
// longer than a lease.
func playRueidislock(t *testing.T, want map[string]string, all ...catalogue.Failure) map[string]failures.Verdict {
	t.Helper()
	s, err := live.Start(t.Context(), min(6, len(all)))
	redisserver.Need(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	subject, err := s.DiscoverScripts(Rueidislock)
	require.NoError(t, err)
	noteRenewals(subject.Scripts)
	bench, verdicts := s.Bench(subject), map[string]failures.Verdict{}
	play := func(all ...catalogue.Failure) {
		require.NoError(t, bench.Play(t.Context(), failures.Tasks(all), func(c failures.Cell) { verdicts[c.Failure.ID] = c.Verdict }))
	}
	play(all...)
	for _, f := range all {
		for again := 0; again < 2 && verdicts[f.ID].Outcome != failures.Elsewhere && verdicts[f.ID].Outcome.String() != want[f.ID]; again++ {
			play(f)
		}
	}
	return verdicts
}

func TestRueidislock(t *testing.T) {
	t.Parallel()
	unfit := map[string]string{
		"late-unlock":                "its Unlock and its next attempt use the same connection, so they keep their order",
		"pool-starved":               "its client has one connection of its own, which the work's commands do not use",
		"dog-unlock-race":            "it renews first after half of the lease, and this story is over by then",
		"unlock-waits":               "it renews first after half of the lease, and this story is over by then",
		"unlock-while-renewal-hangs": "it renews first after half of the lease, and this story is over by then",
		"resubscribe-refused":        "it sends no SUBSCRIBE: its attempt itself makes Redis watch the key",
		"wake-lost":                  "it sends no SUBSCRIBE: its attempt itself makes Redis watch the key",
		"wake-early":                 "it has no second attempt that a message could overtake",
		"wake-eaten":                 "its waiters give up at other moments: TestRueidislockLosesTheWakeUpOfACancelledWaiter",
	}
	fits := slices.DeleteFunc(catalogue.OfLocks(), func(f catalogue.Failure) bool { return unfit[f.ID] != "" })
	verdicts := playRueidislock(t, expected(t, "rueidislock"), fits...)
	grade(t, "rueidislock", unfit, func(t *testing.T, f catalogue.Failure) failures.Verdict {
		v := verdicts[f.ID]
		against, _ := v.Against()
		if errors.Is(v.Err, live.ErrBusy) {
			t.Skip(v.Sentence())
		} else if against.Rule == oracle.BoundedWait && !slices.Contains(f.Breaks, oracle.BoundedWait) {
			t.Skip("another process was faster than a waiter, by chance")
		}
		return v
	})
}

// The first waiter's context is cancelled during the attempt for which it was woken.
func TestRueidislockLosesTheWakeUpOfACancelledWaiter(t *testing.T) {
	t.Parallel()
	const id = "waiter-leaves-when-woken"
	v := playRueidislock(t, map[string]string{id: failures.Broken.String()}, catalogue.Failure{
		ID: id, Breaks: []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			g := b.Goroutine("G")
			a.Lock()
			first := b.StartLock()
			w.Sleep(w.Lease / 15)
			second := g.StartLock()
			w.Sleep(w.Lease / 15)
			b.Before(func(c world.Command) bool { return world.Write(c) && c.Client == "B" }).Delay(w.Lease / 6)
			a.Unlock()
			w.Sleep(w.Lease / 15)
			first.Cancel()
			first.Wait()
			second.Wait()
		},
	})[id]
	if errors.Is(v.Err, live.ErrBusy) {
		t.Skip(v.Sentence())
	}
	require.Equal(t, failures.Broken, v.Outcome, v.Sentence())
}

// newLocker returns a locker with the options of the README, and its server.
func newLocker(t *testing.T, noLoopTracking bool) (rueidislock.Locker, *redisserver.Server) {
	t.Helper()
	t.Parallel()
	server := redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort})
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{server.Addr()}},
		KeyMajority:  1, NoLoopTracking: noLoopTracking, TryNextAfter: time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(locker.Close)
	return locker, server
}

func TestRueidislockReturnsANilCancelWithAnError(t *testing.T) {
	locker, _ := newLocker(t, true)
	_, cancel, err := locker.WithContext(t.Context(), "order:1001")
	require.NoError(t, err)
	defer cancel()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, none, err := locker.WithContext(ctx, "order:1001")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, none)
}

// A lease of five seconds needs four renewals in ten seconds, not a hundred.
func TestRueidislockRenewsWithoutAPauseUnlessNoLoopTracking(t *testing.T) {
	locker, server := newLocker(t, false)
	_, cancel, err := locker.WithContext(t.Context(), "order:1001")
	require.NoError(t, err)
	defer cancel()
	rdb := realredis.NewClient(server.Socket())
	defer rdb.Close()
	require.Eventually(t, func() bool {
		stats, err := rdb.InfoMap(t.Context(), "commandstats").Result()
		require.NoError(t, err)
		calls, _, _ := strings.Cut(strings.TrimPrefix(stats["Commandstats"]["cmdstat_pexpireat"], "calls="), ",")
		n, _ := strconv.Atoi(calls)
		return n > 100
	}, 10*time.Second, 10*time.Millisecond)
}
