package world_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

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

func TestAttributedCommandBelongsToItsCall(t *testing.T) {
	story := func(w *world.World) { w.Client("A").Goroutine("G").TryLock() }
	for name, c := range map[string]struct {
		attributeTo world.AttributeTo
		client      string
		background  bool
	}{
		"no attribution":        {nil, "G", false},
		"to any client":         {func([]string) (string, bool) { return "", true }, "G", false},
		"to the calling client": {func(args []string) (string, bool) { return "G", args[0] == "SET" }, "G", false},
		"to another client":     {func([]string) (string, bool) { return "A", true }, "A", true},
		"of another command":    {func(args []string) (string, bool) { return "", args[0] == "DEL" }, "A", true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := runWith(t, world.Config{New: newDelegating, AttributeTo: c.attributeTo}, story)
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
	tr := runWith(t, world.Config{New: newLingering}, func(w *world.World) {
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
		tr := runWith(t, world.Config{New: newDelegating, SkipFrames: skipFrames}, story)
		return *events(tr, trace.Executed)[0].Source
	}
	require.Equal(t, "world/lock_test.go", source().File)
	require.Equal(t, "TryLock", source().Function)
	require.Equal(t, "world/attribute_test.go", source("lockkata/failures_test/world_test.(*lock)").File)
}
