package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

func TestOrdinaryTestCallsItsLockAndSleeps(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		began := time.Now()
		var a, b *redis.Client
		w.Do(func() { a, b = adapters.Connect(w.Node), adapters.Connect(w.Node) })
		holder, waiter := &lock{a, "x", 3 * time.Second}, &lock{b, "x", 3 * time.Second}
		require.NoError(t, holder.Lock(t.Context()))
		waited := make(chan error, 1)
		go func() { waited <- waiter.Lock(t.Context()) }()
		w.Wait()
		require.Empty(t, waited)
		time.Sleep(1050 * time.Millisecond)
		require.Equal(t, 1950*time.Millisecond, w.Embedded().TTL("x"))
		require.NoError(t, holder.Unlock(t.Context()))
		require.NoError(t, <-waited)
		require.Equal(t, 1100*time.Millisecond, time.Since(began), "it polls every 100 ms")
		w.Embedded().Del("x")
		require.NoError(t, holder.Lock(t.Context()))
		w.Do(func() {
			require.Equal(t, 2, w.Connections())
			require.Equal(t, "SET x locked NX PX 3000", w.Trace().Events[0].Line())
		})
	})
}

func TestFaultOfAServerStrikesAnyClient(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		var a, b *redis.Client
		var forged *world.Fault
		w.Do(func() {
			a, b = adapters.Connect(w.Node), adapters.Connect(w.Node)
			forged = w.Before(world.Named("GET")).Always()
			w.Before(func(c world.Command) bool { return c.Script == "free" }).Fail("ERR no")
			forged.Answer("$1\r\n7\r\n")
		})
		require.Equal(t, "7", a.Get(t.Context(), "x").Val())
		require.Equal(t, "7", b.Get(t.Context(), "x").Val())
		w.Do(forged.End)
		require.ErrorIs(t, b.Get(t.Context(), "x").Err(), redis.Nil)
		require.EqualError(t, freeScript.Eval(t.Context(), b, []string{"x"}).Err(), "ERR no")
		require.NoError(t, freeScript.Run(t.Context(), a, []string{"x"}).Err(), "it strikes once")
		w.Do(func() { w.Before(world.Any).Answer("HTTP/1.1 400 Bad Request\r\n\r\n") })
		require.ErrorContains(t, a.Get(t.Context(), "x").Err(), "HTTP/1.1", "an answer need not be a reply")
	})
	tr := run(t, func(w *world.World) { w.Before(world.Any).Drop() })
	require.Equal(t, []string{"no client sent the command to drop"}, tr.Missed)
}

func TestDelayedCommandMayBeStruckAgain(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Always().Delay(time.Second)
		a.Before(world.Named("SET")).Fail("ERR no")
		refused := a.StartTryLock()
		w.Sleep(time.Millisecond)
		a.Before(world.Named("SET")).Drop() // not the command that is on its way
		refused.Wait()
		a.TryLock()
	})
	require.Equal(t, time.Second, events(tr, trace.Refused)[0].At)
	require.Equal(t, 2*time.Second, events(tr, trace.Dropped)[0].At)
}

// go-redis does not count a wait for a connection that a context has ended, and keeps its timer. A timer of the first
// bubble would panic in the second one.
func TestBubbleGetsNoTimerOfAnEarlierOne(t *testing.T) {
	for range 2 {
		world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
			var rdb *redis.Client
			w.Do(func() {
				rdb = adapters.Connect(w.Node, func(o *redis.Options) { o.PoolSize = 1 })
				w.Before(world.Named("PING")).Delay(time.Second)
			})
			go rdb.Ping(t.Context())
			w.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.ErrorIs(t, rdb.Get(ctx, "x").Err(), context.DeadlineExceeded)
			time.Sleep(time.Second)
		})
	}
}
