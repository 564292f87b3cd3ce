package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// story is a scenario whose fault has not yet struck when Begin stops it.
func story(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	a.Before(world.Of(trace.OpUnlock, world.Any)).Freeze()
	b.Cut()
	a.Unlock()
	w.Sleep(time.Minute)
}

func TestBeginStopsAfterTheGivenNumberOfEvents(t *testing.T) {
	whole := run(t, story)
	for events := 1; events <= len(whole.Events); events++ {
		var left int
		begun := run(t, func(w *world.World) {
			w.Begin(story, events)
			left = len(w.Trace().Events)
		})
		require.GreaterOrEqual(t, left, events)
		require.Equal(t, whole.Events[:events], begun.Events[:events], "the same events so far")
		require.Empty(t, begun.Missed, "a fault that had no time to strike is not missed")
	}
}

func TestFaultsDoNotStrikeAfterBegin(t *testing.T) {
	tr := run(t, func(w *world.World) {
		w.Begin(story, 4)
		actors := w.Actors()
		require.Equal(t, "A", actors[0].Name)
		require.Equal(t, trace.OpLock, actors[0].LastCall().Op)
		actors[0].Unlock()
	})
	require.Empty(t, events(tr, trace.Frozen))
	require.Len(t, events(tr, trace.Executed), 2)
}

func TestChoiceRestoresTheNetwork(t *testing.T) {
	tokens := func(w *world.World) (all []string) {
		for _, c := range w.Choices(time.Hour) {
			all = append(all, c.Token)
		}
		return all
	}
	run(t, func(w *world.World) {
		a := w.Client("A")
		a.StartLock()
		w.RunUntilIdle()
		require.Contains(t, tokens(w), "a")
		require.NotContains(t, tokens(w), "ha")
		a.Cut()
		require.NotContains(t, tokens(w), "a")
		require.Contains(t, tokens(w), "ha")
		for _, c := range w.Choices(time.Hour) {
			if c.Token == "ha" {
				c.Take()
			}
		}
		require.NotContains(t, tokens(w), "ha")
	})
}
