package timeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

func beats(t *testing.T, width int) [][]string {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: newPlain}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Insert("tea")
	})
	require.NoError(t, err)
	return timeline.Beats(timeline.NewStory(tr, oracle.Judge(tr), "en").Rows(), timeline.Options{Width: width})
}

func TestBeatHasTimeClientCommandKeysAndLine(t *testing.T) {
	var text strings.Builder
	for _, lines := range beats(t, 80) {
		text.WriteString(strings.Join(lines, "\n") + "\n")
	}
	require.Equal(t, `0s   A  Lock()
0s   A  SET K locked NX PX 30000 → OK  locked (A1), 30s left  lock.go:0
0s   A  = has the lock
        ⋮ 30s later
30s     ▸ lease over
        ⋮ 1s later
31s  B  Lock()
31s  B  SET K locked NX PX 30000 → OK  locked (B1), 30s left  lock.go:0
31s  B  = has the lock
        ✗ broken exclusion: B is inside the lock while A still is
31s  A  insert order "tea": inserted   tea by A
`, withoutLines(text.String()))
}

func TestBeatsFoldOnANarrowTerminal(t *testing.T) {
	for _, lines := range beats(t, 66) {
		for _, line := range lines {
			require.LessOrEqual(t, term.Columns(line), 66)
		}
	}
	require.Contains(t, strings.Join(beats(t, 66)[1], "\n"), "30000 →")
	require.Greater(t, len(beats(t, 66)[1]), 1)
}
