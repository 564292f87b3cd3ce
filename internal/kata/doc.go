// Package kata is the repository turned round: the learner writes the lock, and
// the failures find his bug.
//
// The material is data: [All] lists the exercises with their stories, starts,
// hints, solutions and predictions. A [Folder] is where a learner works; [Check]
// compiles what he wrote, runs it in a process of its own, and says what came of
// it; [Loop] does so at each save. [Verify] proves the material.
package kata
