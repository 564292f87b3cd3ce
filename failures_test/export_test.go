package failures

import "time"

// StuckAfter changes how long a run may take.
func StuckAfter(d time.Duration) { stuckAfter = d }

// ExpectedRows are the failures that have expected outcomes.
var ExpectedRows = expected.Rows

// FixedIn is fixedIn.
var FixedIn = fixedIn
