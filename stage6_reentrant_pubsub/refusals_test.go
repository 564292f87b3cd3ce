package stage6_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// logTo returns an option that logs to the buffer.
func logTo(log *bytes.Buffer) stage6.Option {
	return stage6.WithLogger(slog.New(slog.NewTextHandler(log, nil)))
}

// The process itself has got the lock again, so the earlier hold is lost.
func TestLockGrantedAgainEndsTheEarlierHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		lost := make(chan stage6.Loss, 2)
		svc := r.Service(stage6.WithOnLost(func(l stage6.Loss) { lost <- l }))
		m := mutexOf(t, svc, lockName)
		first := lock(t, m, t.Context())
		r.FlushAll()
		second := lock(t, m, t.Context())
		require.ErrorIs(t, context.Cause(first.Context()), stage6.ErrLost)
		require.Equal(t, first.Token(), (<-lost).Token)
		require.ErrorIs(t, first.Unlock(), stage6.ErrLost)
		require.NoError(t, second.Context().Err())
		require.NoError(t, second.Unlock())
		require.Empty(t, lost)
	})
}

// slowReplies delays the replies to scripts with that many words: 6 are a release, 7 an acquire.
type slowReplies int

type atOnce struct{} // key of a context whose replies are not delayed

func (words slowReplies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if len(cmd.Args()) == int(words) && ctx.Value(atOnce{}) == nil {
			time.Sleep(time.Second)
		}
		return err
	}
}

func (slowReplies) DialHook(next redis.DialHook) redis.DialHook { return next }

func (slowReplies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Unlock and Close have freed the lock, and the process gets the lock again before it reads the reply. The first hold was not lost.
func TestHoldThatHasEndedIsNotLostToTheNext(t *testing.T) {
	for name, end := range map[string]func(*stage6.Service, *stage6.Hold) error{
		"Unlock": func(_ *stage6.Service, hold *stage6.Hold) error { return hold.Unlock() },
		"Close":  func(svc *stage6.Service, _ *stage6.Hold) error { return svc.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				var told []string
				rdb := r.Client()
				rdb.AddHook(slowReplies(6))
				svc := r.ServiceOn(rdb, stage6.WithObserver(stage6.Observer{
					Released: func(string, time.Duration) { told = append(told, "released") },
					Lost:     func(string) { told = append(told, "lost") },
				}), stage6.WithOnLost(func(stage6.Loss) { panic("lost") }))
				hold := lock(t, mutexOf(t, svc, lockName), t.Context())
				ended := make(chan error, 1)
				go func() { ended <- end(svc, hold) }()
				settle()
				require.False(t, r.Exists(key))
				other := svc
				if name == "Close" {
					other = r.Service()
				}
				next := lock(t, mutexOf(t, other, lockName), t.Context())
				require.NoError(t, <-ended)
				settle()
				require.NoError(t, next.Context().Err())
				require.Equal(t, []string{"released"}, told)
			})
		})
	}
}

// The reply to the first acquire comes after the lock was lost and granted to another call. The first call asks again.
func TestGrantThatAnotherHasOvertakenIsNoHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		rdb := r.Client()
		rdb.AddHook(slowReplies(7))
		svc := r.ServiceOn(rdb, stage6.WithOnLost(func(stage6.Loss) { panic("lost") }))
		m := mutexOf(t, svc, lockName)
		first, second := make(chan error, 1), make(chan *stage6.Hold, 1)
		go func() {
			_, err := m.TryLock(t.Context())
			first <- err
		}()
		settle()
		require.True(t, r.Exists(key))
		r.FlushAll()
		time.Sleep(time.Millisecond) // tokens rise with the clock
		go func() {
			hold, _ := m.TryLock(context.WithValue(t.Context(), atOnce{}, true))
			second <- hold
		}()
		hold := <-second
		require.ErrorIs(t, <-first, stage6.ErrLocked)
		require.NoError(t, hold.Context().Err())
		require.NoError(t, hold.Unlock())
	})
}

func TestCloseWaitsHalfALeaseForTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		blocked := make(chan struct{})
		defer close(blocked)
		svc := r.Service(stage6.WithObserver(stage6.Observer{Acquired: func(string, time.Duration) { <-blocked }}))
		lock(t, mutexOf(t, svc, lockName), t.Context())
		began := time.Now()
		require.NoError(t, svc.Close())
		require.Equal(t, lease/2, since(began))
		require.False(t, r.Exists(key))
	})
}

func TestEachHoldEndsInReleasedOrLost(t *testing.T) {
	for name, end := range map[string]func(r *redisNode, svc *stage6.Service, hold *stage6.Hold) error{
		"released": func(_ *redisNode, _ *stage6.Service, hold *stage6.Hold) error { return hold.Unlock() },
		"closed":   func(_ *redisNode, svc *stage6.Service, _ *stage6.Hold) error { return svc.Close() },
		"key gone": func(r *redisNode, _ *stage6.Service, hold *stage6.Hold) error { r.FlushAll(); return hold.Unlock() },
		"found gone": func(r *redisNode, _ *stage6.Service, hold *stage6.Hold) error {
			r.FlushAll()
			time.Sleep(lease)
			return hold.Unlock()
		},
		"refused": func(r *redisNode, _ *stage6.Service, hold *stage6.Hold) error {
			r.Refuse("release", "NOPERM no")
			return hold.Unlock()
		},
		"unanswered": func(r *redisNode, _ *stage6.Service, hold *stage6.Hold) error {
			r.Delay("release", time.Hour)
			return hold.Unlock()
		},
		"close denied": func(r *redisNode, svc *stage6.Service, _ *stage6.Hold) error {
			r.Refuse("release", "NOPERM no")
			return svc.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *redisNode) {
				var told []string
				svc := r.Service(stage6.WithObserver(stage6.Observer{
					Acquired: func(string, time.Duration) { told = append(told, "acquired") },
					Released: func(string, time.Duration) { told = append(told, "released") },
					Lost:     func(string) { told = append(told, "lost") },
				}))
				err := end(r, svc, lock(t, mutexOf(t, svc, lockName), t.Context()))
				settle()
				want := "released"
				if err != nil {
					want = "lost"
				}
				require.Equal(t, []string{"acquired", want}, told)
			})
		})
	}
}

// One attempt, as the first TryLock makes.
func TestTryLockThatReentersAsksOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		hold := lock(t, m, t.Context())
		r.Refuse("count", slices.Repeat([]string{loading}, 99)...)
		began := time.Now()
		_, err := m.TryLock(hold.Context())
		require.ErrorContains(t, err, "LOADING")
		require.Zero(t, time.Since(began))
	})
}

// A plain client never follows a redirection, so it gets the same answer forever. A Cluster client gets one only while a
// slot is migrating.
func TestRedirectionEndsTheWaitOfAPlainClient(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Refuse("acquire", slices.Repeat([]string{"MOVED 3999 127.0.0.1:6381"}, 99)...)
		began := time.Now()
		_, err := r.Mutex().Lock(t.Context())
		require.ErrorContains(t, err, "the server is a node of a Cluster: pass what redis.NewClusterClient returns: MOVED 3999")
		require.Zero(t, time.Since(began))
	})
}

// The log says once a lease why a wait goes on.
func TestWaitThatGoesOnSaysWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log bytes.Buffer
		r.Refuse("acquire", slices.Repeat([]string{"READONLY You can't write against a read only replica."}, 999)...)
		ctx, cancel := context.WithTimeout(t.Context(), 3*lease-time.Second)
		defer cancel()
		_, err := r.Mutex(logTo(&log)).Lock(ctx)
		require.ErrorContains(t, err, "READONLY")
		settle()
		require.Equal(t, 3, strings.Count(log.String(), "still waiting"), log.String())
	})
}

// Idle connections may be dead, and a full server closes new ones. Lock asks again, TryLock names both causes.
func TestClosedConnectionEndsNoWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Refuse("acquire", "", "", "")
		m := r.Mutex()
		_, err := m.TryLock(t.Context())
		require.ErrorContains(t, err, "the server may have no room for another one, or be a proxy that knows no HELLO")
		require.ErrorIs(t, err, io.EOF)
		began := time.Now()
		hold, err := m.TryLockFor(t.Context(), 5*time.Second)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(began), 2*time.Second)
		require.NoError(t, hold.Unlock())
		r.Forget()
		r.Refuse("acquire", slices.Repeat([]string{""}, 999)...)
		_, err = m.TryLockFor(t.Context(), time.Minute)
		require.ErrorIs(t, err, io.EOF)
		require.LessOrEqual(t, r.Count("acquire"), 16, "the pauses double")
	})
}

// The server is restarting: it closes a connection, and does not answer on the next one. A later attempt takes no longer than a lease.
func TestAttemptAfterAClosedConnectionIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Refuse("acquire", "")
		r.Refuse("SUBSCRIBE", "NOPERM no channel") // its acknowledgement would wake the waiter at once
		m := mutexOf(t, r.ServiceOn(r.Client(func(o *redis.Options) { o.ReadTimeout = time.Hour })), lockName)
		waiting := startLock(m, t.Context())
		r.Delay("acquire", time.Hour)
		time.Sleep(2 * lease)
		r.Delay("acquire", 0)
		require.Len(t, waiting, 1)
		require.ErrorContains(t, (<-waiting).err, "stage6: lock "+key)
	})
}

// 120 callers give up while their acquires are on the way, which takes longer than the callers wait. None of the locks stays, and the log has
// one line for each lease.
func TestLateAcquiresOfManyCallersAreFreed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log bytes.Buffer
		svc := r.ServiceOn(r.Client(func(o *redis.Options) { o.PoolSize = 200 }), logTo(&log))
		before := runtime.NumGoroutine()
		r.Delay("acquire", 3*time.Second)
		for i := range 120 {
			m := mutexOf(t, svc, fmt.Sprint("order:", i))
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				_, err := m.TryLock(ctx, stage6.Lease(time.Hour))
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}()
		}
		time.Sleep(2 * time.Second)
		require.Less(t, runtime.NumGoroutine(), before+2*120+200, "none waits for an answer")
		r.Delay("acquire", 0)
		time.Sleep(1100 * time.Millisecond)
		waiting := startLock(mutexOf(t, r.Service(), "order:0"), t.Context())
		time.Sleep(5 * time.Second)
		require.NoError(t, requireHeld(t, waiting).Unlock(), "the clean-up wakes the waiters")
		for i := range 120 {
			require.False(t, r.Exists(fmt.Sprintf("lock:{order:%d}", i)), i)
		}
		require.LessOrEqual(t, strings.Count(log.String(), "\n"), 1, log.String())
		r.Forget()
		time.Sleep(time.Minute)
		require.Zero(t, r.Count("cleanup")+r.Count("release"), "each was found")
	})
}

// A proxy answers for more locks than it was asked for.
func TestCleanUpIgnoresAnswersForOtherLocks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		r.Refuse("acquire", slices.Repeat([]string{"ERR upstream failure"}, 20)...)
		r.Answer("cleanup", "*99\r\n"+strings.Repeat(":0\r\n", 99))
		m := r.Mutex()
		r.Delay("release", lease) // so that the clean-ups after it share a command
		for range 20 {
			_, err := m.TryLock(t.Context())
			require.Error(t, err)
		}
		time.Sleep(2 * lease)
		require.Positive(t, r.Count("cleanup"))
	})
}

// Beyond ten thousand the owner whose lease ends first is given up, and the log counts it.
func TestCleanUpsAreLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log bytes.Buffer
		svc := r.Service(logTo(&log))
		m := mutexOf(t, svc, lockName)
		r.Refuse("acquire", slices.Repeat([]string{"ERR upstream failure"}, 10_010)...)
		refused := slices.Repeat([]string{"ERR upstream failure"}, 99_999)
		r.Refuse("release", refused...)
		r.Refuse("cleanup", refused...)
		for range 10_010 {
			_, err := m.TryLock(t.Context(), stage6.Lease(time.Hour))
			require.Error(t, err)
		}
		time.Sleep(lease + lease/3)
		require.Contains(t, log.String(), `locks=10000 "given up"=10`)
		began := time.Now()
		require.NoError(t, svc.Close())
		require.Zero(t, time.Since(began))
	})
}

// A proxy acknowledges SUBSCRIBE and delivers no message.
func TestLostMessagesCostAThirdOfALeaseAndThenASixth(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log bytes.Buffer
		quiet := func(o *redis.Options) {
			connect := o.Dialer
			o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := connect(ctx, network, address)
				return &unheard{Conn: conn}, err
			}
		}
		m, other := mutexOf(t, r.ServiceOn(r.Client(quiet), logTo(&log)), lockName), r.Mutex()
		for _, late := range []time.Duration{lease / 3, lease / 3, lease / 6, lease / 6} {
			hold := lock(t, other, t.Context())
			waiting := startLock(m, t.Context())
			require.NoError(t, hold.Unlock())
			time.Sleep(late)
			mine := requireHeld(t, waiting)
			require.NoError(t, mine.Unlock())
			time.Sleep(lease) // the next wait subscribes anew
		}
		require.Equal(t, 1, strings.Count(log.String(), "messages do not arrive"), log.String())
	})
}

// unheard is a connection that loses each message of a subscription.
type unheard struct{ net.Conn }

func (c *unheard) Read(raw []byte) (int, error) {
	for {
		n, err := c.Conn.Read(raw)
		if err != nil || !bytes.Contains(raw[:n], []byte("\r\nmessage\r\n")) {
			return n, err
		}
	}
}

// One command asks for all locks that a process waits for.
func TestLooksAreShared(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		holder, svc := r.Service(), r.Service()
		for i := range 50 {
			name := fmt.Sprint("order:", i)
			lock(t, mutexOf(t, holder, name), t.Context())
			startLock(mutexOf(t, svc, name), t.Context())
		}
		r.Forget()
		time.Sleep(lease/3 + time.Second)
		require.Equal(t, 1, r.Count("look"))
		require.Zero(t, r.Count("acquire"))
	})
}

// The password was changed, and the connection for messages broken.
func TestRefusedSubscriptionConnectsWithGrowingPauses(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var away atomic.Bool
		var dials atomic.Int32
		rdb := r.Client(func(o *redis.Options) {
			connect := o.Dialer
			o.DialerRetries, o.PoolSize = 1, 9999
			o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				if away.Load() {
					return nil, errors.New("connection refused")
				}
				return connect(ctx, network, address)
			}
		})
		lock(t, r.Mutex(), t.Context())
		startLock(mutexOf(t, r.ServiceOn(rdb), lockName), t.Context())
		away.Store(true)
		r.world.Do(r.server.Restart) // ends the open connections
		dials.Store(0)
		time.Sleep(3 * time.Second)
		require.LessOrEqual(t, dials.Load(), int32(8))
		dials.Store(0)
		time.Sleep(2 * lease)
		require.LessOrEqual(t, dials.Load(), int32(120), "the subscription, the looks and the attempts")
	})
}

// Five seconds after its last waiter a service closes its subscription.
func TestEndOfTheSubscriptionIsNoWarning(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		var log bytes.Buffer
		hold := lock(t, r.Mutex(), t.Context())
		waiting := startLock(r.Mutex(logTo(&log)), t.Context())
		require.NoError(t, hold.Unlock())
		require.NoError(t, requireHeld(t, waiting).Unlock())
		time.Sleep(lease)
		settle()
		require.Empty(t, log.String())
	})
}

func TestTokenIsThatOfTheContext(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		require.Zero(t, m.Token(t.Context()))
		require.NoError(t, m.Do(t.Context(), func(ctx context.Context) error {
			require.Positive(t, m.Token(ctx))
			return nil
		}))
	})
}
