//go:build servers

package proxies_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/internal/stages"
	final "lockkata/stage6_reentrant_pubsub"
)

const (
	// lease is the lease of holds that are renewed, or end.
	lease = 3 * time.Second
	// long is the lease of a lock for which another client waits.
	long = 12 * time.Second
	// soon is a generous bound for what takes milliseconds.
	soon = 10 * time.Second
)

// service returns the service of a process of its own.
func (s *site) service(opts ...final.Option) *final.Service {
	s.t.Helper()
	svc, err := final.NewService(s.client(), append([]final.Option{final.WithWatchdogTimeout(lease)}, opts...)...)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = svc.Close() }) // one has lost its client
	return svc
}

// mutex returns the lock of that name of a process of its own.
func (s *site) mutex(name string, opts ...final.Option) *final.Mutex {
	s.t.Helper()
	return mutexOf(s.t, s.service(opts...), name)
}

func mutexOf(t *testing.T, svc *final.Service, name string) *final.Mutex {
	t.Helper()
	m, err := svc.Mutex(name)
	require.NoError(t, err)
	return m
}

// take acquires a lock that is free, or held by the owner in ctx.
func take(t *testing.T, m *final.Mutex, ctx context.Context) *final.Hold {
	t.Helper()
	hold, err := m.TryLock(ctx)
	require.NoError(t, err)
	return hold
}

// waiter calls Lock in another goroutine, and returns where its hold arrives.
func waiter(t *testing.T, m *final.Mutex) <-chan *final.Hold {
	got := make(chan *final.Hold, 1)
	go func() {
		hold, err := m.Lock(t.Context())
		if err == nil {
			got <- hold
		}
	}()
	return got
}

// receive returns the hold of a waiter, and how long that took.
func receive(t *testing.T, got <-chan *final.Hold) (*final.Hold, time.Duration) {
	t.Helper()
	start := time.Now()
	select {
	case hold := <-got:
		return hold, time.Since(start)
	case <-time.After(soon):
		require.FailNow(t, "the waiter does not get the lock")
		return nil, 0
	}
}

// requireLost requires that the holder learns of its loss within d.
func requireLost(t *testing.T, hold *final.Hold, d time.Duration) {
	t.Helper()
	select {
	case <-hold.Context().Done():
	case <-time.After(d):
		require.FailNow(t, "the holder is not told of its loss")
	}
	require.ErrorIs(t, hold.Unlock(), final.ErrLost)
}

// check uses every stage and everything of the last one behind the proxy.
func (s *site) check() {
	for name, check := range map[string]func(t *testing.T, s *site, lock string){
		"refused and handed over":     checkHandover,
		"re-entry":                    checkReentry,
		"a deleted key":               checkDeletedKey,
		"a crash":                     checkCrash,
		"force":                       checkForce,
		"Close":                       checkClose,
		"contended by two services":   checkContended,
		"idle for longer than 3 s":    checkIdle,
		"the stages before":           checkStages,
		"a waiter is woken":           checkWakeUp,
		"several locks, three leases": checkRenewals,
	} {
		s.t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *s
			own.t = t
			check(t, &own, "order:"+name)
		})
	}
}

func checkHandover(t *testing.T, s *site, lock string) {
	a, b := s.mutex(lock), s.mutex(lock)
	first := take(t, a, t.Context())
	_, err := b.TryLock(t.Context())
	require.ErrorIs(t, err, final.ErrLocked)
	got := waiter(t, b)
	require.NoError(t, first.Unlock())
	second, _ := receive(t, got)
	require.Greater(t, second.Token(), first.Token())
	require.NoError(t, second.Unlock())
}

func checkReentry(t *testing.T, s *site, lock string) {
	m, other := s.mutex(lock), s.mutex(lock)
	outer := take(t, m, t.Context())
	inner := take(t, m, outer.Context())
	count, err := m.HoldCount(inner.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count)
	require.NoError(t, inner.Unlock())
	locked, err := other.IsLocked(t.Context())
	require.NoError(t, err)
	require.True(t, locked)
	require.NoError(t, outer.Unlock())
	require.NoError(t, take(t, other, t.Context()).Unlock())
}

func checkDeletedKey(t *testing.T, s *site, lock string) {
	hold := take(t, s.mutex(lock), t.Context())
	for _, server := range s.servers { // one of them has it
		require.NoError(t, server.Del(t.Context(), "lock:{"+lock+"}").Err())
	}
	requireLost(t, hold, lease)
}

// The holder's client is closed, so its lock is neither renewed nor released.
func checkCrash(t *testing.T, s *site, lock string) {
	rdb := s.client()
	svc, err := final.NewService(rdb, final.WithWatchdogTimeout(lease))
	require.NoError(t, err)
	hold := take(t, mutexOf(t, svc, lock), t.Context())
	got := waiter(t, s.mutex(lock))
	require.NoError(t, rdb.Close())
	next, _ := receive(t, got)
	requireLost(t, hold, soon)
	require.Greater(t, next.Token(), hold.Token())
	_ = svc.Close() // without its client it cannot release anything
	require.NoError(t, next.Unlock())
}

func checkForce(t *testing.T, s *site, lock string) {
	a, b := s.mutex(lock), s.mutex(lock)
	hold := take(t, a, t.Context())
	freed, err := b.ForceUnlock(t.Context())
	require.NoError(t, err)
	require.True(t, freed)
	next := take(t, b, t.Context())
	requireLost(t, hold, lease)
	require.NoError(t, next.Unlock())
}

func checkClose(t *testing.T, s *site, lock string) {
	svc, b := s.service(), s.mutex(lock)
	hold := take(t, mutexOf(t, svc, lock), t.Context())
	require.NoError(t, svc.Close())
	require.Equal(t, final.ErrClosed, context.Cause(hold.Context()))
	require.NoError(t, take(t, b, t.Context()).Unlock(), "Close has freed it")
}

// Four goroutines of two services take a lock twenty times in all.
func checkContended(t *testing.T, s *site, lock string) {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var inside, holds, newest atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		m := s.mutex(lock)
		for range 2 {
			all.Go(func() {
				for range 5 {
					err := m.Do(ctx, func(ctx context.Context) error {
						defer inside.Add(-1)
						if inside.Add(1) != 1 {
							return fmt.Errorf("two are inside")
						}
						if token := m.Token(ctx); newest.Swap(token) >= token {
							return fmt.Errorf("the token %d is not the newest", token)
						}
						holds.Add(1)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	require.EqualValues(t, 20, holds.Load())
}

// A proxy may have closed the connections meanwhile.
func checkIdle(t *testing.T, s *site, lock string) {
	m := s.mutex(lock)
	for _, pause := range []time.Duration{0, 3500 * time.Millisecond, 4 * time.Second} {
		time.Sleep(pause)
		require.NoError(t, take(t, m, t.Context()).Unlock())
	}
}

// The stages before the last, and the steps between them: taken, refused, freed, taken by another.
func checkStages(t *testing.T, s *site, lock string) {
	for _, stage := range stages.All() {
		a, err := stage.Subject.New(adapters.Using(s.client()), lock+" "+stage.ID, lease)
		require.NoError(t, err)
		b, err := stage.Subject.New(adapters.Using(s.client()), lock+" "+stage.ID, lease)
		require.NoError(t, err)
		got, err := a.TryLock(t.Context())
		require.True(t, got, "%s: %v", stage.ID, err)
		got, err = b.TryLock(t.Context())
		require.NoError(t, err, stage.ID)
		require.False(t, got, stage.ID)
		require.NoError(t, a.Unlock(t.Context()), stage.ID)
		require.NoError(t, b.Lock(t.Context()), stage.ID)
		require.NoError(t, b.Unlock(t.Context()), stage.ID)
		for _, l := range []any{a, b} {
			if service, ok := l.(interface{ Close() error }); ok {
				require.NoError(t, service.Close())
			}
		}
	}
}

// Where nothing can be subscribed to, a waiter looks every sixth of the lease.
func checkWakeUp(t *testing.T, s *site, lock string) {
	holder := take(t, s.mutex(lock, final.WithWatchdogTimeout(long)), t.Context())
	got := waiter(t, s.mutex(lock, final.WithWatchdogTimeout(long)))
	subscribed := func() (count int64) {
		for _, server := range s.servers {
			channel := "lock__channel:{" + lock + "}"
			count += server.PubSubNumSub(t.Context(), channel).Val()[channel]
		}
		return count
	}
	if s.spreads() {
		time.Sleep(long / 5) // it has looked once
		require.Zero(t, subscribed())
	} else {
		require.Eventually(t, func() bool { return subscribed() == 1 }, soon, time.Millisecond)
	}
	require.NoError(t, holder.Unlock())
	next, waited := receive(t, got)
	require.Less(t, waited, long/6+lease/3)
	require.NoError(t, next.Unlock())
}

// One renewal is for all locks at once. A proxy that spreads keys sends it to one server, which does not have
// the locks of the other. From then on each is renewed alone.
func checkRenewals(t *testing.T, s *site, _ string) {
	var mu sync.Mutex
	var batches []int // how many locks each renewal was for
	svc := s.service(final.WithObserver(final.Observer{Renewed: func(locks int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		batches = append(batches, locks)
	}}))
	var holds []*final.Hold
	for len(holds) < 10 || slices.Contains(s.locks("order:several-*"), 0) {
		require.Less(t, len(holds), 50, "a server gets no lock: %v", s.locks("order:several-*"))
		holds = append(holds, take(t, mutexOf(t, svc, fmt.Sprint("order:several-", len(holds))), t.Context()))
	}
	time.Sleep(3 * lease)
	for _, hold := range holds {
		require.NoError(t, context.Cause(hold.Context()))
		require.NoError(t, hold.Unlock())
	}
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, len(batches), 4, "too few renewals")
	require.Equal(t, s.spreads(), slices.Max(batches[len(batches)/2:]) == 1, "%v", batches)
}
