package mylock

import failures "lockkata/failures_test"

// Subject shows the lock to the failures: it has an API of its own, so they need
// an adapter.
func Subject() failures.Subject { return subject6("mylock") }
