package stage6_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// loading is the error of a Redis that has just started.
const loading = "LOADING Redis is loading the dataset in memory"

func TestRenewalComesEveryThirdOfTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lock(t, r.Mutex(), t.Context())
		time.Sleep(30 * time.Second)
		require.Equal(t, []sent{
			{0, "acquire"}, {10 * time.Second, "renew"}, {20 * time.Second, "renew"}, {30 * time.Second, "renew"},
		}, r.Sent())
		require.Equal(t, lease, r.TTL(key))
	})
}

func TestNoRenewalAfterUnlockReturned(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		time.Sleep(25 * time.Second)
		require.NoError(t, hold.Unlock())
		r.Forget()
		time.Sleep(time.Hour)
		require.Empty(t, r.Sent())
	})
}

// 250 locks that were taken at one moment are renewed by three commands.
func TestRenewalsOfManyLocksShareCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var batches []int
		var mu sync.Mutex
		svc := r.Service(stage6.WithObserver(stage6.Observer{Renewed: func(locks int, err error) {
			mu.Lock()
			defer mu.Unlock()
			require.NoError(t, err)
			batches = append(batches, locks)
		}}))
		for i := range 250 {
			lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context())
		}
		time.Sleep(lease / 3)
		settle()
		require.ElementsMatch(t, []int{100, 100, 50}, batches)
		require.Equal(t, 3, r.Count("renew"))
		for i := range 250 {
			require.Equal(t, lease, r.TTL(fmt.Sprintf("lock:{order:%d}", i)))
		}
	})
}

// A plain client talks to a Redis with slots: a proxy before a Cluster, or a Cluster of one shard. Proxies have words of
// their own for that.
func TestRenewalsGoOneByOneOnceSeveralLocksAreRefused(t *testing.T) {
	for _, words := range []string{
		"CROSSSLOT Keys in request don't hash to the same slot",
		"ERR eval/evalsha command keys must be in same slot",
		"ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array",
		"NOSLOT whatever a proxy may say",
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			var told atomic.Int32
			var log strings.Builder
			svc := r.Service(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), stage6.WithObserver(stage6.Observer{Renewed: func(locks int, err error) {
				require.NoError(t, err)
				require.Equal(t, 1, locks)
				told.Add(1)
			}}))
			holds := r.threeHolds(svc)
			r.Refuse("renew", words)
			time.Sleep(lease / 3)
			require.Equal(t, 1+3, r.Count("renew"), "within the same renewal")
			time.Sleep(lease / 3)
			require.Equal(t, 1+3+3, r.Count("renew"), "and one by one afterwards")
			require.EqualValues(t, 3+3, told.Load())
			require.Equal(t, 1, strings.Count(log.String(), "shared renewals do not work here"))
			for _, hold := range holds {
				require.NoError(t, hold.Unlock())
			}
		})
	}
}

func (r *redisNode) threeHolds(svc *stage6.Service) (holds []*stage6.Hold) {
	for _, name := range []string{"a", "b", "c"} {
		holds = append(holds, lock(r.t, mutexOf(r.t, svc, name), r.t.Context()))
	}
	return holds
}

// Rights, memory and the disk have nothing to do with the number of locks in one command. After a temporary refusal
// none is renewed alone.
func TestRenewalsStayTogetherAfterARefusalThatPasses(t *testing.T) {
	for words, commands := range map[string]int{
		"MISCONF Redis is configured to save RDB snapshots, but it cannot": 1 + 3 + 2, "NOAUTH Authentication required.": 1 + 3 + 2,
		"WRONGPASS invalid username-password pair or user is disabled.": 1 + 3 + 2, "NOPERM this user has no permissions to run the 'evalsha' command": 1 + 3 + 2,
		"OOM command not allowed when used memory > 'maxmemory'.": 1 + 3 + 2, loading: 1 + 1 + 1,
	} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			r.threeHolds(r.Service())
			r.Refuse("renew", words)
			time.Sleep(lease)
			require.Equal(t, commands, r.Count("renew"), words)
		})
	}
}

// A stuck command does not delay those for other locks.
func TestRenewalsInAClusterShareNoCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := redis.NewClusterClient(&redis.ClusterOptions{
			ContextTimeoutEnabled: true, Protocol: 2, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			Dialer:                   r.Client().Options().Dialer,
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
				return []redis.ClusterSlot{{End: 16383, Nodes: []redis.ClusterNode{{Addr: "127.0.0.1:6379"}}}}, nil
			},
		})
		defer rdb.Close()
		svc := r.ServiceOn(rdb)
		defer svc.Close()
		lock(t, mutexOf(t, svc, "order:1"), t.Context())
		lock(t, mutexOf(t, svc, "order:2"), t.Context())
		r.Delay("renew", time.Hour)
		time.Sleep(lease / 3)
		require.Equal(t, 2, r.Count("renew"))
	})
}

// Locks that were taken within a sixtieth of the lease are renewed together.
func TestRenewalsThatAreDueSoonShareACommand(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		lock(t, mutexOf(t, svc, "order:1"), t.Context())
		time.Sleep(500 * time.Millisecond)
		lock(t, mutexOf(t, svc, "order:2"), t.Context())
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, r.Count("renew"))
	})
}

func TestOneBadKeyDoesNotFailTheOthersOfItsBatch(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.Service()
		good := lock(t, mutexOf(t, svc, "good"), t.Context())
		gone := lock(t, mutexOf(t, svc, "gone"), t.Context())
		wrong := lock(t, mutexOf(t, svc, "wrong"), t.Context())
		r.Del("lock:{gone}")
		r.Del("lock:{wrong}")
		require.NoError(t, r.Set("lock:{wrong}", "a lock of stage 5"))
		time.Sleep(lease / 3)
		settle()
		require.Equal(t, 1+2, r.Count("renew"), "those that seem to be lost are asked for alone")
		require.NoError(t, good.Context().Err())
		require.Equal(t, lease, r.TTL("lock:{good}"))
		require.Equal(t, stage6.ErrLost, context.Cause(gone.Context()))
		require.Equal(t, stage6.ErrLost, context.Cause(wrong.Context()))
		require.False(t, r.Exists("lock:{gone}"))
	})
}

func TestFailedRenewalIsRepeatedAndTheHoldGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		hold := lock(t, r.Mutex(), t.Context())
		r.Refuse("renew", loading, loading, loading)
		time.Sleep(time.Minute)
		require.NoError(t, hold.Context().Err())
		require.Equal(t, []sent{
			{0, "acquire"}, {10 * time.Second, "renew"}, {12500 * time.Millisecond, "renew"}, {15 * time.Second, "renew"},
			{17500 * time.Millisecond, "renew"}, {27500 * time.Millisecond, "renew"}, // this one and the last but one got through
			{37500 * time.Millisecond, "renew"}, {47500 * time.Millisecond, "renew"}, {57500 * time.Millisecond, "renew"},
		}, r.Sent())
	})
}

// Renewals that are due at different times are sent separately: a stuck one does not delay the others.
// It is given up after a sixth of the lease, even if the client's timeout is longer, and sent again.
func TestRenewalThatHangsDelaysNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = time.Hour }))
		first := lock(t, mutexOf(t, svc, "first"), t.Context())
		time.Sleep(2 * time.Second)
		second := lock(t, mutexOf(t, svc, "second"), t.Context())
		time.Sleep(7 * time.Second)
		r.Delay("renew", time.Hour)
		time.Sleep(2 * time.Second) // the renewal of the first is stuck
		r.Delay("renew", 0)
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, r.Count("renew"), "the renewal of the second was sent")
		time.Sleep(lease)
		require.NoError(t, first.Context().Err())
		require.NoError(t, second.Context().Err())
	})
}

// A fixed lease is looked at, and not renewed.
func TestFixedLeaseIsToldOfItsLoss(t *testing.T) {
	for _, own := range []time.Duration{lease / 2, lease, time.Hour} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			m := r.Mutex()
			hold := lock(t, m, t.Context(), stage6.Lease(own))
			time.Sleep(min(own, lease)/3 + time.Second)
			require.NoError(t, hold.Context().Err())
			require.Less(t, r.TTL(key), own-time.Second)
			freed, err := m.ForceUnlock(t.Context())
			require.True(t, freed)
			require.NoError(t, err)
			time.Sleep(min(own, lease) / 3)
			require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()))
			require.Equal(t, stage6.ErrLost, hold.Unlock())
		})
	}
}

func TestRenewalThatGetsThroughIsNotLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log strings.Builder
		svc := r.Service(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		one := lock(t, mutexOf(t, svc, lockName), t.Context())
		other := lock(t, mutexOf(t, svc, "order:1002"), t.Context())
		time.Sleep(2 * lease)
		require.GreaterOrEqual(t, r.Count("renew"), 5)
		require.NoError(t, one.Unlock())
		require.NoError(t, other.Unlock())
		require.Empty(t, log.String())
	})
}

func TestFailedRenewalsEndTheHoldWithItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log strings.Builder
		m := r.Mutex(stage6.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		began := time.Now()
		hold := lock(t, m, t.Context())
		time.Sleep(15 * time.Second) // one renewal gets through
		r.Refuse("renew", slices.Repeat([]string{loading}, 99)...)
		waitForEnd(t, hold)
		require.Equal(t, 10*time.Second+lease, time.Since(began), "a lease after the last renewal")
		settle() // the log is written after the context has ended
		require.Contains(t, log.String(), "renewal failed")
		require.Contains(t, log.String(), "lock lost")
	})
}

func TestRenewalAnsweredForTooFewLocksIsAnError(t *testing.T) {
	for _, raw := range []string{"*0\r\n", "*1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n"} {
		inBubble(t, func(t *testing.T, r *redisNode) {
			var failed atomic.Bool
			svc := r.Service(stage6.WithObserver(stage6.Observer{Renewed: func(_ int, err error) { failed.Store(err != nil) }}))
			hold := lock(t, mutexOf(t, svc, "order:1"), t.Context())
			lock(t, mutexOf(t, svc, "order:2"), t.Context())
			r.Answer("renew", raw)
			time.Sleep(lease / 3)
			settle()
			require.True(t, failed.Load())
			require.NoError(t, hold.Context().Err(), "there is time for another try")
		})
	}
}

// blockingHandler is a log that waits at "lock lost".
type blockingHandler struct {
	slog.Handler
	goOn chan struct{}
}

func (b blockingHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "lock lost" {
		<-b.goOn
	}
	return b.Handler.Handle(ctx, r)
}

// Twenty leases end when another one is due for renewal.
func TestLogThatBlocksDelaysNoOtherHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		log := blockingHandler{slog.NewTextHandler(io.Discard, nil), make(chan struct{})}
		svc := r.Service(stage6.WithLogger(slog.New(log)))
		renewed := lock(t, mutexOf(t, svc, lockName), t.Context())
		var over []*stage6.Hold
		for i := range 20 {
			over = append(over, lock(t, mutexOf(t, svc, fmt.Sprint("order:", i)), t.Context(), stage6.Lease(lease/3)))
		}
		time.Sleep(lease / 3)
		settle()
		for i, hold := range over {
			require.Equal(t, stage6.ErrLost, context.Cause(hold.Context()), i)
		}
		time.Sleep(lease)
		require.NoError(t, renewed.Context().Err())
		close(log.goOn)
	})
}
