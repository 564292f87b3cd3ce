//go:build live

package realredis

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

// asker is not a real lock: its Lock asks Redis every millisecond until its context ends.
type asker struct{ rdb redis.UniversalClient }

func (a asker) TryLock(context.Context) (bool, error) { return true, nil }

func (a asker) Unlock(context.Context) error { return nil }

func (a asker) Lock(ctx context.Context) error {
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for {
		_ = a.rdb.Get(ctx, "lock:order:1001").Err() // there is no key
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ask.C:
		}
	}
}

// Clients that are never idle do not stop the scenario.
func TestTimePassesDuringAFastPoll(t *testing.T) {
	config := world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
		return asker{rdb}, nil
	})}
	began := time.Now()
	_, err := startProcess(t).Run(config, func(w *world.World) {
		var calls []*world.Call
		for _, name := range []string{"A", "B", "C", "D"} {
			calls = append(calls, w.Client(name).StartLock())
		}
		w.Sleep(w.Lease / 2)
		for _, call := range calls {
			call.Cancel()
			call.Wait()
		}
	})
	require.NoError(t, err)
	require.Less(t, time.Since(began), 5*time.Second)
}

func TestPopWaitsForAnElementOrItsTimeout(t *testing.T) {
	config := world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
		return asker{rdb}, nil
	})}
	tr, err := startProcess(t).Run(config, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		pop := a.StartRun("BLPOP", "list", "5")
		w.Sleep(w.Lease / 10)
		b.StartRun("LPUSH", "list", "one").Wait()
		pop.Wait()
		a.StartRun("BLPOP", "list", "0.2").Wait()
	})
	require.NoError(t, err)
	var executed []string
	var sent, took time.Duration
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Sent:
			sent = e.At
		case e.Kind == trace.Executed:
			executed, took = append(executed, e.Command[0]+" "+e.Reply), e.At-sent
		}
	}
	require.Equal(t, []string{"LPUSH 1", "BLPOP [list one]", "BLPOP (nil)"}, executed)
	require.GreaterOrEqual(t, took, 200*time.Millisecond)
}

// queue is not a real lock: a caller waits for the others of its process, and then sends a command.
type queue struct {
	asker
	place chan struct{}
}

func (q queue) Lock(ctx context.Context) error {
	q.place <- struct{}{}
	return q.rdb.Echo(ctx, "mine").Err()
}

func (q queue) Unlock(context.Context) error {
	<-q.place
	return nil
}

// A caller that waits for another one of its process sends nothing. The machine is not slow then.
func TestWaitInsideAProcessIsNotLate(t *testing.T) {
	config := world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, _ string, _ time.Duration) (world.Locker, error) {
		return queue{asker{rdb}, make(chan struct{}, 1)}, nil
	})}
	tr, err := startProcess(t).Run(config, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		wait := a.Goroutine("G").StartLock()
		w.Sleep(w.Lease / 2)
		a.Unlock()
		wait.Wait()
	})
	require.NoError(t, err)
	require.Less(t, tr.Late, 400*time.Millisecond)
}
