package failures

import "time"

// StuckAfter changes how long a run may take.
func StuckAfter(d time.Duration) { stuckAfter = d }
