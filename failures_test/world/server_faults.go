package world

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// disturb does something to Redis itself, which may end leases. A Redis that cannot do
// it ends the scenario.
func (w *World) disturb(text string, lapse bool, do func() error) {
	if err := do(); err != nil {
		panic(scenarioError{err})
	}
	w.record(Event{Kind: Server, Text: text, Effects: w.compare(nil, 0, lapse), Keys: w.keys.keys()})
}

// replace has another Redis take over: connections break.
func (w *World) replace(text string, do func() error) {
	for c := range w.wires {
		w.breakWire(c)
	}
	w.disturb(text, false, do)
	w.settle()
}

// FillMemory leaves Redis no memory for data, until the scenario ends. It answers
// OOM to what needs some: SET and HSET, but not GET, DEL or PEXPIRE; in a script,
// unless it has written before.
func (w *World) FillMemory() {
	w.disturb("the memory of Redis is full", false, w.server.FillMemory)
}

// Evict removes the key that keeps others out, as a full Redis may: without a word. An owner may have
// another key, named after itself, and that one stays.
func (w *World) Evict() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(w.keys.state)), w.names.hasOwner)
	w.disturb("Redis evicts the key", false, func() error { return w.server.Evict(names...) })
}

// FlushAll empties Redis.
func (w *World) FlushAll() { w.disturb("FLUSHALL: Redis is empty", false, w.server.FlushAll) }

// FlushScripts empties Redis's script cache.
func (w *World) FlushScripts() {
	w.disturb("SCRIPT FLUSH: Redis forgets every script", false, w.server.FlushScripts)
}

// Restart stops Redis and starts it again without its data: connections break,
// keys and scripts are gone.
func (w *World) Restart() {
	w.replace("Redis restarts without persistence: connections broken, keys and scripts gone", w.server.Restart)
}

// Failover makes a replica the master that has not yet seen the writes to the
// lock's keys: connections break, the keys are gone, scripts too.
func (w *World) Failover() {
	w.replace("failover: the replica that takes over never saw the lock", w.server.Failover)
}

// JumpServerClock moves Redis's clock, not the clients'.
func (w *World) JumpServerClock(d time.Duration) {
	w.disturb(fmt.Sprintf("the clock of Redis jumps by %v", d), true, func() error { return w.server.JumpClock(d) })
}
