// Package failures runs the catalogue of failures of Redis locks on any lock, and judges each run.
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
//
// The failures are in package catalogue.
package failures
