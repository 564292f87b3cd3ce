package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
)

func TestIsMessage(t *testing.T) {
	require.True(t, isMessage("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"))
	require.True(t, isMessage(">2\r\n$10\r\ninvalidate\r\n_\r\n"))
	require.False(t, isMessage("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"))
	require.False(t, isMessage(">3\r\n$11\r\nunsubscribe\r\n_\r\n:0\r\n"), "an answer too, with RESP3")
}

func TestLateRunsAreDisturbed(t *testing.T) {
	run := func(late time.Duration, replicas int, o failures.Outcome) failures.Verdict {
		return failures.Verdict{Failure: catalogue.Failure{Replicas: replicas}, Outcome: o, Trace: &trace.Trace{Lease: time.Minute, Late: late}}
	}
	require.True(t, isDisturbed(run(2*time.Second, 0, failures.Safe)))
	require.False(t, isDisturbed(run(time.Second, 2, failures.Safe)))
	require.True(t, isDisturbed(run(0, 2, failures.NotTested)))
	require.False(t, isDisturbed(run(0, 0, failures.NotTested)), "a fault that did not find its moment")
}
