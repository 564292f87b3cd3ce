package playground_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/playground"
)

// A lock with several edits has the code of all of them, suffers from each, and is a lock of
// its own.
func TestSeveralEditsAreInOneLock(t *testing.T) {
	e := engine(t)
	both := playground.Request{Op: "lock", Stage: "2", Edit: "nx-dropped+unlock-shortens-the-lease"}
	text := ask[playground.Lock](t, e, both).Files[0].Text
	require.Contains(t, text, `"SET", m.key, "locked", "PX", `)
	require.Contains(t, text, `"PEXPIRE", m.key, 5000)`)
	both.Op, both.Required = "column", []string{"second-client"}
	cell := ask[playground.Column](t, e, both).Cells[0]
	require.Equal(t, string(failures.Broken), cell.Outcome)
	require.Equal(t, string(failures.Safe), cell.Was, "of the lock as it stands")

	both.Op, both.Goal, both.Env, both.Bound = "search", "exclusion", "short-pauses", 1
	found := ask[schedule.Answer](t, e, both)
	require.True(t, found.Found)
	replayed := playground.Request{Op: "replay", Stage: "2", Edit: both.Edit, Schedule: found.Schedule}
	view := ask[playground.Position](t, e, replayed).View
	require.NotEmpty(t, view.Findings)
	require.Regexp(t, `^You needed \d+ steps, of which 1 cost\.$`, view.Score, "nobody has looked how short it can be")
	replayed.Edit = "nx-dropped+every-error-taken-for-a-no"
	require.Contains(t, refused(t, e, replayed).Error, "a lock that is not here")
}

func TestEditsThatCannotBeBesideEachOtherSayWhy(t *testing.T) {
	e := engine(t)
	for _, one := range [][2]string{
		{"2/px-given-seconds+nx-dropped+no-lease", "“no lease” cannot be on beside “NX dropped”: both change the same code"},
		{"2/nx-dropped+none", `there is no edit "none" of stage 2`},
		{"6/no-clean-up-after-an-unknown-outcome+renewals-ten-times-as-often", "stage 6 takes one edit at a time"},
	} {
		stage, edit, _ := strings.Cut(one[0], "/")
		require.Contains(t, refused(t, e, playground.Request{Op: "column", Stage: stage, Edit: edit}).Error, one[1])
	}
	lock := ask[playground.Lock](t, e, playground.Request{Op: "lock", Stage: "2"})
	require.False(t, lock.OneEdit)
	i := slices.IndexFunc(lock.Edits, func(e playground.Edit) bool { return e.ID == "nx-dropped" })
	require.Contains(t, lock.Edits[i].Clashes, "no-lease")
	require.NotContains(t, lock.Edits[i].Clashes, "every-error-taken-for-a-no")
	require.True(t, ask[playground.Lock](t, e, playground.Request{Op: "lock", Stage: "6"}).OneEdit)
}

// How short the way is on an edited lock a search on that lock says, and nothing else: the
// stage itself needs 7 steps, of which 3 cost.
func TestShortestWayOnAnEditedLockIsItsOwn(t *testing.T) {
	e := engine(t)
	edited := playground.Request{Op: "game", Stage: "2", Edit: "nx-dropped+every-error-taken-for-a-no"}
	view := ask[playground.Position](t, e, edited).View
	require.Equal(t, game.Par{Bound: -1}, view.Par)
	view = ask[playground.Position](t, e, playground.Request{Op: "par"}).View
	require.Equal(t, game.Par{Found: true, Shortest: true, Cost: 1, Steps: 6}, view.Par)
	require.Equal(t, "The shortest way has 6 steps, of which 1 cost.", view.ParSays)
	hint := ask[playground.Position](t, e, playground.Request{Op: "hint"}).Hint
	require.Equal(t, 6, hint.Away)
}

// An edit may leave an import that nothing needs.
func TestImportThatEditsLeaveWithoutUseDoesNoHarm(t *testing.T) {
	requirePairs(t, "3", "4")
}

// requirePairs wants every two edits of a lock to be one lock, if they may stand beside each
// other.
func requirePairs(t *testing.T, stages ...string) {
	e := engine(t)
	for _, stage := range stages {
		edits := ask[playground.Lock](t, e, playground.Request{Op: "lock", Stage: stage}).Edits
		for i, one := range edits {
			for _, other := range edits[:i] {
				pair := playground.Request{Op: "lock", Stage: stage, Edit: one.ID + "+" + other.ID}
				if slices.Contains(one.Clashes, other.ID) {
					require.Contains(t, refused(t, e, pair).Error, "both change the same code")
				} else {
					require.NotEmpty(t, ask[playground.Lock](t, e, pair).Files, pair.Edit)
				}
			}
		}
	}
}
