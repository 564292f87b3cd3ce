package world

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"lockkata/failures_test/trace"
)

// Replica is a replica of the world's server. Each write of the master travels to it, in order. It arrives
// when nothing else can happen without time passing, and later if a scenario delays it.
type Replica struct {
	Name   string
	master *Node
	delay  time.Duration
	cut    bool
	coming []*snapshot // on their way
	has    *snapshot   // the last one that has arrived; nil if the server replicates by itself
}

// snapshot is the data of a master after one of its writes.
type snapshot struct {
	offset  int // the number of the write
	due     time.Duration
	keys    *keyspace // for the trace
	restore func()    // gives the data to the server
}

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

// keys returns the keys of the replica for the trace.
func (r *Replica) keys() []trace.Key {
	if r.has == nil {
		return nil
	}
	now := r.master.server.Now()
	maps.DeleteFunc(r.has.keys.state, func(_ string, k KeyState) bool { return !k.Expires.IsZero() && !k.Expires.After(now) })
	return r.has.keys.keys(r.Name)
}

// copiesAfter returns the keys of the master and of its replicas for the trace; nil without replicas.
func (w *World) copiesAfter() (all []trace.Key) {
	if len(w.trace.Replicated) > 0 {
		all = w.keys.keys(w.present)
		for _, r := range w.replicas {
			all = append(all, r.keys()...)
		}
	}
	return all
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

// waits reports whether the request is a WAIT that Redis cannot answer yet.
func (r *request) waits() bool {
	replicas, most, is := r.isWait()
	w := r.wire.world
	if !is || r.inside || w.closing || r.wire.node.confirmed(r.wire.offset) >= replicas {
		return false
	}
	if !r.waiting {
		r.waiting, r.due = true, w.Now()+most
	}
	return r.due > w.reached
}

// Replica returns the server R<n>, which was a replica when the world began.
func (w *World) Replica(n int) *Replica {
	return w.replicas[slices.IndexFunc(w.replicas, func(r *Replica) bool { return r.Name == "R"+strconv.Itoa(n) })]
}

// Delay makes each later write arrive d after the master has executed it.
func (r *Replica) Delay(d time.Duration) {
	r.delay = d
	r.disturb(trace.ReplicaDelayed, d)
}

// Cut breaks the link to the master: the writes on their way are lost, and later ones too.
func (r *Replica) Cut() {
	r.cut, r.coming = true, nil
	r.disturb(trace.ReplicaCut, 0)
}

// Heal repairs the link: the replica gets all that it lacks.
func (r *Replica) Heal() {
	r.cut = false
	r.disturb(trace.ReplicaHealed, 0)
}

// Promote lets the master die and the replica take over, with what has arrived: connections break, scripts
// are gone. The other replicas get its data.
func (r *Replica) Promote() {
	n := r.master
	n.hangUp()
	n.replicas = slices.DeleteFunc(n.replicas, func(other *Replica) bool { return other == r })
	n.present = r.Name
	for _, other := range n.replicas { // each has a new link
		other.cut, other.delay, other.coming = false, 0, nil
	}
	if r.has != nil {
		r.has.restore()
	}
	r.disturb(trace.Promoted, 0)
}

func (r *Replica) disturb(fault trace.ServerFault, d time.Duration) {
	n, began := r.master, time.Now()
	n.disturb(trace.Event{Fault: fault, Bound: d, Replicas: []string{r.Name}})
	n.world.late(time.Since(began) - n.world.Lease/10) // a real failover takes some time
	n.world.settle()
}
