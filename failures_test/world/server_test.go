package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// A lock that takes nanoseconds for seconds: Redis counts nine centuries, and so has the judge to.
func TestLeaseOfCenturiesIsNotOver(t *testing.T) {
	const inScript, setInScript = "return redis.call('EXPIRE', KEYS[1], ARGV[1])", "return redis.call('SET', KEYS[1], '1', 'EX', ARGV[1])"
	const seconds = int64(30 * time.Second)
	for _, lease := range [][]any{
		{"EXPIRE", "k", seconds}, {"EVAL", inScript, 1, "k", seconds},
		{"SET", "k", "1", "EX", seconds}, {"EVAL", setInScript, 1, "k", seconds}, {"SETEX", "k", seconds, "1"},
	} {
		trace := runWith(t, world.Config{New: newLock}, func(w *world.World) {
			a := w.Client("A")
			a.StartRun("SET", "k", "1").Wait()
			a.StartRun(lease...).Wait()
			w.Sleep(time.Minute)
			a.StartRun("EXISTS", "k").Wait()
		})
		executed := events(trace, world.Executed)
		require.Contains(t, executed[len(executed)-1].Reply, "1", "%v", lease)
	}
}

// GETEX reads the owner and renews the lease in one command: whoever has the key, gets the lease.
func TestGetexReadsAndGivesALease(t *testing.T) {
	trace := runWith(t, world.Config{New: newLock}, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Client("B").StartRun("GETEX", w.Trace().LockKey(), "PX", 1000).Wait()
	})
	executed := events(trace, world.Executed)
	require.Equal(t, world.Leased, executed[len(executed)-1].Effects[0].Kind)
}
