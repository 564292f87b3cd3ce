package world_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// watched is a lock that frees with WATCH, MULTI and EXEC what is its own.
type watched struct{ *lock }

func newWatched(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &watched{&lock{rdb, "lock:" + name, lease}}, nil
}

func (l *watched) Unlock(ctx context.Context) error {
	return l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		if err := tx.Get(ctx, l.key).Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.PExpire(ctx, l.key, l.lease)
			p.Del(ctx, l.key)
			return nil
		})
		return err
	}, l.key)
}

func TestTransactionIsExecutedInItsOrder(t *testing.T) {
	trace := runWith(t, world.Config{New: newWatched}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Empty(t, events(trace, world.Returned)[1].Result.Error)
	require.Equal(t, []string{
		"A " + setLine, "A WATCH lock:order:1001", "A GET lock:order:1001",
		"A MULTI", "A PEXPIRE lock:order:1001 30000", "A DEL lock:order:1001", "A EXEC",
	}, executed(trace))
	for _, e := range events(trace, world.Executed)[1:] {
		require.Equal(t, e.Command[0] == "EXEC", len(e.Effects) > 0, "what is queued changes nothing: %v", e)
	}
}

// A fault that waits for a write strikes at EXEC, and what is refused is over.
func TestTransactionThatIsRefusedIsOver(t *testing.T) {
	trace := runWith(t, world.Config{New: newWatched}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Of(world.OpUnlock, world.Write)).Fail("LOADING Redis is loading the dataset in memory")
		a.Unlock()
		a.Unlock()
	})
	require.Equal(t, []string{"EXEC"}, events(trace, world.Refused)[0].Command)
	all := events(trace, world.Returned)
	require.Equal(t, "LOADING Redis is loading the dataset in memory", all[1].Result.Error)
	require.Empty(t, all[2].Result.Error)
}

func TestTransactionIsVoidWhenTheKeyHasChanged(t *testing.T) {
	trace := runWith(t, world.Config{New: newWatched}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Before(world.Named("EXEC")).Freeze()
		a.StartUnlock()
		b.StartRun("SET", "lock:order:1001", "other").Wait()
		a.Thaw()
		w.Sleep(time.Second)
	})
	require.Equal(t, redis.TxFailedErr.Error(), events(trace, world.Returned)[2].Result.Error)
}

// popping is a lock whose free token is in a list.
type popping struct {
	*lock
	longest time.Duration
}

func newPopping(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &popping{&lock{rdb, "free:" + name, lease}, 10 * time.Second}, nil
}

func (l *popping) Lock(ctx context.Context) error {
	for {
		err := l.rdb.BLPop(ctx, l.longest, l.key).Err()
		if !errors.Is(err, redis.Nil) {
			return err
		}
	}
}

func (l *popping) Unlock(ctx context.Context) error { return l.rdb.RPush(ctx, l.key, "free").Err() }

// Where the result goes to, and what else stands behind the keys, is not waited for.
func TestEachCommandThatBlocksWaitsForItsKeys(t *testing.T) {
	push, add := []any{"RPUSH", "b", "x"}, []any{"ZADD", "b", "1", "x"}
	for blocks, comes := range map[[6]any][]any{
		{"BLPOP", "a", "b", "0"}: push, {"BRPOP", "a", "b", "0"}: push, {"BZPOPMIN", "a", "b", "0"}: add, {"BZPOPMAX", "a", "b", "0"}: add,
		{"BRPOPLPUSH", "b", "full", "0"}: push, {"BLMOVE", "b", "full", "LEFT", "RIGHT", "0"}: push,
	} {
		command := slices.DeleteFunc(blocks[:], func(arg any) bool { return arg == nil })
		runWith(t, world.Config{New: newLock}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.StartRun("RPUSH", "full", "x").Wait()
			waits := b.StartRun(command...)
			w.Sleep(time.Second)
			require.False(t, waits.Over(), command)
			a.StartRun(comes...).Wait()
			require.True(t, waits.Over(), command)
		})
	}
}

// Redis counts no seconds as for ever, also a day after the world began.
func TestCommandMayBlockForEver(t *testing.T) {
	runWith(t, world.Config{New: func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return &popping{&lock{rdb, "free:" + name, lease}, 0}, nil
	}}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		w.Sleep(24 * time.Hour)
		waits := b.StartLock()
		w.Sleep(24 * time.Hour)
		require.False(t, waits.Over())
		a.Unlock()
		require.True(t, waits.Held())
	})
}

func TestCommandThatBlocksWaitsInRedis(t *testing.T) {
	trace := runWith(t, world.Config{New: newPopping}, func(w *world.World) {
		a, b, c := w.Clients("A", "B", "C")
		first := b.StartLock()
		w.Sleep(25 * time.Second)
		require.False(t, first.Over())
		leaver := c.StartLock(world.Within(time.Second))
		w.Sleep(2 * time.Second)
		require.True(t, leaver.Over(), "a deadline ends its wait")
		a.Unlock()
		require.True(t, first.Held(), "and what it would have taken is another one's")
	})
	var at []time.Duration
	for _, e := range events(trace, world.Executed) {
		if e.Client == "B" {
			at = append(at, e.At)
		}
	}
	require.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second, 27 * time.Second}, at)
}

// Its time begins when it arrives. What is late may be chosen to arrive now.
func TestCommandThatBlocksIsNoChoiceButOneThatIsLateIs(t *testing.T) {
	trace := runWith(t, world.Config{New: newPopping}, func(w *world.World) {
		offered := func() (executes bool) {
			for _, c := range w.Choices(time.Hour) {
				executes = executes || c.Action == world.Execute
			}
			return executes
		}
		a, b := w.Client("A"), w.Client("B")
		b.Before(world.Named("BLPOP")).Delay(4 * time.Second)
		b.StartLock()
		w.Sleep(5 * time.Second)
		require.False(t, offered())
		w.Sleep(10 * time.Second)
		a.Before(world.Named("RPUSH")).Delay(time.Second)
		a.StartUnlock()
		w.Sleep(time.Millisecond)
		require.True(t, offered())
	})
	require.Equal(t, 14*time.Second, events(trace, world.Executed)[0].At)
}

// spreading is a lock that sends from several goroutines at once.
type spreading struct{ *lock }

func (l spreading) TryLock(ctx context.Context) (bool, error) {
	var all sync.WaitGroup
	for _, key := range []string{"a", "b", "c"} { // each on a connection of its own
		all.Go(func() { l.rdb.Get(ctx, key) })
	}
	all.Wait()
	channels := l.rdb.Subscribe(ctx, "all")
	defer channels.Close()
	_, err := channels.Receive(ctx)
	all.Go(func() { _ = channels.Subscribe(ctx, "a") }) // on one connection
	all.Go(func() { _ = channels.Subscribe(ctx, "b") })
	all.Wait()
	_, _ = channels.Receive(ctx) // the answers have come
	_, _ = channels.Receive(ctx)
	return true, err
}

// Which goroutine is faster, must not decide.
func TestWhatSeveralGoroutinesSendAtOnceIsSorted(t *testing.T) {
	trace := runWith(t, world.Config{New: func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return spreading{&lock{rdb, name, lease}}, nil
	}}, func(w *world.World) { w.Client("A").TryLock() })
	require.Equal(t, []string{"A GET a", "A GET b", "A GET c", "A SUBSCRIBE all", "A SUBSCRIBE a", "A SUBSCRIBE b"}, executed(trace)[:6])
}

// Some locks renew early, some late, some never.
func TestSleepUntilAFaultHasStruckIsNoLongerThanAsked(t *testing.T) {
	for until, create := range map[time.Duration]world.Constructor{11 * time.Second: newScripted, 21 * time.Second: newLock} {
		trace := runWith(t, world.Config{New: create}, func(w *world.World) {
			a := w.Client("A")
			late := a.Before(world.Background)
			late.Delay(5 * time.Second)
			a.Lock()
			w.SleepUntil(late, 20*time.Second, time.Second)
			require.Equal(t, until, w.Now())
			a.Unlock()
		})
		require.Equal(t, until, events(trace, world.Slept)[0].Bound, "a drawing says how long it was")
	}
}
