// Package mylock is the whole lock, which is a service for many locks: stage 6.
package mylock

import (
	failures "lockkata/failures_test"
	"lockkata/internal/stages/subject6"
)

// Subject shows stage 6 to the failures.
func Subject() failures.Subject { return subject6.Subject() }
