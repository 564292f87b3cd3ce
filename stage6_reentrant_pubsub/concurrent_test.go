package stage6_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

func TestHoldsReleasedAtOneMomentAreEachReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		outer := lock(t, m, t.Context())
		holds := []*stage6.Hold{lock(t, m, outer.Context()), lock(t, m, outer.Context()), outer}
		r.Delay("count", time.Second)
		results := make(chan error, len(holds))
		for _, hold := range holds {
			go func() { results <- hold.Unlock() }()
		}
		for range holds {
			require.NoError(t, <-results)
		}
		require.False(t, r.Exists(key))
	})
}

func TestCloseWaitsForAnUnlockUnderWay(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		rdb := r.Client()
		svc, err := stage6.NewService(rdb)
		require.NoError(t, err)
		hold := lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		released := make(chan error, 1)
		go func() { released <- hold.Unlock() }()
		synctest.Wait()
		require.NoError(t, svc.Close())
		require.NoError(t, rdb.Close()) // as a process does that ends
		require.False(t, r.Exists(key), "left for %v", r.TTL(key))
		require.NoError(t, <-released)
	})
}

func TestSecondCloseWaitsForTheFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, lockName), t.Context())
		r.Delay("release", time.Second)
		var closing sync.WaitGroup
		for range 10 {
			closing.Go(func() {
				require.NoError(t, svc.Close(), "closing twice is no error")
				require.False(t, r.Exists(key))
			})
		}
		closing.Wait()
	})
}

func TestReentryWithAContextThatIsOverSendsNothing(t *testing.T) {
	for range 20 { // the turn and the context are ready at one moment
		inBubble(t, func(t *testing.T, r *fakeRedis) {
			m := r.Mutex()
			outer := lock(t, m, t.Context())
			ctx, cancel := context.WithCancel(outer.Context())
			cancel()
			r.Forget()
			_, err := m.Lock(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, r.Sent())
		})
	}
}

func TestDeadlineOfAQuestionIsTheContextsError(t *testing.T) {
	inBubble(t, func(t *testing.T, r *fakeRedis) {
		m := r.Mutex()
		lock(t, m, t.Context())
		r.Delay("force", 2*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.ForceUnlock(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute)
	})
}
