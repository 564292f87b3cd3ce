package guard

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// brief is less than the period, so that the guard ends a run after one period without a command.
const brief = period * 4 / 5

// guarded guards a run in a bubble. release lets the run end when the guard has returned the cause.
func guarded(t *testing.T, limit, wall time.Duration, run, release func()) *Cause {
	t.Helper()
	g := Guard{Path: "lockkata/failures_test/guard", Limit: limit, Wall: wall}
	ended := make(chan struct{})
	cause := g.Run(func() {
		defer close(ended)
		synctest.Test(t, func(*testing.T) { run() })
	})
	release()
	<-ended
	return cause
}

// requireCause requires a cause of that kind whose text matches.
func requireCause(t *testing.T, c *Cause, kind any, says string) {
	t.Helper()
	require.NotNil(t, c)
	require.Equal(t, kind, c.Kind, c.Text.Error())
	require.Regexp(t, says, c.Text.Error())
}

func TestRunThatEndsHasNoCause(t *testing.T) {
	require.Nil(t, guarded(t, brief, Wall, func() {}, func() {}))
}

func TestEndlessLoop(t *testing.T) {
	var stop atomic.Bool
	c := guarded(t, brief, Wall, func() {
		for !stop.Load() {
		}
	}, func() { stop.Store(true) })
	requireCause(t, c, EndlessLoop, `loops without end at guard/guard_test\.go:\d+: it neither waits nor asks Redis\.$`)
}

func TestMutexThatIsNotUnlocked(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	c := guarded(t, brief, Wall, mu.Lock, mu.Unlock)
	requireCause(t, c, BlocksForever, `waits at guard/guard_test\.go:\d+ for a sync\.Mutex: a context cannot end that wait\.$`)
}

func TestConnectionOfItsOwn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := guarded(t, brief, Wall, func() {
		accepted := make(chan struct{})
		go accept(listener, accepted)
		<-accepted
	}, func() { _ = listener.Close() })
	requireCause(t, c, Outside, `^accept waits at guard/guard_test\.go:\d+ for a connection or a file of its own\.`)
}

func TestConnectionOfALibrary(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := guarded(t, brief, Wall, func() {
		client := http.Client{Transport: &http.Transport{}}
		_, _ = client.Get("http://" + listener.Addr().String())
	}, func() { _ = listener.Close() })
	requireCause(t, c, Outside, `waits at guard/guard_test\.go:\d+ for a connection`)
}

func accept(listener net.Listener, accepted chan<- struct{}) {
	_, _ = listener.Accept()
	close(accepted)
}

func TestChannelOfAnEarlierRun(t *testing.T) {
	old := make(chan struct{})
	c := guarded(t, brief, Wall, func() { <-old }, func() { close(old) })
	requireCause(t, c, OldChannel, `waits at guard/guard_test\.go:\d+ for a channel that was made before the run began`)
}

func TestRunThatTheClockEnds(t *testing.T) {
	old, begun := make(chan struct{}), time.Now()
	c := guarded(t, time.Hour, time.Millisecond, func() { <-old }, func() { close(old) })
	requireCause(t, c, TimeUp, `^The run was cut off after 1ms by the clock\. It had taken \S+ of a processor, so this says nothing about your lock\.$`)
	require.True(t, c.IsNotPlayed())
	require.Less(t, time.Since(begun), Wall)
}

func TestRunThatEndedEarlyIsNamedByThat(t *testing.T) {
	g := Guard{Path: "lockkata/failures_test/guard", Limit: brief, Wall: Wall}
	left, ended := make(chan struct{}), make(chan struct{})
	c := g.Run(func() {
		defer close(ended)
		g.Over(world.FloodError{Client: "B", Function: "Lock", Line: "mylock/wait.go:26"})
		<-left
	})
	close(left)
	<-ended
	requireCause(t, c, Floods, `^Lock floods Redis at mylock/wait\.go:26`)
}

func TestLimitOfRealTimeHasADefault(t *testing.T) {
	g := Guard{Limit: brief}
	require.Nil(t, g.look(meter{wall: time.Second}))
	require.Equal(t, TimeUp, g.look(meter{wall: Wall + time.Second}).Kind)
}
