package oracle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

func TestRefusedLockHasToWait(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 5 * time.Second} {
		s := newStory().holds("A", "A1").call("B", trace.OpLock).pass(after).does("B").returns("B", refused)
		require.True(t, s.breaks(oracle.Waiting), after)
	}
	again := newStory().holds("B", "B1").frees("B", "B1").holds("A", "A1").call("B", trace.OpLock).does("B").returns("B", refused)
	require.True(t, again.breaks(oracle.Waiting), "it has given back what it took")
	for name, s := range map[string]*story{
		"TryLock":                         newStory().holds("A", "A1").call("B", trace.OpTryLock).does("B").returns("B", refused),
		"its context had ended":           newStory().holds("A", "A1").call("B", trace.OpLock).sends(trace.Cancelled, "B", "").returns("B", refused),
		"the lock is free":                newStory().call("B", trace.OpLock).does("B").returns("B", refused),
		"the holder asks again":           newStory().holds("A", "A1").call("A", trace.OpLock).does("A").returns("A", refused),
		"an error of the network":         newStory().holds("A", "A1").call("B", trace.OpLock).does("B").happens(trace.Dropped, "B").returns("B", unknown),
		"it has lost the lock, to others": newStory().holds("B", "B1").happens(trace.Lost, "B").holds("A", "A1").call("B", trace.OpLock).returns("B", refused),
	} {
		t.Run(name, func(t *testing.T) { require.False(t, s.breaks(oracle.Waiting)) })
	}
}

func TestAcquireEndsSoonAfterItsContext(t *testing.T) {
	waits := func() *story {
		s := newStory().holds("A", "A1").call("B", trace.OpLock)
		s.trace.Events[len(s.trace.Events)-1].Bound = 5 * time.Second
		return s
	}
	for after, wrong := range map[time.Duration]bool{5 * time.Second: false, 5500 * time.Millisecond: false, 6 * time.Second: true} {
		require.Equal(t, wrong, waits().pass(after).returns("B", unknown).breaks(oracle.Context), after)
	}
	require.True(t, waits().pass(time.Minute).happens(trace.Slept, "").breaks(oracle.Context), "it is still under way")
	short := waits()
	short.trace.Lease = 300 * time.Millisecond
	require.False(t, short.pass(5500*time.Millisecond).returns("B", unknown).breaks(oracle.Context), "a pause does not know of a short lease")
	cancelled := newStory().call("B", trace.OpLock).sends(trace.Cancelled, "B", "").pass(time.Minute)
	require.True(t, cancelled.returns("B", unknown).breaks(oracle.Context))
	cut := waits().sends(trace.Sent, "B", "DO").happens(trace.Cut, "B").pass(time.Minute)
	require.True(t, cut.returns("B", unknown).breaks(oracle.Context), "no reply can arrive")
	for name, s := range map[string]*story{
		"it is paused":          waits().happens(trace.Frozen, "B").pass(time.Minute).happens(trace.Thawed, "B").returns("B", unknown),
		"a reply is on its way": waits().sends(trace.Sent, "B", "DO").pass(time.Minute).sends(trace.Delivered, "B", "DO").returns("B", unknown),
		"it had returned":       newStory().call("B", trace.OpLock).returns("B", held).sends(trace.Cancelled, "B", trace.OpLock).pass(time.Minute).happens(trace.Slept, ""),
		"no end was asked for":  newStory().holds("A", "A1").call("B", trace.OpLock).pass(time.Hour).returns("B", unknown),
	} {
		t.Run(name, func(t *testing.T) { require.False(t, s.breaks(oracle.Context)) })
	}
}

func TestTryLockDoesNotWaitAndUnlockReturns(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{time.Second / 2: false, time.Second: true} {
		for _, client := range []string{"A", "B"} { // A asks behind another goroutine of its process
			s := newStory().holds("A", "A1").call(client, trace.OpTryLock).pass(after).returns(client, refused)
			require.Equal(t, wrong, s.breaks(oracle.Waiting), "%s after %v", client, after)
		}
	}
	for _, op := range []string{trace.OpTryLock, trace.OpUnlock} {
		for _, cut := range []bool{true, false} {
			s := newStory().call("B", op)
			if cut {
				s.happens(trace.Cut, "B")
			}
			s.pass(5 * time.Minute).add(trace.Event{Kind: trace.Blocked, Client: "B", Process: "B", Call: s.open["B"], Op: op, Bound: 5 * time.Minute})
			require.Equal(t, !cut, s.breaks(oracle.Waiting), "it never returns")
		}
	}
}

func TestLockDoesNotGiveUp(t *testing.T) {
	require.True(t, newStory().holds("A", "A1").call("B", trace.OpLock).does("B").pass(5*time.Second).returns("B", unknown).breaks(oracle.Waiting))
}

func TestRefusedTryLockReturnsNoError(t *testing.T) {
	tries := func() *story { return newStory().holds("A", "A1").call("B", trace.OpTryLock) }
	require.True(t, tries().does("B").returns("B", unknown).breaks(oracle.Waiting))
	short, full := tries(), tries().does("B")
	short.trace.Events[len(short.trace.Events)-1].Bound = time.Second
	full.trace.Events[len(full.trace.Events)-1].Reply = "(error) OOM"
	for name, s := range map[string]*story{
		"its command was lost":  tries().happens(trace.Dropped, "B").returns("B", unknown),
		"something is late":     tries().happens(trace.Delayed, "B").returns("B", unknown),
		"it took too long":      tries().pass(time.Minute).returns("B", unknown),
		"its context had ended": tries().sends(trace.Cancelled, "B", "").returns("B", unknown),
		"its network was gone":  tries().happens(trace.Cut, "B").returns("B", unknown),
		"Redis restarted":       tries().happens(trace.Server, "").returns("B", unknown),
		"its time was short":    short.returns("B", unknown),
		"Redis answered so":     full.returns("B", unknown),
		"the lock is free":      newStory().call("B", trace.OpTryLock).does("B").returns("B", unknown),
	} {
		t.Run(name, func(t *testing.T) { require.False(t, fails(s)) })
	}
}

// fails reports whether a TryLock is reported for an error instead of false.
func fails(s *story) bool {
	return slices.ContainsFunc(oracle.Ask(&s.trace, oracle.Waiting), func(f oracle.Finding) bool { return strings.Contains(f.Text, "fails with") })
}

func TestWaiterReturnsWithoutTheLockAfterClose(t *testing.T) {
	during := func(op, process string) *story {
		return newStory().call("B", op).call("A", trace.OpClose).in(process).returns("A", done).in(process)
	}
	closes := func() *story { return during(trace.OpLock, "B") }
	for after, wrong := range map[time.Duration]bool{0: false, 2 * time.Second: true} {
		require.Equal(t, wrong, closes().pass(after).returns("B", refused).breaks(oracle.Context), after)
	}
	for _, other := range []*story{during(trace.OpLock, "A"), during(trace.OpUnlock, "B")} {
		require.False(t, other.pass(2*time.Second).returns("B", refused).breaks(oracle.Context), "another process, or no Lock")
	}
	require.True(t, closes().installs("B", "B1").returns("B", held).breaks(oracle.Context), "it gets the lock")
	later := closes().returns("B", refused).call("B", trace.OpLock).installs("B", "B1").returns("B", held)
	require.False(t, later.breaks(oracle.Context), "it was asked for afterwards")
}
