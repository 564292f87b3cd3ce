// Package schedule runs a lock under schedules. A person, a random source or a search chooses each
// step: which client's command Redis executes, which reply arrives, when time passes, and what
// fails.
//
// A [Setup] has the lock, the number of clients, the environment ([Env]: the possible faults) and
// the rule that must hold ([Property]). The functions that run it:
//   - [Play] runs one schedule. A [Chooser] chooses at each [Point].
//   - [Follow] is the chooser for a known schedule, such as one that [Parse] has read.
//   - [Search] runs all schedules in order of cost, and returns a shortest counterexample.
//
// Each fault costs one: a switch away from a client that could continue, time that passes while a
// client could continue, a crash, a freeze, a lost reply. The search runs all schedules of cost 0,
// then of cost 1, and so on, so its first counterexample has the fewest faults. A search without
// result finds no bug within the bound, with these clients and this environment. It proves nothing
// else.
package schedule
