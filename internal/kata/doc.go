// Package kata is the repository turned round: the learner writes the lock, and
// the failures find his bug.
//
// An exercise is a folder of files in exercises: its texts, and its start where that is not the
// lock of the exercise before. [All] lists them. A [Folder] is where a learner works; [Check]
// compiles what he wrote, runs it in a process of its own, and says what came of
// it; [Loop] does so at each save. [Verify] proves the material.
package kata
