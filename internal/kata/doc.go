// Package kata lets a learner write a lock, and plays the failures on it.
//
// [All] lists the exercises with their texts, starts, solutions and predictions. A [Folder] is a
// learner's folder. [Check] compiles the lock, runs it in another process and returns a [Result].
// [Loop] is watch mode.
package kata
