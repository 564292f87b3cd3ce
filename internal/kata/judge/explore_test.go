package judge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
)

// Two timers at one instant make a lock that no schedule replays: its author is told that, and not
// that the schedule has a typing mistake.
func TestLockThatGoesEitherWayIsToldSo(t *testing.T) {
	cause := unsearchable(fmt.Errorf("after v1/mylock/2c/1x/async/wrong-delete/b.B: %w", schedule.Astray(3, "a2")))
	require.Equal(t, Unsearchable, cause.Kind)
	require.Equal(t, "The same schedule does not go the same way twice: v1/mylock/2c/1x/async/wrong-delete/b.B.", cause.Text.Error())
	require.Contains(t, cause.Next.Error(), "What falls on one instant goes either way")
}
