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
	ClockJumped      ServerFault = "clock-jumped"      // by the event's Bound
	SubscriptionLost ServerFault = "subscription-lost" // its connection stays open
	Gone             ServerFault = "gone"              // it does not answer
)

// disturb does something to Redis itself. A Redis that cannot do it ends the scenario.
func (w *World) disturb(fault ServerFault, do func() error) { w.disturbClock(fault, 0, do) }

// disturbClock may move the clock of Redis by d, which may end leases.
func (w *World) disturbClock(fault ServerFault, d time.Duration, do func() error) {
	if err := do(); err != nil {
		panic(scenarioError{err})
	}
	w.record(Event{Kind: Server, Fault: fault, Bound: d, Effects: w.compare(nil, 0, fault == ClockJumped), Keys: w.keys.keys()})
}

// replace has another Redis take over: connections break.
func (w *World) replace(fault ServerFault, do func() error) {
	for c := range w.wires {
		w.breakWire(c)
	}
	w.disturb(fault, do)
	w.settle()
}

// FillMemory leaves Redis no memory for data, until the scenario ends. It answers
// OOM to what needs some: SET and HSET, but not GET, DEL or PEXPIRE; in a script,
// unless it has written before.
func (w *World) FillMemory() {
	w.disturb(MemoryFull, w.server.FillMemory)
}

// Evict removes the key that keeps others out, as a full Redis may: without a word. An owner may have
// another key, named after itself, and that one stays.
func (w *World) Evict() {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(w.keys.state)), w.names.hasOwner)
	w.disturb(Evicted, func() error { return w.server.Evict(names...) })
}

// FlushAll empties Redis.
func (w *World) FlushAll() { w.disturb(Flushed, w.server.FlushAll) }

// FlushScripts empties Redis's script cache.
func (w *World) FlushScripts() { w.disturb(ScriptsFlushed, w.server.FlushScripts) }

// Restart stops Redis and starts it again without its data: connections break,
// keys and scripts are gone.
func (w *World) Restart() { w.replace(Restarted, w.server.Restart) }

// Failover makes a replica the master that has not yet seen the writes to the
// lock's keys: connections break, the keys are gone, scripts too.
func (w *World) Failover() { w.replace(FailedOver, w.server.Failover) }

// JumpServerClock moves Redis's clock, not the clients'.
func (w *World) JumpServerClock(d time.Duration) {
	w.disturbClock(ClockJumped, d, func() error { return w.server.JumpClock(d) })
}
