// Package subject61 makes step 6.1 a subject of the failures.
package subject61

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step1_told"
)

// Subject returns step 6.1 as a subject of the failures.
func Subject() failures.Subject {
	return step.Subject("6.1", "step1_told", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog)
}
