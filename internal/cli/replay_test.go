package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/stages"
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
	healthy := stages.All[2].Subject.New
	stages.All[2].Subject.New = stages.All[3].Subject.New
	defer func() { stages.All[2].Subject.New = healthy }()
	status, out, errors := command(t, "replay", wrongDelete3)
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "SAFE in this run")
	require.Equal(t, "step 9, b, is not possible any more: the lock has changed since\n", errors)

	status, _, errors = command(t, "replay", "v1/stage3/2c/1x/async/wrong-delete/a.A.b.wa")
	require.Equal(t, exitFailed, status)
	require.Equal(t, "step 4, wa, is not possible any more: the lock has changed since\n", errors)
}

func TestReplayRefusesWhatIsNoSchedule(t *testing.T) {
	for says, text := range map[string]string{
		`"nonsense" is no schedule: one looks like v1/`:                               "nonsense",
		`"v2/stage3/2c/1x/async/leak/a" is no schedule`:                               "v2/stage3/2c/1x/async/leak/a",
		`there is no lock "stage9" to schedule: there are stage1, stage2`:             "v1/stage9/2c/1x/async/leak/a",
		`"c" in the schedule: it has to be a number from 1 to 9 and c, as 2c`:         "v1/stage3/c/1x/async/leak/a",
		`"9c" in the schedule: there are 2c or 3c`:                                    "v1/stage3/9c/1x/async/leak/a",
		`there is no environment "calm": there are async`:                             "v1/stage3/2c/1x/calm/leak/a",
		`there is no property "luck": there are leak`:                                 "v1/stage3/2c/1x/async/luck/a",
		`step 2 of the schedule, "q7", is no step: replay --help tells`:               "v1/stage3/2c/1x/async/leak/a.q7",
		`step 2 of the schedule, "", is no step`:                                      "v1/stage3/2c/1x/async/leak/a.",
		`wake-up is about pub/sub, which stage 3 does not have; there are leak, wron`: "v1/stage3/2c/1x/async/wake-up/a",
	} {
		status, out, errors := command(t, "replay", text)
		require.Equal(t, exitBadUsage, status, text)
		require.Contains(t, errors, says)
		require.Regexp(t, `^[^\n]+\n$`, errors)
		require.Empty(t, out)
	}
	for _, args := range [][]string{{"replay"}, {"replay", "a", "b"}} {
		status, _, errors := command(t, args...)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, "replay takes one schedule")
	}
}
