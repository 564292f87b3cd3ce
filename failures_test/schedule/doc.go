// Package schedule runs a lock under schedules that somebody else decides: a
// person, chance, or a search through all of them up to a bound.
//
// A schedule says, step by step, which client's command is executed, which reply
// is delivered, when time passes, and what fails. Steps that a calm day would not
// take cost one: a switch away from a client that could go on, time that passes
// while somebody could go on, a crash, a freeze, a lost reply. The search exhausts
// cost 0, then 1, and so on; so the first counterexample has the fewest such steps.
//
// What a search did not find it did not find up to its bound, with its clients,
// in its environment. It proves nothing beyond.
package schedule
