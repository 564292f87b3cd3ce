package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const wrongDelete3 = "v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b"

func TestReplayDrawsTheSameTwice(t *testing.T) {
	status, out, errors := command(t, "replay", wrongDelete3)
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "Stage 3, the owner's value in the key: wrong-delete, async, 2 clients that ask for the lock once each\n")
	require.Contains(t, out, "BROKEN: wrong delete: B's DEL removes the lock of A (A1).\n")
	require.Contains(t, out, "9 steps, of which 3 cost: "+wrongDelete3+"\n")
	_, again, _ := command(t, "replay", wrongDelete3)
	require.Equal(t, out, again)
}

// What comes after the last step is not drawn: nobody has chosen it.
func TestReplayEndsWithTheSchedule(t *testing.T) {
	status, out, _ := command(t, "replay", "v1/stage2/2c/1x/async/wrong-delete/b.B")
	require.Equal(t, exitOK, status)
	require.NotContains(t, out, "DEL")
	require.Contains(t, out, "SAFE in this run: nobody removes, overwrites or renews what somebody else installed.\n2 steps, of which 0 cost")

	status, out, _ = command(t, "replay", "v1/stage2/2c/1x/async/wrong-delete/")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "0 steps, of which 0 cost")
}

// Stage 3 with the Unlock of stage 4 has no GET that the schedule could execute.
func TestReplayTellsThatTheLockHasChanged(t *testing.T) {
	swapped(t, 3, 4)
	status, out, errors := command(t, "replay", wrongDelete3)
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "SAFE in this run")
	require.Equal(t, "step 9, b, is not possible any more: the lock has changed since\n", errors)

	status, _, errors = command(t, "replay", "v1/stage3/2c/1x/async/wrong-delete/a.A.b.wa")
	require.Equal(t, exitFailed, status)
	require.Equal(t, "step 4, wa, is not possible any more: the lock has changed since\n", errors)
}
