// Package subject63 makes step 6.3 a subject of the failures.
package subject63

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
)

// Subject returns step 6.3 as a subject of the failures.
func Subject() failures.Subject {
	return step.Subject("6.3", "step3_reentrant", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry)
}
