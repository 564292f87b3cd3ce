// Package schedule runs a lock under schedules that somebody else decides: a
// person, chance, or a search through all of them up to a bound.
//
// A schedule says, step by step, which client's command is executed, which reply
// is delivered, when time passes, and what fails. A fault, which is a step that does
// not happen normally, costs one: a switch away from a client that could go on, time
// that passes while somebody could go on, a crash, a freeze, a lost reply. The search
// exhausts cost 0, then 1, and so on; so the first counterexample has the fewest faults.
//
// No result means no bug within the bound, with these clients, in this environment.
// It proves nothing beyond.
package schedule
