package kata

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/edits"
)

// A lock of this repository is compiled with an edit, and its line is that of the edited file. With the tag live,
// internal/edits compiles all edits.
func TestEditedLockIsPlayed(t *testing.T) {
	i := slices.IndexFunc(edits.All, func(e edits.Edit) bool { return e.Stage.ID == "2" && e.Outcome == failures.Broken })
	e := edits.All[i]
	v, err := PlayEdited(t.Context(), repositoryRoot(t), os.DirFS(repositoryRoot(t)), e, e.Failure, "en")
	require.NoError(t, err)
	require.Equal(t, e.Outcome, v.Outcome)
	require.Contains(t, v.Headline(), string(e.Rule))
}
