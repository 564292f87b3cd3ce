package world_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

func TestFreezeBeforeACommandKeepsItFromRedis(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Before(world.Named("set")).Freeze()
		lock := a.Lock()
		require.False(t, lock.Over())
		require.True(t, b.TryLock().Held(), "A's command has not been executed")
		b.Unlock()
		a.Thaw()
		require.True(t, lock.Wait().Held())
	})
	require.Equal(t, trace.BeforeCommand, events(tr, trace.Frozen)[0].Moment)
	require.Equal(t, setLine, events(tr, trace.Frozen)[0].Line())
}

func TestFreezeAfterACommandKeepsItsReply(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Freeze()
		lock := a.Lock()
		require.False(t, b.TryLock().Held(), "A's command has been executed")
		require.False(t, lock.Over())
		a.Thaw()
		require.True(t, lock.Wait().Held())
	})
}

func TestDeadlinesPauseWhileAProcessIsFrozen(t *testing.T) {
	// go-redis's read timeout is five seconds. The process is frozen for an hour, and still reads
	// the reply.
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Freeze()
		lock := a.Lock()
		w.Sleep(time.Hour)
		a.Thaw()
		require.True(t, lock.Wait().Held())
	})
	require.Empty(t, result(t, tr, "A").Error)
}

func TestDeadlinesContinueAfterTheThaw(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Delay(time.Hour)
		lock := a.StartLock()
		w.Sleep(time.Second)
		a.Freeze()
		w.Sleep(time.Minute)
		a.Thaw()
		w.Sleep(3900 * time.Millisecond) // 4.9 s of go-redis's 5 s have run
		require.False(t, lock.Over())
		w.Sleep(200 * time.Millisecond)
		require.True(t, lock.Over())
	})
	require.Equal(t, trace.ClaimUnknown, result(t, tr, "A").Claim)
}

func TestFrozenProcessStopsWithAllItsGoroutines(t *testing.T) {
	run(t, func(w *world.World) {
		a := w.Client("A")
		other := a.Goroutine("A'")
		a.Freeze()
		require.False(t, other.TryLock().Over())
		require.False(t, other.Insert("tea").Over())
		a.Thaw()
		w.Sleep(time.Second)
	})
}

func TestCrashedProcessNeverRunsAgain(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newScripted)}, func(w *world.World) {
		a := w.Client("A")
		a.TryLock()
		a.Crash()
		w.Sleep(time.Hour)
		require.False(t, a.Unlock().Over())
	})
	for _, e := range tr.Events {
		if e.At > 0 {
			require.NotContains(t, []trace.Kind{trace.Executed, trace.Returned, trace.Delivered}, e.Kind)
		}
	}
}

func TestDelayedCommandArrivesAfterItsSenderStopped(t *testing.T) {
	for name, stop := range map[string]func(*world.Client){"dead": (*world.Client).Crash, "frozen": (*world.Client).Freeze} {
		for _, late := range []bool{true, false} {
			tr := run(t, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				if late {
					a.Before(world.Write).Delay(2 * time.Second)
					a.StartTryLock()
					stop(a)
				} else {
					stop(a)
					a.StartTryLock()
				}
				w.Sleep(time.Second)
				require.Empty(t, executed(w.Trace()))
				w.Sleep(2 * time.Second)
				require.Equal(t, !late, b.TryLock().Held(), "%s, late: %v", name, late)
			})
			for _, e := range events(tr, trace.Delivered) {
				require.Equal(t, "B", e.Client, "A reads nothing")
			}
		}
	}
}

func TestDroppedReplyBreaksTheConnection(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.TryLock()
		require.False(t, b.TryLock().Held(), "Redis did execute it")
	})
	require.Equal(t, trace.Result{Error: "EOF", Err: io.EOF, Claim: trace.ClaimUnknown}, result(t, tr, "A"))
}

func TestDroppedCommandNeverReachesRedis(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Before(world.Write).Drop()
		a.TryLock()
		require.True(t, b.TryLock().Held())
	})
	require.Equal(t, []string{"B " + setLine}, executed(tr))
}

func TestDefaultClientSendsAgainAfterABrokenConnection(t *testing.T) {
	tr := runWith(t, world.Config{New: adapters.Plain(newLock), Client: world.DefaultRetries}, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Drop()
		a.TryLock()
	})
	require.Equal(t, []string{"A " + setLine, "A " + setLine}, executed(tr))
	require.Equal(t, trace.ClaimRefused, result(t, tr, "A").Claim)
}

func TestDelayedReplyArrivesLate(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Delay(2 * time.Second)
		require.True(t, a.Lock().Held())
	})
	require.Equal(t, 2*time.Second, events(tr, trace.Returned)[0].At)
}

func TestFailedCommandIsNotExecuted(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Write).Always().Fail("READONLY You can't write against a read only replica.")
		a.TryLock()
		a.TryLock()
	})
	require.Empty(t, executed(tr))
	require.Len(t, events(tr, trace.Refused), 2)
	require.Equal(t, trace.ClaimUnknown, result(t, tr, "A").Claim)
}

// A proxy can answer with an error although Redis has executed the command.
func TestErrorReplacesTheReplyOfAnExecutedCommand(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.After(world.Installs).Fail("upstream failure")
		require.False(t, a.TryLock().Held())
		require.False(t, a.TryLock().Held()) // the key exists
	})
	require.Len(t, events(tr, trace.Refused), 1)
	require.Len(t, executed(tr), 2)
	require.Equal(t, "(error) upstream failure", events(tr, trace.Delivered)[0].Reply)
	require.Contains(t, events(tr, trace.Returned)[0].Result.Error, "upstream failure")
}

func TestCutClientTimesOutAndHealedClientContinues(t *testing.T) {
	run(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
		a.Cut()
		for range 2 { // on its connection, and on a new one
			lock := a.TryLock(world.Within(10 * time.Second))
			require.True(t, lock.Over())
			require.False(t, lock.Held())
		}
		a.Heal()
		require.True(t, a.TryLock().Held())
	})
}

// The timers of a frozen process run, but their effects are not visible before the thaw.
func TestCallOfAFrozenProcessReturnsAfterTheThaw(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		b.Lock()
		lock := a.StartLock(world.Within(80 * time.Millisecond))
		w.Sleep(50 * time.Millisecond)
		a.Freeze()
		w.Sleep(time.Second)
		require.False(t, lock.Over())
		a.Thaw()
		require.True(t, lock.Over())
	})
}

func TestCallWithADoneContextSendsNothing(t *testing.T) {
	tr := run(t, func(w *world.World) { w.Client("A").Unlock(world.Done()) })
	require.Empty(t, executed(tr))
	require.Empty(t, events(tr, trace.Cancelled))
	tr = run(t, func(w *world.World) { w.Client("A").TryLock(world.Done()) })
	require.Empty(t, executed(tr))
	require.Len(t, events(tr, trace.Cancelled), 1, "the rules need to know it")
}

func TestServerFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*world.World)
		held  bool // by A, still
	}{
		"eviction":             {(*world.World).Evict, false},
		"flush":                {(*world.World).FlushAll, false},
		"restart":              {(*world.World).Restart, false},
		"failover":             {(*world.World).Failover, false},
		"flush of scripts":     {(*world.World).FlushScripts, true},
		"clock jumps forward":  {func(w *world.World) { w.JumpServerClock(time.Minute) }, false},
		"clock jumps a little": {func(w *world.World) { w.JumpServerClock(time.Second) }, true},
		"clock jumps back":     {func(w *world.World) { w.JumpServerClock(-time.Minute); w.Sleep(time.Minute) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := run(t, func(w *world.World) {
				a, b := w.Client("A"), w.Client("B")
				a.Lock()
				c.fault(w)
				require.Equal(t, c.held, !b.TryLock().Held())
			})
			require.Len(t, events(tr, trace.Server), 1)
		})
	}
}

// A re-entrant lock may keep its count in a key of each owner.
func TestEvictionRemovesTheLockKeyOnly(t *testing.T) {
	const owner = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		a.StartRun("SET", "lock", owner).Wait()
		a.StartRun("SET", "lock:count:"+owner, "1").Wait()
		w.Evict()
	})
	evicted := events(tr, trace.Server)[0]
	require.Equal(t, trace.Evicted, evicted.Fault)
	require.Len(t, evicted.Keys, 1)
	require.Equal(t, "lock:count:"+owner, evicted.Keys[0].Name)
}

func TestOnlyARenewalExtends(t *testing.T) {
	leased := []trace.Effect{{Kind: trace.Leased}}
	require.True(t, world.Extends(world.Command{Background: true, Effects: leased}))
	require.False(t, world.Extends(world.Command{Effects: leased}), "SETNX and PEXPIRE")
	require.False(t, world.Extends(world.Command{Background: true}))
}

func TestHasMatchesAKeyOfTheClientWithALease(t *testing.T) {
	run(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		has := func() []bool { return []bool{a.Has(world.Command{}), b.Has(world.Command{})} }
		require.Equal(t, []bool{false, false}, has())
		a.StartRun("SETNX", "lock:order:1001", "a value").Wait()
		require.Equal(t, []bool{false, false}, has(), "without a lease")
		a.StartRun("PEXPIRE", "lock:order:1001", 30000).Wait()
		require.Equal(t, []bool{true, false}, has())
	})
}

func TestNthMatchesOneCommand(t *testing.T) {
	run(t, func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Nth(3, world.Write)).Fail("ERR the third")
		require.True(t, a.TryLock().Held())
		require.False(t, a.TryLock().Held())
		require.True(t, a.Unlock().Over())
		require.True(t, a.TryLock().Over())
	})
}

func TestCrossesSlotsComparesHashTags(t *testing.T) {
	for command, crosses := range map[string]bool{
		"DEL a": false, "DEL a b": true, "DEL {a}1 {a}2": false, "DEL {} {}x": true, "DEL {a {a": false, "SET a b": false,
		"EVALSHA h 2 {a} {b} {a}": true, "EVALSHA h 2 {a} {a}:token b": false, "EVAL s 1 a b": false, "EVAL": false, "EVAL s 9 a b": true,
	} {
		args := strings.Fields(command)
		require.Equal(t, crosses, world.CrossesSlots(world.Command{Name: args[0], Args: args}), command)
	}
}

func TestRoutedCommandFindsNoKeyOfAnotherSlot(t *testing.T) {
	tr := run(t, func(w *world.World) {
		a := w.Client("A")
		for _, key := range []string{"{a}1", "{a}2", "{b}"} {
			a.StartRun("SET", key, 1).Wait()
		}
		a.Before(world.CrossesSlots).Route()
		for range 2 { // the second time without a fault
			a.StartRun("EXISTS", "{a}1", "{a}2", "{b}").Wait()
		}
	})
	var replies []string
	for _, e := range tr.Events {
		if e.Kind == trace.Executed {
			replies = append(replies, e.Reply)
		}
	}
	require.Equal(t, []string{"OK", "OK", "OK", "2", "3"}, replies)
}

// go-redis sets the read deadline to the end of the call's context.
func TestContextErrorWinsOverTheReadDeadline(t *testing.T) {
	for range 50 {
		tr := runWith(t, world.Config{New: adapters.Plain(newLock), Client: world.DefaultRetries}, func(w *world.World) {
			a := w.Client("A")
			a.After(world.Installs).Delay(time.Minute)
			a.Lock(world.Within(3 * time.Second))
		})
		require.ErrorIs(t, result(t, tr, "A").Err, context.DeadlineExceeded)
	}
}
