// Package failures is a catalogue of failures of Redis locks. Each failure is a
// scenario that runs on any lock.
//
// A failure has a story, the rule it breaks, and the outcome that is expected of
// each stage of this repository. [Check] runs the whole catalogue on one lock and
// fails the test for every outcome that is not the expected one, in both
// directions: a lock that is broken where it should be safe, and a lock that is
// safe where it is expected to be broken.
//
//	func TestFailures(t *testing.T) {
//		failures.Check(t, failures.Subject{Name: "mine", New: newMine}, failures.Flawless)
//	}
package failures
