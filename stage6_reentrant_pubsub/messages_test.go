package stage6

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// withIdleNames returns a service that has waited for that many names a moment ago, and the lock of
// the last one.
func withIdleNames(tb testing.TB, names int) (*Service, *Mutex) {
	tb.Helper()
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true}) // it never connects
	s, err := NewService(rdb)
	require.NoError(tb, err)
	tb.Cleanup(func() { _, _ = s.Close(), rdb.Close() })
	var m *Mutex
	for i := range names {
		m, err = s.Mutex(fmt.Sprint("order:", i))
		require.NoError(tb, err)
		q, _ := s.enter(m)
		q.waiting, s.channels[m.channel] = 0, []*waitQueue{q}
	}
	return s, m
}

func TestNothingIsKeptOfIdleNames(t *testing.T) {
	s, _ := withIdleNames(t, 3)
	for _, q := range slices.Collect(maps.Values(s.queues)) {
		s.tick(q)
	}
	require.Empty(t, s.queues)
	require.Empty(t, s.channels)
}
