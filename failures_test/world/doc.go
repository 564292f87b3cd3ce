// Package world runs Redis locks in a world whose every step is decided from
// outside: real lock code, real go-redis clients and an embedded Redis
// (miniredis) in one testing/synctest bubble, where time is fake and each
// command waits on the wire until somebody lets it through.
//
// A scenario reads like its story:
//
//	trace, err := world.Run(t, cfg, func(w *world.World) {
//		a, b, c := w.Client("A"), w.Client("B"), w.Client("C")
//		a.Lock()
//		w.Sleep(w.Lease + 5*time.Second) // A works longer than its lease
//		b.Lock()
//		a.Unlock() // deletes B's lock
//		c.Lock()   // B and C are both inside
//	})
//
// The lock knows nothing of this: it has no clock of its own, no hook and no
// build tag. The world decides about commands, replies, time, crashes and writes
// to the protected resource; it has no say over a point inside a lock.
//
// A world has one Redis, or several for a lock that needs a majority of them. Each has its own
// keys, clock and faults: see [World.Server].
//
// The result is a [Trace]: everything that happened, in order, with what Redis
// held after each step. The same scenario gives the same trace, byte for byte.
package world
