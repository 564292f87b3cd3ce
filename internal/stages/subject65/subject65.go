// Package subject65 shows step 6.5 to the failures.
package subject65

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// Subject is step 6.5.
func Subject() failures.Subject {
	return step.Subject("6.5", "step5_fenced", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force)
}
