// Package subject65 makes step 6.5 a subject of the failures.
package subject65

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// Subject returns step 6.5 as a subject of the failures.
func Subject() failures.Subject {
	return step.Subject("6.5", "step5_fenced", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force)
}
