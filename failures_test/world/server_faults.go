package world

import (
	"maps"
	"slices"
	"time"
)

// ServerFault is what happens to Redis itself.
type ServerFault string

// The faults of Redis.
const (
	MemoryFull       ServerFault = "memory-full"
	Evicted          ServerFault = "evicted"           // the lock's key
	Flushed          ServerFault = "flushed"           // every key
	ScriptsFlushed   ServerFault = "scripts-flushed"   // every script
	Restarted        ServerFault = "restarted"         // without its keys and scripts; connections break
	FailedOver       ServerFault = "failed-over"       // to a replica without the lock's keys; connections break
	Stopped          ServerFault = "stopped"           // it loses its keys and answers nothing
	Started          ServerFault = "started"           // without its keys
	ClockJumped      ServerFault = "clock-jumped"      // by the event's Bound
	SubscriptionLost ServerFault = "subscription-lost" // its connection stays open
	Gone             ServerFault = "gone"              // it does not answer
)

// Node is one Redis server of a world. Its methods are what happens to it.
type Node struct {
	Name   string // R1, R2 …; "" where it is the only one
	world  *World
	index  int
	server Redis
	keys   *keyspace
	down   bool
}

// Server returns the nth server, counted from 1.
func (w *World) Server(n int) *Node { return w.nodes[n-1] }

// of returns the server to which a command goes.
func (w *World) of(c Command) *Node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *Node) bool { return n.Name == c.Server })]
}

// allKeys is what the servers hold, for the trace.
func (w *World) allKeys() (keys []Key) {
	for _, n := range w.nodes {
		for _, k := range n.keys.keys() {
			k.Server = n.Name
			keys = append(keys, k)
		}
	}
	return keys
}

// compare takes stock of the server. When the scenario is over nobody asks any more.
func (n *Node) compare(lane *Client, call int, lapse bool) []Effect {
	if n.world.closing {
		return nil
	}
	return n.keys.compare(lane, call, lapse)
}

// record records an event about the server.
func (n *Node) record(e Event, effects []Effect) {
	e.Server, e.Effects, e.Keys = n.Name, effects, n.world.allKeys()
	n.world.record(e)
}

// disturb does something to Redis itself. A Redis that cannot do it ends the scenario.
func (n *Node) disturb(fault ServerFault, do func() error) { n.disturbClock(fault, 0, do) }

// disturbClock may move the clock of Redis by d, which may end leases.
func (n *Node) disturbClock(fault ServerFault, d time.Duration, do func() error) {
	if err := do(); err != nil {
		panic(scenarioError{err})
	}
	n.record(Event{Kind: Server, Fault: fault, Bound: d}, n.compare(nil, 0, fault == ClockJumped))
}

// replace breaks the connections to the server, and changes it.
func (n *Node) replace(fault ServerFault, do func() error) {
	for c := range n.world.wires {
		if c.node == n {
			n.world.breakWire(c)
		}
	}
	n.disturb(fault, do)
	n.world.settle()
}

// FillMemory leaves Redis no memory for data, until the scenario ends. It answers
// OOM to what needs some: SET and HSET, but not GET, DEL or PEXPIRE; in a script,
// unless it has written before.
func (n *Node) FillMemory() { n.disturb(MemoryFull, n.server.FillMemory) }

// Evict removes the key that keeps others out, as a full Redis may: without a word. An owner may have
// another key, named after itself, and that one stays.
func (n *Node) Evict() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(n.keys.state)), n.world.names.hasOwner)
	n.disturb(Evicted, func() error { return n.server.Evict(names...) })
}

// FlushAll empties Redis.
func (n *Node) FlushAll() { n.disturb(Flushed, n.server.FlushAll) }

// FlushScripts empties Redis's script cache.
func (n *Node) FlushScripts() { n.disturb(ScriptsFlushed, n.server.FlushScripts) }

// Restart stops Redis and starts it again without its data: connections break,
// keys and scripts are gone.
func (n *Node) Restart() { n.replace(Restarted, n.server.Restart) }

// Failover makes a replica the master that has not yet seen the writes to the
// lock's keys: connections break, the keys are gone, scripts too.
func (n *Node) Failover() { n.replace(FailedOver, n.server.Failover) }

// Stop stops Redis, which loses its data: connections break, and it answers nothing until Start.
func (n *Node) Stop() {
	n.down = true
	n.replace(Stopped, n.server.Restart)
}

// Start starts a Redis that was stopped.
func (n *Node) Start() {
	n.down = false
	n.replace(Started, func() error { return nil })
}

// JumpServerClock moves Redis's clock, not the clients'.
func (n *Node) JumpServerClock(d time.Duration) {
	n.disturbClock(ClockJumped, d, func() error { return n.server.JumpClock(d) })
}
