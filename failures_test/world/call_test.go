package world

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
)

func TestFailedCallIsNoAnswerAndNoDeadline(t *testing.T) {
	call := func(claim trace.Claim, err error) *Call {
		return &Call{over: true, result: trace.Result{Claim: claim, Err: err}}
	}
	require.True(t, call(trace.ClaimUnknown, errors.New("EOF")).Failed())
	require.False(t, call(trace.ClaimUnknown, fmt.Errorf("lock: %w", context.DeadlineExceeded)).Failed())
	require.False(t, call(trace.ClaimRefused, errors.New("not held")).Failed())
	require.False(t, call(trace.ClaimDone, nil).Failed())
	require.False(t, new(Call).Failed(), "it is under way")
}
