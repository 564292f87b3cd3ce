package world

import (
	"maps"
	"slices"
	"time"
)

// ServerFault is an event of the server itself.
type ServerFault string

// The faults of Redis.
const (
	MemoryFull       ServerFault = "memory-full"
	Evicted          ServerFault = "evicted"           // the lock's key
	Flushed          ServerFault = "flushed"           // every key
	ScriptsFlushed   ServerFault = "scripts-flushed"   // every script
	Restarted        ServerFault = "restarted"         // without keys and scripts; connections break
	FailedOver       ServerFault = "failed-over"       // to a replica without the lock's keys; connections break
	Stopped          ServerFault = "stopped"           // it has lost its keys and does not answer
	Started          ServerFault = "started"           // without its keys
	ClockJumped      ServerFault = "clock-jumped"      // by the event's Bound
	SubscriptionLost ServerFault = "subscription-lost" // its connection stays open
	Gone             ServerFault = "gone"              // it does not answer
)

// Node is one Redis server of a world. Its methods inject faults.
type Node struct {
	Name   string // R1, R2 …; "" if it is the only one
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

// allKeys returns the keys of all servers for the trace.
func (w *World) allKeys() (keys []Key) {
	for _, n := range w.nodes {
		for _, k := range n.keys.keys() {
			k.Server = n.Name
			keys = append(keys, k)
		}
	}
	return keys
}

// compare returns the changes of the server's keys; nothing once the scenario has ended.
func (n *Node) compare(lane *Client, call int, lapse bool) []Effect {
	if n.world.closing {
		return nil
	}
	return n.keys.compare(lane, call, lapse)
}

func (n *Node) record(e Event, effects []Effect) {
	e.Server, e.Effects, e.Keys = n.Name, effects, n.world.allKeys()
	n.world.record(e)
}

// disturb applies a fault, see [Redis], and records it.
func (n *Node) disturb(fault ServerFault, d time.Duration, keys ...string) {
	if err := n.server.Suffer(fault, d, keys...); err != nil {
		panic(scenarioError{err})
	}
	n.record(Event{Kind: Server, Fault: fault, Bound: d}, n.compare(nil, 0, fault == ClockJumped))
}

// replace breaks the connections to the server and applies a fault.
func (n *Node) replace(fault ServerFault) {
	for c := range n.world.wires {
		if c.node == n {
			n.world.breakWire(c)
		}
	}
	n.disturb(fault, 0)
	n.world.settle()
}

// FillMemory makes Redis refuse writes that need memory with OOM, until the scenario ends: SET and
// HSET, but not GET, DEL or PEXPIRE. A script that has already written may continue.
func (n *Node) FillMemory() { n.disturb(MemoryFull, 0) }

// Evict removes the lock's key, as a full Redis may, without notice. Keys named after an owner
// stay.
func (n *Node) Evict() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(n.keys.state)), n.world.names.hasOwner)
	n.disturb(Evicted, 0, names...)
}

// FlushAll empties Redis.
func (n *Node) FlushAll() { n.disturb(Flushed, 0) }

// FlushScripts empties Redis's script cache.
func (n *Node) FlushScripts() { n.disturb(ScriptsFlushed, 0) }

// Restart restarts Redis without its data: connections break, keys and scripts are gone.
func (n *Node) Restart() { n.replace(Restarted) }

// Failover promotes a replica that has not yet seen the writes to the lock's keys: connections
// break, keys and scripts are gone.
func (n *Node) Failover() { n.replace(FailedOver) }

// Stop stops Redis, which loses its data: connections break, and it does not answer until Start.
func (n *Node) Stop() {
	n.down = true
	n.replace(Stopped)
}

// Start starts a Redis that was stopped.
func (n *Node) Start() {
	n.down = false
	n.replace(Started)
}

// JumpServerClock moves the clock of Redis, not that of the clients.
func (n *Node) JumpServerClock(d time.Duration) { n.disturb(ClockJumped, d) }
