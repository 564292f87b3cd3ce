package stage6_test

import (
	"testing"

	"go.uber.org/goleak"

	failures "lockkata/failures_test"
	"lockkata/internal/contract"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// asLocker is the lock as the failures see it.
var asLocker = contract.Lock{
	Subject: stages.All[5].Subject, Service: true, Key: key,
	NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Again: stage6.ErrNotHeld,
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) { contract.Test(t, asLocker) }

func TestFailures(t *testing.T) { failures.Check(t, asLocker.Subject, failures.Stage(6)) }
