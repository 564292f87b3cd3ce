package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

func TestLeaseMustBeCloseToTheRequestedOne(t *testing.T) {
	for ttl, wrong := range map[time.Duration]bool{
		30 * time.Millisecond: true, 15 * time.Second: true, 25 * time.Second: false, time.Minute: false, 8333 * time.Hour: true, trace.NoTTL: false,
	} {
		s := newStory().call("A", trace.OpLock).installs("A", "A1")
		s.trace.Events[1].Keys[0].TTL = ttl
		require.Equal(t, wrong, s.returns("A", held).breaks(oracle.Lease), ttl)
	}
	s := newStory().holds("A", "A1").call("A", trace.OpUnlock)
	s.keys = []trace.Key{{Name: "k", Owner: s.owner("A", "A1"), TTL: time.Second}}
	s.does("A", trace.Effect{Kind: trace.Leased, Key: "k", Owner: s.owner("A", "A1")})
	require.False(t, s.breaks(oracle.Lease), "an unlock may leave the key for a moment")
}
