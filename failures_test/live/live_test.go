package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
)

func TestLateRunsAreDisturbed(t *testing.T) {
	run := func(late time.Duration, replicas int, o failures.Outcome) failures.Verdict {
		return failures.Verdict{Failure: catalogue.Failure{Replicas: replicas}, Outcome: o, Trace: &trace.Trace{Lease: time.Minute, Late: late}}
	}
	require.True(t, isDisturbed(run(2*time.Second, 0, failures.Safe)))
	require.False(t, isDisturbed(run(time.Second, 2, failures.Safe)))
	require.True(t, isDisturbed(run(0, 2, failures.NotTested)))
	require.False(t, isDisturbed(run(0, 0, failures.NotTested)), "a fault that did not find its moment")
}
