//go:build live

package topology

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// resource is what the lock protects.
type resource struct {
	inside, holds, token atomic.Int64
}

// use acquires the lock once and returns how long that took. The error is also of a second client inside, of a
// token that has not risen, and of a lost hold.
func (r *resource) use(ctx context.Context, p *party) (waited time.Duration, err error) {
	begun := time.Now()
	hold, err := p.Lock(ctx)
	if err != nil {
		return 0, err
	}
	waited = time.Since(begun)
	r.holds.Add(1)
	if n := r.inside.Add(1); n > 1 {
		err = fmt.Errorf("%d clients are inside", n)
	}
	if last := r.token.Swap(hold.Token()); hold.Token() <= last {
		err = errors.Join(err, fmt.Errorf("token %d after %d", hold.Token(), last))
	}
	time.Sleep(rand.N(60 * time.Millisecond))
	r.inside.Add(-1)
	return waited, errors.Join(err, context.Cause(hold.Context()), hold.Unlock())
}

// moveUnderContention moves the slot of the lock twenty times, around the three nodes, while six processes contend
// for the lock and a seventh holds another lock of the slot, which is renewed. None of them may notice.
func moveUnderContention(t *testing.T, c *Cluster, run func(move)) {
	var r resource
	var done atomic.Bool
	var clients sync.WaitGroup
	var longest [6]time.Duration
	ctx, stop := context.WithCancel(t.Context())
	for i := range longest {
		p := join(t, c.Client(), 6*time.Second)
		clients.Go(func() {
			for !done.Load() {
				waited, err := r.use(ctx, p)
				longest[i] = max(longest[i], waited)
				if !assert.NoError(t, err) {
					return
				}
				time.Sleep(rand.N(20 * time.Millisecond)) // let the others go first
			}
			assert.Zero(t, p.lost.Load())
		})
	}
	defer clients.Wait()
	defer stop() // a move that has failed keeps them waiting
	other := join(t, c.Client(), 3*time.Second)
	hold := other.take("order:1001}:other") // with the same tag: its key is lock:{order:1001}:other}
	m, begun := c.moveOf(key), time.Now()
	for range 20 {
		run(m)
		m.from, m.to, m.third = m.to, m.third, m.from
		time.Sleep(100 * time.Millisecond)
	}
	took := time.Since(begun)
	require.Positive(t, other.renewed.Load())
	require.NoError(t, hold.Unlock())
	done.Store(true)
	clients.Wait()
	t.Logf("20 moves in %v, %d holds, longest wait %v", took.Round(time.Millisecond), r.holds.Load(), slices.Max(longest[:]).Round(time.Millisecond))
}

// The slot moves step by step, as with redis-cli --cluster reshard. Until the end of a move no client can acquire
// a free lock, since Redis cannot know on which node it would be.
func TestContendersDoNotNoticeMovesStepByStep(t *testing.T) {
	const step = 10 * time.Millisecond
	heldOnTheWay := 0
	moveUnderContention(t, StartCluster(t, 3), func(m move) {
		m.begin()
		time.Sleep(step)
		keys := m.from.do("CLUSTER", "GETKEYSINSLOT", m.slot, 100).([]any)
		for _, i := range rand.Perm(len(keys)) {
			if m.migrate(keys[i].(string)) == "OK" && keys[i] == key {
				heldOnTheWay++
			}
			time.Sleep(step)
		}
		m.end()
	})
	require.NotZero(t, heldOnTheWay, "the lock was free in every move")
	t.Log("moves under a hold:", heldOnTheWay)
}

// Valkey moves the slot at once.
func TestContendersDoNotNoticeAtomicMoves(t *testing.T) {
	c := StartCluster(t, 3)
	if err := c.Nodes[0].Rdb.Do(t.Context(), "CLUSTER", "GETSLOTMIGRATIONS").Err(); err != nil {
		require.ErrorContains(t, err, "unknown subcommand")
		t.Skip("this server has no CLUSTER MIGRATESLOTS; Valkey has it since 9.0: ", err)
	}
	moveUnderContention(t, c, func(m move) {
		m.from.do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", m.slot, m.slot, "NODE", m.to.id)
		for _, n := range []*Node{m.from, m.to} {
			eventually(t, "an atomic move", func() (any, bool) {
				newest := n.do("CLUSTER", "GETSLOTMIGRATIONS").([]any)[0].(map[any]any)
				return newest, newest["state"] == "success"
			})
		}
	})
}
