package world_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// everywhere is a lock that sets its value on all servers that answer.
type everywhere struct {
	nodes []redis.UniversalClient
	lease time.Duration
	value int64
}

func newEverywhere(nodes []redis.UniversalClient, _ string, lease time.Duration, random rand.Source) (world.Locker, error) {
	return &everywhere{nodes, lease, rand.New(random).Int64()}, nil
}

func (l *everywhere) TryLock(ctx context.Context) (bool, error) {
	granted := make(chan bool)
	for _, node := range l.nodes {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, l.lease/100)
			defer cancel()
			granted <- node.SetNX(ctx, "key", l.value, l.lease).Val()
		}()
	}
	held := false
	for range l.nodes {
		held = <-granted || held
	}
	return held, nil
}

func (l *everywhere) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l *everywhere) Unlock(context.Context) error { return nil }

// holders returns the labels of the key on R1, R2 and R3 after an event; "" for a server without
// the key.
func holders(e trace.Event) (labels [3]string) {
	for _, k := range e.Keys {
		labels[k.Server[1]-'1'] = k.Owner.Label
	}
	return labels
}

func runOnThree(t *testing.T, scenario func(*world.World)) *trace.Trace {
	t.Helper()
	return runWith(t, world.Config{New: adapters.Over(newEverywhere), Servers: 3}, scenario)
}

func TestServersAreIndependent(t *testing.T) {
	for name, fault := range map[string]func(*world.Node){
		"restart": (*world.Node).Restart, "failover": (*world.Node).Failover, "flush": (*world.Node).FlushAll, "eviction": (*world.Node).Evict,
		"clock": func(n *world.Node) { n.JumpServerClock(time.Hour) }, "stop": (*world.Node).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			tr := runOnThree(t, func(w *world.World) {
				w.Client("A").TryLock()
				fault(w.Server(2))
				w.Client("B").TryLock()
				w.Server(2).Start()
				w.Sleep(2 * w.Lease)
			})
			require.Equal(t, []string{"R1", "R2", "R3"}, tr.Servers)
			struck := events(tr, trace.Server)[0]
			require.Equal(t, "R2", struck.Server)
			require.Equal(t, [3]string{"A1", "", "A1"}, holders(struck), "one name for a value on several servers")
			executed := events(tr, trace.Executed)
			want := [3]string{"A1", "B1", "A1"}
			if name == "stop" {
				want[1] = ""
			}
			require.Equal(t, want, holders(executed[len(executed)-1]))
			expired := events(tr, trace.Expired)
			require.Equal(t, [3]string{}, holders(expired[len(expired)-1]))
		})
	}
}

func TestFaultNamesItsServer(t *testing.T) {
	tr := runOnThree(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.On(world.Write, w.Server(1), w.Server(3))).Always().Fail("LOADING")
		a.TryLock()
	})
	require.Equal(t, [3]string{"", "A1", ""}, holders(events(tr, trace.Executed)[0]))
	var refused []string
	for _, e := range events(tr, trace.Refused) {
		refused = append(refused, e.Server)
	}
	require.Equal(t, []string{"R1", "R3"}, refused, "in the order of the servers")
}

func TestEachClientHasARandomSourceThatRepeats(t *testing.T) {
	var values [2][]int64
	for i := range values {
		config := world.Config{Servers: 2, New: adapters.Over(func(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (world.Locker, error) {
			values[i] = append(values[i], rand.New(random).Int64())
			return newEverywhere(nodes, name, lease, random)
		})}
		runWith(t, config, func(w *world.World) { w.Clients("A", "B", "C") })
	}
	require.Equal(t, values[0], values[1])
	require.NotEqual(t, values[0][0], values[0][1])
}
