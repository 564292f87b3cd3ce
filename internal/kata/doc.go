// Package kata lets a learner write the lock, and runs the failures on it.
//
// [All] lists the exercises with their texts, starts, solutions and predictions. A [Folder] is where a
// learner works. [Check] compiles the lock, runs it in a process of its own and returns a [Result].
// [Loop] is watch mode.
package kata
