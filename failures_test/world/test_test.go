package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// connect returns a client for a test's world.
func connect(w *world.World, change ...func(*redis.Options)) (rdb *redis.Client) {
	w.Do(func() { rdb = w.Connect(change...) })
	return rdb
}

func TestOrdinaryTestCallsItsLockAndSleeps(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		began := time.Now()
		a, err := newLock(connect(w), "x", 3*time.Second)
		require.NoError(t, err)
		b, err := newLock(connect(w), "x", 3*time.Second)
		require.NoError(t, err)
		require.NoError(t, a.Lock(t.Context()))
		waited := make(chan error, 1)
		go func() { waited <- b.Lock(t.Context()) }()
		w.Wait()
		require.Empty(t, waited)
		require.Equal(t, 3*time.Second, w.Embedded().TTL("lock:x"))
		time.Sleep(1050 * time.Millisecond)
		require.Equal(t, 1950*time.Millisecond, w.Embedded().TTL("lock:x"))
		require.NoError(t, a.Unlock(t.Context()))
		require.NoError(t, <-waited)
		require.Equal(t, 1100*time.Millisecond, time.Since(began), "B polls every 100 ms")
		w.Embedded().Del("lock:x")
		require.NoError(t, a.Lock(t.Context()), "the test has removed B's key")
		w.Do(func() {
			require.Equal(t, 2, w.Connections())
			require.Equal(t, []string{"SET", "lock:x", "locked", "NX", "PX", "3000"}, w.Trace().Events[0].Command)
		})
	})
}

func TestFaultOfAServerStrikesAnyClient(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		a, b := connect(w), connect(w)
		var broken *world.Fault
		w.Do(func() {
			broken = w.Before(world.Named("GET")).Always()
			broken.Answer("$1\r\n7\r\n")
			w.Before(world.Named("SET")).Fail("ERR no")
		})
		for _, rdb := range []*redis.Client{a, b} {
			require.Equal(t, "7", rdb.Get(t.Context(), "x").Val())
		}
		require.EqualError(t, b.Set(t.Context(), "x", "1", 0).Err(), "ERR no")
		require.NoError(t, a.Set(t.Context(), "x", "1", 0).Err(), "it strikes once")
		w.Do(broken.End)
		require.Equal(t, "1", b.Get(t.Context(), "x").Val())
	})
	tr := run(t, func(w *world.World) {
		w.Before(world.Named("GET")).Drop()
		w.Before(world.Named("SET")).Delay(time.Second)
		w.Client("A").Lock()
	})
	require.Equal(t, []string{"no client sent the command to drop"}, tr.Missed)
	require.Equal(t, time.Second, events(tr, trace.Executed)[0].At)
}

func TestAnswerNeedNotBeAReply(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		w.Do(func() { w.Before(world.Any).Answer("HTTP/1.1 400 Bad Request\r\n\r\n") })
		rdb := connect(w)
		require.ErrorContains(t, rdb.Get(t.Context(), "x").Err(), "HTTP/1.1")
		require.ErrorIs(t, rdb.Get(t.Context(), "x").Err(), redis.Nil, "on another connection")
	})
}

func TestDelayedCommandMayBeStruckAgain(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Always().Delay(time.Second)
		a.Before(world.Named("SET")).Fail("ERR no")
		a.TryLock()
		a.TryLock()
	})
	require.Equal(t, time.Second, events(tr, trace.Refused)[0].At)
	require.Equal(t, 2*time.Second, events(tr, trace.Executed)[0].At)
}

func TestCommandsNameTheirScripts(t *testing.T) {
	world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
		w.Do(func() {
			w.Before(func(c world.Command) bool { return c.Script == "free" }).Always().Fail("ERR no")
		})
		require.EqualError(t, freeScript.Eval(t.Context(), connect(w), []string{"x"}).Err(), "ERR no")
		require.NoError(t, renewScript.Eval(t.Context(), connect(w), []string{"x"}, 1).Err())
	})
}

// go-redis keeps the timer of a goroutine that waits for a connection, also if its context ends, and does not count
// such waits. A timer of the first bubble would panic in the second one.
func TestBubbleGetsNoTimerOfAnEarlierOne(t *testing.T) {
	for range 2 {
		world.Test(t, world.Config{}, func(t *testing.T, w *world.World) {
			rdb := connect(w, func(o *redis.Options) { o.PoolSize = 1 })
			w.Do(func() { w.Before(world.Named("PING")).Delay(time.Second) })
			go rdb.Ping(t.Context())
			w.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.ErrorIs(t, rdb.Get(ctx, "x").Err(), context.DeadlineExceeded)
			time.Sleep(time.Second)
		})
	}
}
