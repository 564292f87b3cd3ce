package world_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// listening is a lock whose Lock subscribes and waits for one message.
type listening struct{ *lock }

func newListening(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &listening{&lock{rdb, "lock:" + name, lease}}, nil
}

func (l *listening) Lock(ctx context.Context) error {
	pubsub := l.rdb.Subscribe(ctx, "news")
	defer pubsub.Close()
	if _, err := pubsub.Receive(ctx); err != nil { // the acknowledgement
		return err
	}
	_, err := pubsub.Receive(ctx)
	return err
}

func TestBrokenSubscriptionLosesItsMessage(t *testing.T) {
	for _, broken := range []bool{false, true} {
		tr := runWith(t, world.Config{New: adapters.Plain(newListening)}, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			listen := a.StartLock()
			w.Sleep(time.Second)
			require.Equal(t, 1, a.Listens())
			a.Cut()
			b.StartRun("PUBLISH", "news", "hello").Wait()
			if broken {
				a.BreakSubscriptions()
			}
			a.Heal()
			require.Equal(t, !broken, listen.Wait().Held())
			require.Zero(t, a.Listens())
		})
		require.Equal(t, broken, len(events(tr, trace.Dropped)) == 1)
		executed := events(tr, trace.Executed)
		publish := executed[slices.IndexFunc(executed, func(e trace.Event) bool { return e.Command[0] == "PUBLISH" })]
		require.Equal(t, publish.Step, publish.Published)
		require.Equal(t, []string{"A"}, publish.Listeners)
		arrives := trace.Delivered
		if broken {
			arrives = trace.Dropped
		}
		require.Equal(t, publish.Step, events(tr, arrives)[len(events(tr, arrives))-1].Published)
		delivered := events(tr, trace.Delivered)
		require.Equal(t, !broken, delivered[len(delivered)-1].Reply == "[message news hello]", "after the answer to the publisher")
	}
}

func TestBreakSubscriptionsKeepsOtherConnections(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Delay(time.Second)
		lock := a.StartLock()
		w.Sleep(time.Second / 2)
		a.BreakSubscriptions()
		require.True(t, lock.Wait().Held())
	})
	require.Empty(t, events(tr, trace.Dropped))
}

// leaving is a lock whose Lock waits for a message until its context ends, and then unsubscribes.
type leaving struct{ *lock }

func (l leaving) Lock(ctx context.Context) error {
	pubsub := l.rdb.Subscribe(ctx, "news")
	defer pubsub.Close()
	select {
	case <-pubsub.Channel():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close waits for a mutex that go-redis holds while it connects.
func TestClosingASubscriptionDuringReconnectDoesNotBlockTheBubble(t *testing.T) {
	newLeaving := func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return leaving{&lock{rdb, "lock:" + name, lease}}, nil
	}
	runWith(t, world.Config{New: adapters.Plain(newLeaving)}, func(w *world.World) {
		a := w.Client("A")
		listen := a.StartLock(world.Within(2 * time.Second))
		w.Sleep(time.Second)
		a.Freeze()
		a.BreakSubscriptions()
		w.Sleep(2 * time.Second)
		a.Thaw()
		require.False(t, listen.Wait().Held())
		require.Zero(t, a.Listens())
	})
}
