package world

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"lockkata/failures_test/trace"
)

// Server returns the nth server, counted from 1.
func (w *World) Server(n int) *Node { return w.nodes[n-1] }

// of returns the server to which a command goes.
func (w *World) of(c Command) *Node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *Node) bool { return n.Name == c.Server })]
}

// disturb applies a fault, see [Redis], and records it.
func (n *Node) disturb(e trace.Event, keys ...string) {
	if err := n.server.Suffer(e.Fault, e.Bound, append(keys, e.Replicas...)...); err != nil {
		panic(scenarioError{err})
	}
	e.Kind = trace.Server
	n.record(e, n.refresh(installer{}, e.Fault == trace.ClockJumped))
	if e.Fault != trace.ReplicaDelayed { // a replica that is late lacks no write yet
		n.ship()
	}
}

// replace breaks the connections to the server and applies a fault.
func (n *Node) replace(fault trace.ServerFault) {
	n.hangUp()
	n.disturb(trace.Event{Fault: fault})
	n.world.settle()
}

func (n *Node) hangUp() {
	for c := range n.world.wires {
		if c.node == n {
			c.sever()
		}
	}
}

// FillMemory makes Redis refuse writes that need memory with OOM, until the scenario ends: SET and
// HSET, but not GET, DEL or PEXPIRE. A script that has already written may continue.
func (n *Node) FillMemory() { n.disturb(trace.Event{Fault: trace.MemoryFull}) }

// Evict removes the lock's key, as a full Redis may, without notice. Keys named after an owner
// stay.
func (n *Node) Evict() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(n.keys.state)), n.world.names.hasOwner)
	n.disturb(trace.Event{Fault: trace.Evicted}, names...)
}

// FlushAll empties Redis.
func (n *Node) FlushAll() { n.disturb(trace.Event{Fault: trace.Flushed}) }

// FlushScripts empties Redis's script cache.
func (n *Node) FlushScripts() { n.disturb(trace.Event{Fault: trace.ScriptsFlushed}) }

// Restart restarts Redis without its data: connections break, keys and scripts are gone.
func (n *Node) Restart() { n.replace(trace.Restarted) }

// Failover promotes a replica that has not yet seen the writes to the lock's keys: connections
// break, keys and scripts are gone.
func (n *Node) Failover() { n.replace(trace.FailedOver) }

// Stop stops Redis, which loses its data: connections break, and it does not answer until Start.
func (n *Node) Stop() {
	n.down = true
	n.replace(trace.Stopped)
}

// Start starts a Redis that was stopped.
func (n *Node) Start() {
	n.down = false
	n.replace(trace.Started)
}

// JumpServerClock moves the clock of Redis, not that of the clients.
func (n *Node) JumpServerClock(d time.Duration) {
	n.disturb(trace.Event{Fault: trace.ClockJumped, Bound: d})
}

// Replica returns the server R<n>, which was a replica when the world began.
func (w *World) Replica(n int) *Replica {
	return w.replicas[slices.IndexFunc(w.replicas, func(r *Replica) bool { return r.Name == "R"+strconv.Itoa(n) })]
}

// Delay makes each later write arrive d after the master has executed it.
func (r *Replica) Delay(d time.Duration) {
	r.delay = d.Truncate(time.Microsecond) // as precise as the world's clock
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
