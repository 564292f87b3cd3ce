package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/texts"
)

// inevitable is since when it was too late in the run of a failure.
func inevitable(t *testing.T, id, column string) (schedule.Inevitable, failures.Verdict) {
	t.Helper()
	f, known := failures.Find(id)
	require.True(t, known)
	subject, err := failures.DiscoverScripts(t, columns.Must(column).Subject)
	require.NoError(t, err)
	v := failures.Run(t, f, subject)
	i, err := schedule.FindInevitable(t, v, subject)
	require.NoError(t, err)
	again, err := schedule.FindInevitable(t, v, subject)
	require.NoError(t, err)
	require.Equal(t, i, again)
	return i, v
}

// Each moment can be argued for by hand.
func TestItIsTooLateFromTheMomentOn(t *testing.T) {
	for _, moment := range []struct{ failure, column, says string }{
		// A's DEL is on its way, and B has the lock now. Before, A's DEL could arrive first.
		{"check-then-delete", "3", "Redis executes SET K B1 NX PX 30000 for B, and answers OK."},
		// A is at work, and the next one who asks is let in. Before, A's work could end in time.
		{"work-outlives-ttl", "4", "The lease ends, and Redis removes the key."},
		// A blind DEL has left, and B is at work. Before, B could be done first.
		{"delete-foreign", "2", "DEL K of A is on its way."},
		// Both have seen that there is no order, and both will write. Before, A could be first.
		{"process-pause", "5", `B asks the ledger to check order "tea": free.`},
		// A waits for itself.
		{"self-deadlock", "4", "SET K A? NX PX 30000 of A is on its way."},
	} {
		t.Run(moment.failure, func(t *testing.T) {
			i, v := inevitable(t, moment.failure, moment.column)
			require.False(t, i.Last)
			require.Equal(t, moment.says, timeline.Moment(v.Trace, i.Events, texts.English))
			require.Equal(t, 2, i.Bound)
			require.Positive(t, i.Schedules)
			against, _ := v.Against()
			require.Less(t, i.Events, against.Step)
		})
	}
}

// A dies after its SETNX, which is what breaks the rule: had it lived, a PEXPIRE would have come.
func TestItCanBeKeptUntilTheLastStep(t *testing.T) {
	for _, id := range []string{"crash-before-expire", "grant-reply-lost"} {
		i, v := inevitable(t, id, "1")
		require.True(t, i.Last, id)
		against, _ := v.Against()
		require.Equal(t, against.Step, i.Events)
		require.True(t, i.Kept)
		require.NotEmpty(t, i.Way)
	}
}

// From just before, the schedule beside it keeps the rule.
func TestWayOutKeepsTheRule(t *testing.T) {
	subject := columns.Must("3").Subject
	ways := 0
	for _, f := range failures.All {
		v := failures.Run(t, f, subject)
		if v.Outcome != failures.Broken && v.Outcome != failures.Inherent {
			continue
		}
		i, err := schedule.FindInevitable(t, v, subject)
		require.NoError(t, err, f.ID)
		if i.Way == "" { // no property is about the rule
			continue
		}
		ways++
		s, _, steps, err := schedule.Parse(i.Way)
		require.NoError(t, err)
		require.Less(t, s.From.Events, i.Events, f.ID)
		s.Subject = subject
		var astray error
		played, err := schedule.Play(t, s, schedule.Follow(steps, &astray))
		require.NoError(t, err)
		require.NoError(t, astray, f.ID)
		against, _ := v.Against()
		require.Empty(t, oracle.Ask(played.Trace, against.Monitor), f.ID)
	}
	require.Greater(t, ways, 10)
}

// B's DEL has left, and A has the lock: as in check-then-delete, with other clients.
func TestItIsTooLateFromAStepOfASchedule(t *testing.T) {
	s, _, steps, err := schedule.Parse("v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b")
	require.NoError(t, err)
	s.Subject = columns.Must("3").Subject
	var astray error
	played, err := schedule.Play(t, s, schedule.Follow(steps, &astray))
	require.NoError(t, err)
	found := played.Broken(s.Property.Breaks)
	i, err := schedule.FindInevitableStep(t, s, steps, found[0])
	require.NoError(t, err)
	require.Equal(t, "Redis executes SET K A1 NX PX 30000 for A, and answers OK.", timeline.Moment(played.Trace, i.Events, texts.English))
	require.Contains(t, i.Way, "/b.B.b.b.b.B.t.")
}
