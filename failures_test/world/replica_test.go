package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

func runReplicated(t *testing.T, scenario func(*world.World)) *trace.Trace {
	t.Helper()
	return runWith(t, world.Config{New: adapters.Plain(newLock), Replicas: 2}, scenario)
}

// do sends a command of a client and waits for its end.
func do(c *world.Client, args ...any) { c.StartRun(args...).Wait() }

// copies returns which servers have the key after an event.
func copies(e trace.Event) (servers []string) {
	for _, k := range e.Copies {
		servers = append(servers, k.Server)
	}
	return servers
}

// waits returns the answers to WAIT, with the times at which they came.
func waits(tr *trace.Trace) (answers []string, at []time.Duration) {
	for _, e := range events(tr, trace.Executed) {
		if e.Command[0] == "WAIT" {
			answers, at = append(answers, e.Reply), append(at, e.At)
		}
	}
	return answers, at
}

func TestWritesTravelToReplicas(t *testing.T) {
	tr := runReplicated(t, func(w *world.World) {
		a := w.Client("A")
		w.Replica(3).Delay(2 * time.Second)
		a.TryLock()
		w.Sleep(3 * time.Second)
		w.Replica(3).Cut()
		a.Unlock()
		w.Replica(3).Heal()
		w.Sleep(3 * time.Second)
	})
	require.Equal(t, []string{"R1", "R2", "R3"}, tr.Replicated)
	require.Empty(t, tr.Servers)
	executed, copied := events(tr, trace.Executed), events(tr, trace.Arrived)
	require.Equal(t, []string{"R1"}, copies(executed[0]), "the reply does not wait")
	require.Equal(t, []string{"R2"}, copied[0].Replicas)
	require.Equal(t, []string{"R3"}, copied[1].Replicas)
	require.Equal(t, 2*time.Second, copied[1].At)
	require.Equal(t, []string{"R2", "R3"}, copies(executed[1]))
	require.Empty(t, executed[1].Keys, "the rules see the master only")
	require.Equal(t, []string{"R3"}, copies(copied[2]), "the write that its link lost has not reached R3")
	require.Empty(t, copies(copied[3]), "repaired, it gets what it lacked")
	require.Equal(t, 5*time.Second, copied[3].At, "no faster than before")
}

func TestReplicaTakesOverWithWhatItHas(t *testing.T) {
	for n, want := range map[int]bool{2: false, 3: true} {
		tr := runReplicated(t, func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			do(a, "HSET", "hash", "field", "1")
			do(a, "RPUSH", "list", "a", "b")
			do(a, "SADD", "set", "a")
			do(a, "ZADD", "zset", "1", "a")
			w.Replica(2).Cut()
			a.TryLock()
			w.Sleep(10 * time.Second)
			w.Replica(n).Promote()
			require.Equal(t, want, !b.TryLock().Held())
			for _, key := range []string{"hash", "list", "set", "zset"} {
				do(b, "TYPE", key)
			}
			w.Sleep(w.Lease)
			require.True(t, b.TryLock().Held())
		})
		promoted := events(tr, trace.Server)[1]
		require.Equal(t, trace.Promoted, promoted.Fault)
		require.Equal(t, !want, promoted.Effects.Include(trace.Removed))
		expired := events(tr, trace.Expired)[0]
		require.Equal(t, want, expired.At == 30*time.Second, "a copy has the lease of the original")
		var types []string
		for _, e := range events(tr, trace.Executed) {
			if e.Command[0] == "TYPE" {
				types = append(types, e.Reply)
			}
		}
		require.Equal(t, []string{"hash", "list", "set", "zset"}, types)
	}
}

func TestDeletedKeyComesBackWithItsOwner(t *testing.T) {
	tr := runReplicated(t, func(w *world.World) {
		a := w.Client("A")
		a.TryLock()
		w.Replica(2).Delay(time.Second)
		a.Unlock()
		w.Replica(2).Promote()
	})
	back := events(tr, trace.Server)[1].Effects
	require.Len(t, back, 1)
	require.Equal(t, trace.Installed, back[0].Kind)
	require.Equal(t, "A1", back[0].Owner.Label)
}

func TestWaitIsAnsweredFromWhatHasArrived(t *testing.T) {
	tr := runReplicated(t, func(w *world.World) {
		a := w.Client("A")
		do(a, "SET", "lock", "1")
		do(a, "WAIT", "2", "1000")
		w.Replica(2).Delay(500*time.Millisecond + time.Nanosecond) // the world counts microseconds
		w.Replica(3).Delay(2 * time.Second)
		do(a, "SET", "lock", "2")
		do(a, "WAIT", "1", "1000") // at 0.5 s
		do(a, "WAIT", "2", "1000") // until 1.5 s
		do(a, "WAIT", "2", "0")    // without end
		w.Replica(2).Cut()
		w.Replica(3).Cut()
		do(a, "SET", "lock", "3")
		do(a, "WAIT", "1", "100")
	})
	answers, at := waits(tr)
	require.Equal(t, []string{"2", "1", "1", "2", "0"}, answers)
	require.Equal(t, []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second, 2100 * time.Millisecond}, at)
	answers, at = waits(run(t, func(w *world.World) { do(w.Client("A"), "WAIT", "1", "1000") }))
	require.Equal(t, []string{"0"}, answers, "there is no replica")
	require.Equal(t, []time.Duration{time.Second}, at)
}

// Redis counts up to the last command of the connection. A connection that has sent none since the write
// gets an answer about older writes.
func TestWaitCountsTheWritesOfItsConnection(t *testing.T) {
	tr := runReplicated(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		do(a, "PING")
		w.Replica(2).Cut()
		w.Replica(3).Cut()
		do(b, "SET", "lock", "1")
		do(a, "WAIT", "2", "1000")
		do(a, "GET", "lock")
		do(a, "WAIT", "2", "1000")
		do(b, "MULTI")
		do(b, "WAIT", "2", "1000")
		do(b, "EXEC")
	})
	answers, at := waits(tr)
	require.Equal(t, []string{"2", "0", "QUEUED"}, answers)
	require.Equal(t, []time.Duration{0, time.Second, time.Second}, at, "in a transaction it does not wait")
	executed := events(tr, trace.Executed)
	require.Equal(t, "[0]", executed[len(executed)-1].Reply)
}

func TestWaitOfADeadProcessIsNotAnswered(t *testing.T) {
	tr := runReplicated(t, func(w *world.World) {
		a := w.Client("A")
		w.Replica(2).Delay(time.Second)
		w.Replica(3).Delay(time.Second)
		do(a, "SET", "lock", "1")
		a.StartRun("WAIT", "1", "5000")
		a.Crash()
		w.Sleep(10 * time.Second)
	})
	answers, _ := waits(tr)
	require.Empty(t, answers)
}
