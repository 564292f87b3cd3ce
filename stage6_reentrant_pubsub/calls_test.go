package stage6_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// whole is the whole lock for scenarios that call what a Locker lacks.
type whole struct {
	*adapters.Holds[*stage6.Hold]
	*stage6.Mutex
}

// The methods that both have are those of the Locker.
func (l whole) Lock(ctx context.Context) error            { return l.Holds.Lock(ctx) }
func (l whole) TryLock(ctx context.Context) (bool, error) { return l.Holds.TryLock(ctx) }
func (l whole) Token(ctx context.Context) int64           { return l.Holds.Token(ctx) }

// played plays a scenario on the whole lock, whose callers ask for a lease of their own, and returns what the rules report.
func played(t *testing.T, scenario func(*world.World)) (*trace.Trace, []oracle.Finding) {
	t.Helper()
	isToken := func(key string) bool { return key == tokenKey }
	tr, err := world.Run(t, world.Config{Scripts: texts(t), Ignore: isToken, New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		svc, err := stage6.NewService(rdb, stage6.WithWatchdogTimeout(3*lease))
		if err != nil {
			return nil, err
		}
		m, err := svc.Mutex(name)
		lock := func(ctx context.Context) (*stage6.Hold, error) { return m.Lock(ctx, stage6.Lease(lease)) }
		try := func(ctx context.Context) (*stage6.Hold, error) { return m.TryLock(ctx, stage6.Lease(lease)) }
		return whole{adapters.NewHolds(lock, try, stage6.ErrLocked, stage6.ErrLost), m}, err
	})}, scenario)
	require.NoError(t, err)
	return tr, oracle.Judge(tr)
}

// texts are the texts of the lock's scripts.
func texts(t *testing.T) (all []string) {
	for _, name := range scripts {
		all = append(all, source(t, name))
	}
	return all
}

// tryLockFor begins a TryLockFor.
func tryLockFor(c *world.Client, wait time.Duration) *world.Call {
	lock := c.Locker().(whole)
	return c.Start(trace.OpLock, func(ctx context.Context) (trace.Result, error) {
		err := lock.Take(ctx, func(ctx context.Context) (*stage6.Hold, error) {
			return lock.TryLockFor(ctx, wait, stage6.Lease(lease))
		})
		return trace.Result{Held: err == nil}, err
	}, world.Patience(wait))
}

func TestTryLockForIsPlayedDrawnAndJudged(t *testing.T) {
	tr, found := played(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		tryLockFor(b, 5*time.Second).Wait()
		waiting := tryLockFor(b, 5*time.Second)
		a.Unlock()
		require.True(t, waiting.Wait().Held())
		b.Unlock()
	})
	require.Empty(t, found)
	text := timeline.Text(tr, found, timeline.Options{Width: 300})
	require.Contains(t, text, "Lock(), for 5s at most")
	require.Contains(t, text, "= error: stage6: lock is held by somebody else")
	require.Contains(t, text, "EVALSHA acquire 2 K K:token B1 30000", "the lease of its own, and not the watchdog's")

	_, found = played(t, func(w *world.World) { // a refusal that is taken for a grant
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Start(trace.OpLock, func(ctx context.Context) (trace.Result, error) {
			_, err := b.Locker().(whole).TryLockFor(ctx, 5*time.Second)
			return trace.Result{Held: errors.Is(err, stage6.ErrLocked)}, nil
		}, world.Patience(5*time.Second)).Wait()
	})
	require.Contains(t, rulesOf(found), oracle.Exclusion)
}

func rulesOf(found []oracle.Finding) (rules []oracle.Rule) {
	for _, f := range found {
		rules = append(rules, f.Rule)
	}
	return rules
}

func TestDoIsPlayedDrawnAndJudged(t *testing.T) {
	do := func(c *world.Client, honest bool) (end func() *world.Call) {
		lock := c.Locker().(whole)
		inside, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		c.Start(trace.OpLock, func(ctx context.Context) (trace.Result, error) {
			go func() {
				ended <- lock.Do(ctx, func(context.Context) error {
					close(inside)
					<-leave
					return nil
				}, stage6.Lease(lease))
			}()
			if honest {
				<-inside
			}
			return trace.Result{Held: true}, nil
		}).Wait()
		return func() *world.Call {
			return c.Start(trace.OpUnlock, func(context.Context) (trace.Result, error) {
				close(leave)
				return trace.Result{Claim: trace.ClaimDone}, <-ended
			}).Wait()
		}
	}
	for _, honest := range []bool{true, false} {
		tr, found := played(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			end := do(a, honest)
			require.False(t, b.TryLock().Held())
			end()
			require.True(t, b.TryLock().Held())
			b.Unlock()
		})
		require.Contains(t, timeline.Text(tr, found, timeline.Options{}), "EVALSHA release 1 K")
		require.Equal(t, honest, len(found) == 0, "a Do that calls its work before it has the lock is found: %v", found)
	}
}
