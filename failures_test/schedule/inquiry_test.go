package schedule

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
)

func TestSearchNamesTheLineOfAPanic(t *testing.T) {
	panics := trace.Event{
		Kind: trace.Returned, Op: trace.OpLock, Source: &trace.Source{File: "mylock/mutex.go", Line: 41},
		Result: &trace.Result{Claim: trace.ClaimPanic, Error: "panic: not today"},
	}
	played := Played{Trace: &trace.Trace{Events: []trace.Event{panics}}}
	require.EqualError(t, withoutPanic(played), "Lock panics at mylock/mutex.go:41: not today")
}
