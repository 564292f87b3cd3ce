package world_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// watched is a lock whose Unlock uses WATCH, MULTI and EXEC.
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

func TestTransactionIsExecutedInOrder(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newWatched)}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Empty(t, events(tr, trace.Returned)[1].Result.Error)
	require.Equal(t, []string{
		"A " + setLine, "A WATCH lock:order:1001", "A GET lock:order:1001",
		"A MULTI", "A PEXPIRE lock:order:1001 30000", "A DEL lock:order:1001", "A EXEC",
	}, executed(tr))
	for _, e := range events(tr, trace.Executed)[1:] {
		require.Equal(t, e.Command[0] == "EXEC", len(e.Effects) > 0, "queued commands have no effect: %v", e)
	}
}

// A fault for a write strikes at EXEC, and the refused EXEC ends the transaction.
func TestRefusedExecEndsTheTransaction(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newWatched)}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Of(trace.OpUnlock, world.Write)).Fail("LOADING Redis is loading the dataset in memory")
		a.Unlock()
		a.Unlock()
	})
	require.Equal(t, []string{"EXEC"}, events(tr, trace.Refused)[0].Command)
	all := events(tr, trace.Returned)
	require.Equal(t, "LOADING Redis is loading the dataset in memory", all[1].Result.Error)
	require.Empty(t, all[2].Result.Error)
}

// spreading is a lock that sends from several goroutines at once.
type spreading struct{ *lock }

func (l spreading) TryLock(ctx context.Context) (bool, error) {
	var all sync.WaitGroup
	for _, key := range []string{"a", "b", "c"} { // each on another connection
		all.Go(func() { l.rdb.Get(ctx, key) })
	}
	all.Wait()
	channels := l.rdb.Subscribe(ctx, "all")
	defer channels.Close()
	_, err := channels.Receive(ctx)
	all.Go(func() { _ = channels.Subscribe(ctx, "a") }) // on one connection
	all.Go(func() { _ = channels.Subscribe(ctx, "b") })
	all.Wait()
	_, _ = channels.Receive(ctx) // both acknowledgements
	_, _ = channels.Receive(ctx)
	return true, err
}

// The order must not depend on goroutine scheduling.
func TestConcurrentCommandsAreSorted(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return spreading{&lock{rdb, name, lease}}, nil
	})}, func(w *world.World) { w.Client("A").TryLock() })
	require.Equal(t, []string{"A GET a", "A GET b", "A GET c", "A SUBSCRIBE all", "A SUBSCRIBE a", "A SUBSCRIBE b"}, executed(tr)[:6])
}

// Some locks renew early, some late, some never.
func TestSleepUntilIsBounded(t *testing.T) {
	for until, create := range map[time.Duration]world.Constructor{11 * time.Second: adapters.Plain(newScripted), 21 * time.Second: adapters.Plain(newLock)} {
		tr := runWith(t, world.Config{New: create}, func(w *world.World) {
			a := w.Client("A")
			late := a.Before(world.Background)
			late.Delay(5 * time.Second)
			a.Lock()
			w.SleepUntil(late, 20*time.Second, time.Second)
			require.Equal(t, until, w.Now())
			a.Unlock()
		})
		require.Equal(t, until, events(tr, trace.Slept)[0].Bound, "the trace has the duration")
	}
}

// A's EXEC fails if the key changed after its WATCH, so the order of the two is a part of the state.
func TestDigestKnowsWhatChangedAfterAWatch(t *testing.T) {
	digests := map[uint64]bool{}
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		_, err := world.Run(t, world.Config{New: adapters.Plain(newWatched)}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.StartRun("PING").Wait()
			w.Observe()
			a.StartUnlock()
			b.StartRun("PERSIST", "lock:order:1001")
			for _, token := range append(order, "A", "B") {
				w.RunUntilIdle()
				all := w.Choices(time.Hour)
				all[slices.IndexFunc(all, func(c world.Choice) bool { return c.Token == token })].Take()
			}
			digests[w.Digest()] = true
		})
		require.NoError(t, err)
	}
	require.Len(t, digests, 2)
}
