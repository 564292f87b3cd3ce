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
//     StartLock does not wait, and Start begins a call of any other method. Freeze, Crash and Cut act on
//     the whole process.
//   - [Fault] waits for a command: a.After(world.Write).Freeze() pauses A when Redis has executed
//     its next write, before A reads the reply.
//   - [Ledger] is the resource that the lock protects. If it has two orders with one name, two
//     clients held the lock at once.
//   - [trace.Trace] is the result: each event in order, with the keys in Redis after it.
//
// [Test] runs an ordinary test on a world: it calls the lock itself, starts goroutines and sleeps.
//
// world.go has the types, which all files share. run.go begins and ends a run, in which a scenario uses
// operations.go, client.go, fault.go, match.go and server_faults.go, and a search or a person uses
// choose.go. test.go runs an ordinary test in place of a scenario. Below them, each file uses only files
// that come after it in this list:
//
//   - call.go and time.go run the loop until a call has returned, or for some time.
//   - drive.go is the loop. It waits until every goroutine of the bubble is blocked, puts the new
//     requests in a fixed order (admit.go), and executes one request or delivers one reply. So the same
//     scenario gives the same trace, byte for byte.
//   - request.go executes a request, and replica.go sends writes to replicas. process.go stops and cuts off a
//     process, and driver.go is what a process gives to the constructor of its lock. wire.go is the net.Conn
//     to which go-redis writes. attribute.go finds the call that sent a request.
//   - record.go writes the trace. keyspace.go compares the keys of Redis before and after a command,
//     entries.go finds what identifies the owners in a key, and names.go names them.
//   - server_embedded.go and script_run.go make a Redis, as server.go describes it, of miniredis.
//
// The lock needs no hook, no clock interface and no build tag. The world controls what crosses the
// network, time and processes; it cannot pause a goroutine between two lines of the lock.
// [RunOn] plays the same scenarios on another server and clock, such as a real Redis in real time.
package world
