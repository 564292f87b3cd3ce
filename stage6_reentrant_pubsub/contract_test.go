package stage6_test

import (
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/internal/locktest"
	"lockkata/internal/stages/subject6"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// asLocker is the lock with the interface that the failures use.
var asLocker = locktest.Lock{
	Subject: subject6.Subject(), Service: true, Key: key,
	NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Again: stage6.ErrNotHeld, Resends: true,
	Refused: "; the last attempt: stage6: lock is held by somebody else",
}

func TestMain(m *testing.M) {
	logging.Disable() // go-redis would print a line for each connection that is refused
	goleak.VerifyTestMain(locktest.Summarize(m, asLocker))
}

func TestContract(t *testing.T) { locktest.Test(t, asLocker) }

func TestFailures(t *testing.T) { failures.Check(t, asLocker.Subject, failures.Expected("6")) }
