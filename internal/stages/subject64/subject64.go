// Package subject64 makes step 6.4 a subject of the failures.
package subject64

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/step"
	stage6 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
)

// Subject returns step 6.4 as a subject of the failures.
func Subject() failures.Subject {
	return step.Subject("6.4", "step4_wakeup", stage6.NewMutex, stage6.WithoutWatchdog(), stage6.ErrLocked, stage6.ErrLost,
		failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub)
}
