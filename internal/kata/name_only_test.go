package kata

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// nameOnly are locks that survive by not doing what a lock is for.
var nameOnly = map[string]Material{
	"polls":   {Stage: 4},
	"noToken": {Stage: 4},
	"refuses": {Stage: 4, Edits: []Edit{{"mutex.go", tryBefore, "	value := uuid.NewString()\n	if value != \"\" {\n		return false, nil\n	}\n"}}},
}

// The failures pass over a lock that polls, that has no tokens, or that nobody ever
// gets: none of them may pass an exercise.
func TestLockThatSurvivesByDoingNothingDoesNotPass(t *testing.T) {
	t.Parallel()
	program, _ := benchOf(t)
	for _, c := range []struct {
		lock     string
		exercise int
		says     string
	}{
		{"polls", 10, "B waits for 10s while nothing happens, and sends 101 commands: it polls."},
		{"noToken", 11, "A's hold has the token 0, and B's, which came after it, has 0."},
		{"refuses", 4, "Lock asks for a free lock and does not get it: mylock: wait for lock:order:1001: context deadline exceeded"},
	} {
		t.Run(c.lock, func(t *testing.T) {
			e, _ := Find(c.exercise)
			report, err := program.Judge(t.Context(), e.task(c.lock))
			require.NoError(t, err)
			require.NotNil(t, report.Cause)
			require.Equal(t, c.says, report.Cause.Text)
			require.False(t, report.Passed(e.Required()))
			screen := Result{Exercise: e, Report: report}.Screen(View{Width: 120})
			require.Contains(t, screen, "✗ your lock does not lock")
		})
	}
}
