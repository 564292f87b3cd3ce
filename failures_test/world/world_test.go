package world_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

const (
	setLine = "SET lock:order:1001 locked NX PX 30000"
	delLine = "DEL lock:order:1001"
)

func TestTraceHasTheExecutedCommands(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.TryLock()
		a.Unlock()
	})
	require.Equal(t, []string{"A " + setLine, "B " + setLine, "A " + delLine}, executed(tr))
	replies := events(tr, trace.Executed)
	require.Equal(t, "OK", replies[0].Reply)
	require.Equal(t, "(nil)", replies[1].Reply)
	owner := trace.Owner{Label: "A1", Client: "A", Process: "A", Call: 1}
	require.Equal(t, []trace.Key{{
		Name: "lock:order:1001", Type: "string", Entries: []trace.Entry{{Value: "locked", ID: "locked", Owner: owner}},
		Owner: owner, TTL: 30 * time.Second,
	}}, replies[0].Keys)
	require.Empty(t, replies[2].Keys)
}

func TestSameScenarioGivesTheSameBytes(t *testing.T) {
	story := func(w *world.World) {
		a, b, c := w.Clients("A", "B", "C")
		other := a.Goroutine("A'")
		a.Lock()
		waits := []*world.Call{b.StartLock(), c.StartLock(), other.StartLock()}
		a.After(world.Of(trace.OpUnlock, world.Any)).Drop()
		w.Sleep(w.Lease + 50*time.Millisecond)
		a.Unlock()
		b.Freeze()
		w.Sleep(w.Lease)
		b.Thaw()
		for _, call := range waits {
			call.Cancel()
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, config := range []world.Config{
		{New: adapters.Plain(newLock), Client: world.DefaultRetries, Lease: 3 * time.Second},
		{New: adapters.Plain(newScripted), Client: world.DefaultRetries, Lease: 3 * time.Second},
	} {
		first := runWith(t, config, story).Bytes()
		for _, threads := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(threads)
			again := runWith(t, config, story).Bytes()
			require.True(t, bytes.Equal(first, again), "with GOMAXPROCS %d", threads)
		}
	}
}

func TestLeaseEndsOnTheFakeClock(t *testing.T) {
	tr := run(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(time.Minute)
	})
	expired := events(tr, trace.Expired)
	require.Len(t, expired, 1)
	require.Equal(t, 30*time.Second, expired[0].At)
	require.Equal(t, trace.Lapsed, expired[0].Effects[0].Kind)
}

func TestCallIsBlockedAtTheHorizon(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newScripted), Lease: 6 * time.Second}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock()
	})
	blocked := events(tr, trace.Blocked)
	require.Len(t, blocked, 1)
	require.Equal(t, "B", blocked[0].Client)
	require.Equal(t, time.Minute, blocked[0].At)
}

func TestSiblingHasAnObjectOfItsOwnInTheSameProcess(t *testing.T) {
	var shared, own bool
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		g, s := a.Goroutine("G"), a.Sibling("S")
		shared, own = a.Locker() == g.Locker(), a.Locker() != s.Locker()
		a.Lock()
		s.TryLock()
	})
	require.True(t, shared)
	require.True(t, own)
	require.Equal(t, []string{"A " + setLine, "S " + setLine}, executed(tr))
	for _, e := range events(tr, trace.Executed) {
		require.Equal(t, "A", e.Process)
	}
}

func TestDiscoverReturnsTheScriptsOfALock(t *testing.T) {
	_, scripts, err := world.Discover(t, world.Config{New: adapters.Plain(newScripted)})
	require.NoError(t, err)
	require.Len(t, scripts, 3)
	tr := runWith(t, world.Config{New: adapters.Plain(newScripted), Scripts: scripts}, func(w *world.World) {
		a := w.Client("A")
		a.TryLock()
		a.Unlock()
	})
	require.Equal(t, []string{"A EVALSHA take 1 lock:order:1001 30000", "A EVALSHA free 1 lock:order:1001"}, executed(tr))
}

func TestPanicOfALockIsAResult(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newPanicky)}, func(w *world.World) { w.Client("A").Lock() })
	require.Equal(t, trace.Result{Error: "panic: no idea", Claim: trace.ClaimPanic}, result(t, tr, "A"))
	require.Equal(t, "Lock", tr.Events[len(tr.Events)-1].Source.Function)
	tr = runWith(t, world.Config{New: adapters.Plain(newPanicky)}, func(w *world.World) { w.Client("A").TryLock() })
	require.Equal(t, "TryLock", tr.Events[len(tr.Events)-1].Source.Function, "not the line of package strings")
}

type panicky struct{ lock }

func newPanicky(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return &panicky{}, nil
}

func (*panicky) Lock(context.Context) error { panic("no idea") }

func (*panicky) TryLock(context.Context) (bool, error) {
	return strings.Repeat("no idea", -1) == "", nil
}

func TestInvalidScenarioIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		scenario func(*world.World)
		says     string
	}{
		"two clients of one name": {func(w *world.World) { w.Client("A"); w.Client("A") }, "already a client named A"},
		"panic":                   {func(*world.World) { panic("oops") }, "the scenario panicked: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := world.Run(t, world.Config{New: adapters.Plain(newLock)}, c.scenario)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestConstructorErrorEndsTheRun(t *testing.T) {
	refuse := func(redis.UniversalClient, string, time.Duration) (world.Locker, error) {
		return nil, fmt.Errorf("lease is too short")
	}
	_, err := world.Run(t, world.Config{New: adapters.Plain(refuse)}, func(w *world.World) { w.Client("A") })
	require.ErrorContains(t, err, "A gets no lock: lease is too short")
}

// hasty is a lock that polls without a pause and ignores its caller's context.
type hasty struct{ *lock }

func (l hasty) Lock(context.Context) error {
	for {
		if held, err := l.TryLock(context.Background()); held || err != nil {
			return err
		}
	}
}

func TestLockThatFloodsRedisEndsItsRun(t *testing.T) {
	_, err := world.Run(t, world.Config{New: adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		return hasty{&lock{rdb, name, lease}}, nil
	})}, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(time.Second))
	})
	require.ErrorContains(t, err, "world: B floods Redis at world/lock_test.go:")
}

func TestBlockingCommandEndsTheRun(t *testing.T) {
	for _, command := range [][]any{{"BLPOP", "list", "0"}, {"XREAD", "BLOCK", "0", "STREAMS", "news", "$"}} {
		_, err := world.Run(t, world.Config{New: adapters.Plain(newLock)}, func(w *world.World) { w.Client("A").StartRun(command...).Wait() })
		require.ErrorContains(t, err, fmt.Sprintf("world: A sends %s at ", command[0]))
		require.ErrorContains(t, err, ": the world cannot play a command that waits in Redis; poll, or wait for a message")
	}
}

func TestScenesOfAPartEndWithIt(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(time.Second)
		a.Unlock()
	})
	called := tr.Scenes()[0]
	require.Same(t, called, tr.Scenes()[0], "the same scene each time")
	part := tr.UpTo(5) // up to the sleep
	end := part.End()
	require.Same(t, part, end.Trace)
	require.Equal(t, part.Events[4].At, end.Until(), "the last event")
	require.Equal(t, 1, end.Holds("A"))
}
