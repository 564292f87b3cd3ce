// Package subject63 shows step 6.3 to the failures.
package subject63

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
)

// Subject is step 6.3.
func Subject() failures.Subject {
	return step.Subject("6.3", "step3_reentrant", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry)
}
