// Package subject62 makes step 6.2 a subject of the failures.
package subject62

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step2_unknown"
)

// Subject returns step 6.2 as a subject of the failures.
func Subject() failures.Subject {
	return step.Subject("6.2", "step2_unknown", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog)
}
