package timeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

func beats(t *testing.T, width int) [][]string {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain)}, func(w *world.World) {
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

// messagesOf returns the messages of a scenario's run, and the rows between which they are.
func messagesOf(t *testing.T, scenario func(*world.World)) ([]timeline.Message, []timeline.Row) {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: adapters.Plain(newPlain)}, scenario)
	require.NoError(t, err)
	story := timeline.NewStory(tr, nil, i18n.English)
	rows := story.Rows()
	return story.Messages(rows), rows
}

func TestDelayedCommandIsAMessageBetweenTwoRows(t *testing.T) {
	messages, rows := messagesOf(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Delay(2 * time.Second)
		a.Lock()
	})
	require.Len(t, messages, 1)
	m := messages[0]
	require.Contains(t, rows[m.Sent].Says, "A sends SET K")
	require.Contains(t, rows[m.Executed].Says, "of A arrives")
	require.Equal(t, m.Executed, m.Read)
	require.Equal(t, -1, m.Lost)
}

func TestLostCommandIsNotExecuted(t *testing.T) {
	messages, rows := messagesOf(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Drop()
		a.Lock()
	})
	require.Len(t, messages, 1)
	require.Equal(t, -1, messages[0].Executed)
	require.Contains(t, rows[messages[0].Lost].Says, "the command is lost")
}

func TestCommandOfAPausedProcessHasNotLeft(t *testing.T) {
	messages, _ := messagesOf(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Named("SET")).Freeze()
		lock := a.StartLock()
		w.Sleep(time.Second)
		a.Thaw()
		lock.Wait()
	})
	require.Len(t, messages, 1)
	require.Equal(t, messages[0].Executed, messages[0].Sent)
}
