package timeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// messagesOf returns the messages of a scenario's run, and the rows between which they are.
func messagesOf(t *testing.T, scenario func(*world.World)) ([]timeline.Message, []timeline.Row) {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: newPlain}, scenario)
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
