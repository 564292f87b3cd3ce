package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

func TestHolderMayGiveUpEarlyWithoutNetworkOrAfterClose(t *testing.T) {
	for _, hindered := range []trace.Kind{trace.Cut, trace.Dropped, trace.Called, ""} {
		s := newStory().call("A", trace.OpLock).sends(trace.Sent, "A", "DO").installs("A", "A1")
		s.trace.Events[2].Request = s.trace.Events[1].Request
		s.sends(trace.Delivered, "A", "DO").returns("A", held).pass(time.Second)
		switch hindered {
		case "":
		case trace.Called:
			s.call("A", trace.OpClose)
		default:
			s.happens(hindered, "A")
		}
		require.Equal(t, hindered == "", s.happens(trace.Lost, "A").breaks(oracle.EarlyLoss), hindered)
	}
}

// Its Unlock has failed, so the holder has stopped its work.
func TestLossReportedAfterUnlockIsNotEarly(t *testing.T) {
	for _, unlocks := range []bool{false, true} {
		s := newStory().call("A", trace.OpLock).sends(trace.Sent, "A", "DO").installs("A", "A1")
		s.trace.Events[2].Request = s.trace.Events[1].Request
		s.sends(trace.Delivered, "A", "DO").returns("A", held)
		if unlocks {
			s.call("A", trace.OpUnlock).returns("A", unknown)
		}
		require.Equal(t, !unlocks, s.pass(time.Second).happens(trace.Lost, "A").breaks(oracle.EarlyLoss))
	}
}

func TestLossMustNotBeReportedWhileMuchOfTheLeaseIsLeft(t *testing.T) {
	for after, wrong := range map[time.Duration]bool{10 * time.Second: true, 20 * time.Second: false} {
		for gone := range map[bool]bool{false: true, true: true} {
			s := newStory().call("A", trace.OpLock).sends(trace.Sent, "A", "DO").installs("A", "A1")
			executed := &s.trace.Events[len(s.trace.Events)-1]
			executed.Request = s.trace.Events[1].Request
			a := executed.Effects[0].Owner
			s.sends(trace.Delivered, "A", "DO").returns("A", held).pass(after)
			if gone {
				s.taken(trace.Server, "", a)
			}
			s.happens(trace.Lost, "A")
			require.Equal(t, wrong && !gone, s.breaks(oracle.EarlyLoss), "%v, its key is gone: %v", after, gone)
		}
	}
}
