package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/trace"
	"lockkata/internal/stages"
)

const taken = "v1/stage3/check-then-delete@9/1x/pause/wrong-delete/a.A"

func TestTextOfARunThatContinuesAFailure(t *testing.T) {
	s, name, steps, err := schedule.Parse(taken)
	require.NoError(t, err)
	require.Equal(t, "stage3", name)
	require.Equal(t, "check-then-delete", s.From.Failure.ID)
	require.Equal(t, 9, s.From.Events)
	s.Subject = stages.MustFind("3").Subject
	require.Equal(t, taken, schedule.Text(s, steps))
	for wrong, says := range map[string]string{
		"v1/stage3/no-such@9/1x/pause/leak/":           `there is no failure "no-such"`,
		"v1/stage3/check-then-delete@/1x/pause/leak/":  "the number of events",
		"v1/stage3/check-then-delete@0/1x/pause/leak/": "the number of events",
	} {
		_, _, _, err := schedule.Parse(wrong)
		require.ErrorContains(t, err, says)
	}
}

// Violations from before the moment do not count.
func TestScheduleContinuesAFailure(t *testing.T) {
	s, _, _, err := schedule.Parse(taken)
	require.NoError(t, err)
	s.Subject = stages.MustFind("3").Subject
	var astray error
	played, err := schedule.Play(t, s, schedule.Follow([]string{"za", "t", "b", "wa", "a"}, &astray))
	require.NoError(t, err)
	require.NoError(t, astray)
	require.Equal(t, []int{1, 1, 0, 0, 0}, played.Costs, "A is paused before its DEL until B has the lock")
	require.Len(t, played.Broken(s.Property.Breaks), 1)

	f, _ := failures.Find("delete-foreign")
	verdict := failures.Run(t, f, stages.MustFind("2").Subject)
	require.Equal(t, failures.Broken, verdict.Outcome)
	s.Subject, s.From = stages.MustFind("2").Subject, &schedule.Start{Failure: f, Events: len(verdict.Trace.Events)}
	played, err = schedule.Play(t, s, func(schedule.Point) (int, bool) { return 0, false })
	require.NoError(t, err)
	require.Empty(t, played.Broken(s.Property.Breaks))
}

// This holds for each moment at which the schedule can take over.
func TestContinuedClientsUnlockEachHold(t *testing.T) {
	for id, stage := range map[string]string{"work-outlives-ttl": "5", "try-while-holding": "5", "inner-unlock-frees": "6.3"} {
		f, _ := failures.Find(id)
		subject := stages.MustFind(stage).Subject
		s, _, _, err := schedule.Parse(taken)
		require.NoError(t, err)
		s.Subject = subject
		for n := range failures.Run(t, f, subject).Trace.Events {
			s.From = &schedule.Start{Failure: f, Events: n + 1}
			played, err := schedule.Play(t, s, func(p schedule.Point) (int, bool) { return p.Default, true })
			require.NoError(t, err)
			inside := map[string]int{}
			for _, e := range played.Trace.Events {
				switch {
				case e.Acquires():
					inside[e.Client]++
				case e.Kind == trace.Called && e.Op == trace.OpUnlock:
					inside[e.Client]--
				}
			}
			for client, more := range inside {
				require.Zero(t, more, "%s of %s on stage %s, taken over after event %d", client, id, stage, n)
			}
		}
	}
}
