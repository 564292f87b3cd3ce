package trace

import (
	"errors"
	"slices"
)

// The operations of calls.
const (
	OpLock    = "Lock"
	OpTryLock = "TryLock"
	OpUnlock  = "Unlock"
	OpForce   = "ForceUnlock"
	OpCount   = "HoldCount"
	OpClose   = "Close" // ends the goroutines and subscriptions of the lock object
	OpRun     = "Run"   // a command of the application, on the same go-redis client
	OpCheck   = "Check"
	OpInsert  = "Insert"
	OpBegin   = "Begin" // a transaction of the ledger
	OpCommit  = "Commit"
)

// IsAcquire reports whether an operation is Lock or TryLock.
func IsAcquire(op string) bool { return op == OpLock || op == OpTryLock }

// IsStore reports whether a call of that name goes to the ledger.
func IsStore(op string) bool {
	return slices.Contains([]string{OpCheck, OpInsert, OpBegin, OpCommit}, op)
}

// ErrNothing is the error of an adapter's Lock and TryLock if the lock returned neither a hold nor
// an error.
var ErrNothing = errors.New("the lock returns neither a hold nor an error")
