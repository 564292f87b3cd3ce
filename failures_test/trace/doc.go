// Package trace describes one run of a lock: what the clients called, which commands Redis executed,
// and which faults struck. The world writes it, and the rules and the pictures read it.
//
//   - [Trace] has each [Event] in order, with the keys in Redis after it.
//   - [Scene] is the state after an event: which clients believe that they hold the lock, which
//     calls and requests are under way. [Trace.Scenes] returns them in one pass over the events.
//   - [Request] is a command on its way to Redis and back, or a write to the ledger.
//
// The package knows neither Redis nor a lock, so neither does a rule.
package trace
