package world

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// disturb does something to Redis itself. A Redis that cannot do it ends the
// scenario.
func (w *World) disturb(text string, do func() error) {
	if err := do(); err != nil {
		panic(scenarioError{err})
	}
	w.record(Event{Kind: Server, Text: text, Effects: w.compare(nil, 0, false), Keys: w.keys.keys()})
}

// FillMemory leaves Redis no memory for data, until the scenario ends. It answers
// OOM to what needs some: SET and HSET, but not GET, DEL or PEXPIRE; in a script,
// unless it has written before.
func (w *World) FillMemory() {
	w.disturb("the memory of Redis is full", w.server.fillMemory)
}

// Evict removes the lock's keys as a full Redis may: without a word.
func (w *World) Evict() {
	names := slices.Sorted(maps.Keys(w.keys.state))
	w.disturb("Redis evicts the key", func() error { return w.server.evict(names...) })
}

// FlushAll empties Redis.
func (w *World) FlushAll() { w.disturb("FLUSHALL: Redis is empty", w.server.flushAll) }

// FlushScripts empties Redis's script cache.
func (w *World) FlushScripts() {
	w.disturb("SCRIPT FLUSH: Redis forgets every script", w.server.flushScripts)
}

// Restart stops Redis and starts it again without its data: connections break,
// keys and scripts are gone.
func (w *World) Restart() {
	w.breakConnections()
	w.disturb("Redis restarts without persistence: connections broken, keys and scripts gone", w.server.restart)
	w.settle()
}

// Failover makes a replica the master that has not yet seen the writes to the
// lock's keys: connections break, the keys are gone, scripts too.
func (w *World) Failover() {
	w.breakConnections()
	w.disturb("failover: the replica that takes over never saw the lock", w.server.failover)
	w.settle()
}

// JumpServerClock moves Redis's clock, not the clients'.
func (w *World) JumpServerClock(d time.Duration) {
	if err := w.server.jump(d); err != nil {
		panic(scenarioError{err})
	}
	w.record(Event{
		Kind: Server, Text: fmt.Sprintf("the clock of Redis jumps by %v", d),
		Effects: w.compare(nil, 0, true), Keys: w.keys.keys(),
	})
}
