package stage6_test

import (
	"testing"

	"lockkata/internal/contract"
	"lockkata/internal/stages"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

var asLocker = contract.Lock{
	Subject: stages.All[5].Subject, Service: true, Key: key,
	NotHeld: stage6.ErrNotHeld, Lost: stage6.ErrLost, Again: stage6.ErrNotHeld,
}

func TestContract(t *testing.T) { contract.Test(t, asLocker) }
