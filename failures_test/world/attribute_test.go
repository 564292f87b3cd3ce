package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// delegating is a lock that sends each command from a new goroutine.
type delegating struct{ *lock }

func newDelegating(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &delegating{&lock{rdb, "lock:" + name, lease}}, nil
}

func (d *delegating) TryLock(ctx context.Context) (held bool, err error) {
	done := make(chan struct{})
	go func() {
		held, err = d.lock.TryLock(ctx)
		close(done)
	}()
	<-done
	return held, err
}

// A goroutine that a call has started sends for that call, whatever the config says of its command.
func TestCommandOfAStartedGoroutineIsNotAttributedToAnOlderCall(t *testing.T) {
	for name, attributeTo := range map[string]world.AttributeTo{
		"no attribution":      nil,
		"to any client":       func([]string) (string, bool) { return "", true },
		"to another client":   func([]string) (string, bool) { return "A", true },
		"of no other command": func(args []string) (string, bool) { return "", args[0] == "DEL" },
	} {
		t.Run(name, func(t *testing.T) {
			tr := runWith(t, world.Config{New: adapters.Plain(newDelegating), AttributeTo: attributeTo}, func(w *world.World) {
				a := w.Client("A")
				g := a.Goroutine("G")
				a.Before(world.Any).Delay(time.Second)
				a.StartTryLock()
				g.TryLock()
				w.Sleep(2 * time.Second)
			})
			sets := events(tr, trace.Executed)
			require.Equal(t, []string{"G", "A"}, []string{sets[0].Client, sets[1].Client})
			require.False(t, sets[0].Background || sets[1].Background)
		})
	}
}

// queued is a lock whose constructor starts the goroutine that sends all its commands.
type queued struct {
	*lock
	tries chan func()
}

func newQueued(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	q := &queued{&lock{rdb, "lock:" + name, lease}, make(chan func())}
	go func() {
		for try := range q.tries {
			try()
		}
	}()
	return q, nil
}

func (q *queued) TryLock(ctx context.Context) (held bool, err error) {
	done := make(chan struct{})
	q.tries <- func() {
		held, err = q.lock.TryLock(ctx)
		close(done)
	}
	<-done
	return held, err
}

func (q *queued) Close() error {
	close(q.tries)
	return nil
}

func TestAttributedCommandBelongsToItsCall(t *testing.T) {
	story := func(w *world.World) { w.Client("A").Goroutine("G").TryLock() }
	for name, c := range map[string]struct {
		attributeTo world.AttributeTo
		client      string
		background  bool
	}{
		"no attribution":        {nil, "A", true},
		"to any client":         {func([]string) (string, bool) { return "", true }, "G", false},
		"to the calling client": {func(args []string) (string, bool) { return "G", args[0] == "SET" }, "G", false},
		"to another client":     {func([]string) (string, bool) { return "A", true }, "A", true},
		"of another command":    {func(args []string) (string, bool) { return "", args[0] == "DEL" }, "A", true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := runWith(t, world.Config{New: adapters.Plain(newQueued), AttributeTo: c.attributeTo}, story)
			set := events(tr, trace.Executed)[0]
			require.Equal(t, c.client, set.Client)
			require.Equal(t, c.background, set.Background)
			require.Equal(t, c.background, set.Call == 0)
		})
	}
}

// lingering is a lock whose goroutine outlives the call that started it and sends another command.
type lingering struct{ *lock }

func newLingering(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &lingering{&lock{rdb, "lock:" + name, lease}}, nil
}

func (l *lingering) TryLock(ctx context.Context) (held bool, err error) {
	done := make(chan struct{})
	go func() {
		held, err = l.lock.TryLock(ctx)
		close(done)
		time.Sleep(l.lease / 3)
		l.rdb.Get(context.Background(), l.key)
	}()
	<-done
	return held, err
}

func TestCommandsOfAStartedGoroutineBelongToTheCallUntilItReturns(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newLingering)}, func(w *world.World) {
		w.Client("A").Goroutine("G").TryLock()
		w.Sleep(w.Lease / 2)
	})
	executed := events(tr, trace.Executed)
	require.Equal(t, "G", executed[0].Client)
	require.False(t, executed[0].Background)
	require.Equal(t, "GET", executed[1].Command[0])
	require.True(t, executed[1].Background)
}

func TestSourceLineSkipsConfiguredFrames(t *testing.T) {
	story := func(w *world.World) { w.Client("A").TryLock() }
	source := func(skipFrames ...string) trace.Source {
		tr := runWith(t, world.Config{New: adapters.Plain(newDelegating), SkipFrames: skipFrames}, story)
		return *events(tr, trace.Executed)[0].Source
	}
	require.Equal(t, "world/lock_test.go", source().File)
	require.Equal(t, "TryLock", source().Function)
	require.Equal(t, "world/attribute_test.go", source("lockkata/failures_test/world_test.(*lock)").File)
}

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

// BenchmarkShortRun measures a whole run: two clients call TryLock, the holder inserts an order and
// unlocks.
func BenchmarkShortRun(b *testing.B) {
	for name, newLocker := range map[string]world.Constructor{"plain": adapters.Plain(newLock), "script": adapters.Plain(newScripted)} {
		b.Run(name, func(b *testing.B) {
			config := world.Config{New: newLocker}
			b.ReportAllocs()
			run := func(t *testing.T) {
				_, config.Scripts, _ = world.Discover(t, config)
				b.ResetTimer()
				for range b.N {
					if _, err := world.Run(t, config, shortRun); err != nil {
						b.Fatal(err)
					}
				}
			}
			testing.RunTests(everything, []testing.InternalTest{{Name: b.Name(), F: run}})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

func shortRun(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	for _, c := range []*world.Client{a, b} {
		if c.TryLock().Held() {
			c.Insert("book")
		}
	}
	a.Unlock()
}

func everything(string, string) (bool, error) { return true, nil }
