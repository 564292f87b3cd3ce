package trace

import (
	"errors"
	"fmt"
	"path"
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

// ServerFault is an event of the server itself.
type ServerFault string

// The faults of Redis.
const (
	MemoryFull       ServerFault = "memory-full"
	Evicted          ServerFault = "evicted"           // the lock's key
	Flushed          ServerFault = "flushed"           // every key
	ScriptsFlushed   ServerFault = "scripts-flushed"   // every script
	Restarted        ServerFault = "restarted"         // without keys and scripts; connections break
	FailedOver       ServerFault = "failed-over"       // to a replica without the lock's keys; connections break
	Stopped          ServerFault = "stopped"           // it has lost its keys and does not answer
	Started          ServerFault = "started"           // without its keys
	ClockJumped      ServerFault = "clock-jumped"      // by the event's Bound
	SubscriptionLost ServerFault = "subscription-lost" // its connection stays open
	Gone             ServerFault = "gone"              // it does not answer
	ReplicaDelayed   ServerFault = "replica-delayed"   // each write takes the event's Bound to a replica
	ReplicaCut       ServerFault = "replica-cut"       // a replica has lost its link
	ReplicaHealed    ServerFault = "replica-healed"    // it has it back
	Promoted         ServerFault = "promoted"          // a replica takes over with what it has; connections break
)

// Source is the line of the lock that sent a command.
type Source struct {
	File     string `json:"file"` // the last folder and the file's name: stage1_setnx_expire/mutex.go
	Line     int    `json:"line"`
	Function string `json:"function"` // TryLock
}

// String returns "stage1_setnx_expire/mutex.go:57".
func (s Source) String() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Short returns "mutex.go:57"; "" for no source.
func (s *Source) Short() string {
	if s == nil || s.File == "" {
		return ""
	}
	return path.Base(s.String())
}
