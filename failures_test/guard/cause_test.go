package guard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

func TestHolderOfAMutexIsNamedOnlyIfItIsKnown(t *testing.T) {
	waits := world.Goroutine{State: "sync.Mutex.Lock", Function: "renew", Line: "mylock/watchdog.go:72"}
	asks := world.Goroutine{State: "select", Function: "Lock", Line: "mylock/mutex.go:50", InRedis: true}
	idle := world.Goroutine{State: "select", Function: "renew", Line: "mylock/watchdog.go:60"}
	library := world.Goroutine{State: "select", Function: "eval", Line: "redsync/mutex.go:262", InRedis: true}
	unlocks := world.Goroutine{State: "chan receive", Function: "stop", Line: "mylock/watchdog.go:51"}
	for _, c := range []struct {
		others, libraries []world.Goroutine
		says              string
	}{
		{[]world.Goroutine{idle}, nil, "renew waits at mylock/watchdog.go:72 for a sync.Mutex: a context cannot end that wait."},
		{[]world.Goroutine{idle, asks}, nil, "renew waits at mylock/watchdog.go:72 for a sync.Mutex that another call holds while it waits for Redis at mylock/mutex.go:50. No time can pass here in the meantime; and a context cannot end such a wait."},
		{[]world.Goroutine{asks, unlocks}, nil, "renew waits at mylock/watchdog.go:72 for a sync.Mutex, and stop waits at mylock/watchdog.go:51 (chan receive): each may have what the other needs."},
		{[]world.Goroutine{unlocks}, []world.Goroutine{library}, "renew waits at mylock/watchdog.go:72 for a sync.Mutex that another call holds while it waits for Redis at redsync/mutex.go:262. No time can pass here in the meantime; and a context cannot end such a wait."},
	} {
		ofLock := append(c.others, waits)
		require.Equal(t, c.says, mutexHeld(waits, ofLock, append(c.libraries, ofLock...)).Text.Error())
	}
}

func TestMissingMethodIsTheLearnersToWrite(t *testing.T) {
	c := (&Guard{}).CauseOf(world.MissingError{Client: "B", Method: "ForceUnlock(ctx) (bool, error)"})
	requireCause(t, c, Lacks, `^This method is yours to write: ForceUnlock\(ctx\) \(bool, error\)\.$`)
}
