package world

import (
	"maps"
	"math"
	"reflect"
	"strconv"
	"time"

	"lockkata/failures_test/trace"
)

// copier is a [Redis] that does not replicate by itself: the world does it.
type copier interface {
	// Copy returns a function that gives the server the data that it has now, and no other.
	Copy() (restore func())
}

// replicate gives the server some replicas. The master is R1, the replicas are R2, R3 …
func (n *Node) replicate(count int) {
	names := []string{"R1"}
	for i := range count {
		names = append(names, "R"+strconv.Itoa(i+2))
		n.replicas = append(n.replicas, &Replica{Name: names[i+1], master: n})
	}
	if _, ours := n.server.(copier); ours && count > 0 {
		n.world.trace.Replicated, n.present = names, names[0]
		for _, r := range n.replicas {
			r.has = n.snapshot(0)
		}
	}
}

// snapshot returns the data of the server, on its way to a replica for that long.
func (n *Node) snapshot(delay time.Duration) *snapshot {
	keys := *n.keys
	keys.state, keys.owners, keys.layouts, keys.counts = maps.Clone(keys.state), maps.Clone(keys.owners), maps.Clone(keys.layouts), maps.Clone(keys.counts)
	return &snapshot{n.offset, n.world.Now() + delay, &keys, n.server.(copier).Copy()}
}

// ship sends a write to the replicas.
func (n *Node) ship() {
	n.offset++
	for _, r := range n.replicas {
		if r.has != nil && !r.cut {
			r.coming = append(r.coming, n.snapshot(r.delay))
		}
	}
}

// catchUp lets the replicas have the writes that have arrived. It returns false if there is none.
func (n *Node) catchUp() (some bool) {
	var changed []string
	for _, r := range n.replicas {
		before := r.keys()
		for len(r.coming) > 0 && r.coming[0].due <= n.world.reached {
			r.has, r.coming, some = r.coming[0], r.coming[1:], true
		}
		if !reflect.DeepEqual(before, r.keys()) {
			changed = append(changed, r.Name)
		}
	}
	if len(changed) > 0 {
		n.record(trace.Event{Kind: trace.Arrived, Replicas: changed}, nil)
	}
	return some
}

// confirmed returns how many replicas have the writes up to an offset.
func (n *Node) confirmed(offset int) (count int) {
	for _, r := range n.replicas {
		if r.has.offset >= offset {
			count++
		}
	}
	return count
}

// isWait reports whether the request is a WAIT that the world answers: it waits until some replicas have
// all that was written when the last command of its connection was executed, and for most at most.
func (r *request) isWait() (replicas int, most time.Duration, is bool) {
	if r.Name != "WAIT" || len(r.Args) != 3 || r.wire.world.trace.Slack > 0 {
		return 0, 0, false
	}
	replicas, err := strconv.Atoi(r.Args[1])
	ms, invalid := strconv.ParseUint(r.Args[2], 10, 32)
	if most = time.Duration(ms) * time.Millisecond; ms == 0 {
		most = math.MaxInt64 / 2 // without end
	}
	return replicas, most, err == nil && invalid == nil
}
