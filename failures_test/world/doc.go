// Package world runs real lock code with a real go-redis client against an embedded Redis
// (miniredis), in a testing/synctest bubble with fake time. A scenario decides each step: when
// Redis executes a command, when a reply arrives, which process pauses or dies, how time passes.
//
//	trace, err := world.Run(t, world.Config{New: newLock}, func(w *world.World) {
//		a, b, c := w.Client("A"), w.Client("B"), w.Client("C")
//		a.Lock()
//		w.Sleep(w.Lease + 5*time.Second) // A works longer than its lease
//		b.Lock()
//		a.Unlock() // deletes B's lock
//		c.Lock()   // B and C both hold the lock
//	})
//
// The main types:
//   - [World] is one run: its time, its processes and its servers. A [Node] is one of the servers.
//   - [Client] is a goroutine of a process that uses the lock. Lock waits and returns the [Call];
//     StartLock does not wait. Freeze, Crash and Cut act on the whole process.
//   - [Fault] waits for a command: a.After(world.Write).Freeze() pauses A when Redis has executed
//     its next write, before A reads the reply.
//   - [Ledger] is the resource that the lock protects. If it has two orders with one name, two
//     clients held the lock at once.
//   - [trace.Trace] is the result: each event in order, with the keys in Redis after it.
//
// Read world.go, operations.go and fault.go first: they have what a scenario uses. drive.go, requests.go and wire.go are the loop behind it; server_embedded.go and
// script_run.go adapt miniredis to it.
//
// A command takes the following way. go-redis writes it to a wire, which is a net.Conn (wire.go). The
// world waits until every goroutine of the bubble is blocked and puts the new requests in a fixed
// order (requests.go). It executes one of them, compares the keys of Redis before and after
// (keyspace.go), and lets the client read the reply (drive.go). So the same scenario gives the same
// trace, byte for byte. A search takes the same steps in any order: see [World.Choices].
//
// The lock needs no hook, no clock interface and no build tag. The world controls what crosses the
// network, time and processes; it cannot pause a goroutine between two lines of the lock.
// [RunOn] plays the same scenarios on another server and clock, such as a real Redis in real time.
package world
