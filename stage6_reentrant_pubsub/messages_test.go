package stage6

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

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

// The first number is for one name, the second for ten thousand.
func BenchmarkMessage(b *testing.B) {
	for _, names := range []int{1, 10_000} {
		b.Run(fmt.Sprint(names), func(b *testing.B) {
			s, m := withIdleNames(b, names)
			for b.Loop() {
				_, _ = s.hearOne(s.sub, &redis.Message{Channel: m.channel}, nil)
			}
		})
	}
}

// A message is for one name. The others cost it nothing.
func TestMessageDoesNotVisitIdleNames(t *testing.T) {
	took := func(names int) time.Duration {
		s, m := withIdleNames(t, names)
		began := time.Now()
		for range 1000 {
			_, _ = s.hearOne(s.sub, &redis.Message{Channel: m.channel}, nil)
		}
		return time.Since(began)
	}
	require.Less(t, took(10_000), 100*max(took(1), time.Millisecond))
}

// A queue that is never empty does not count from the beginning again.
func TestPlacesAreCountedPastAnInt32(t *testing.T) {
	s, _ := withIdleNames(t, 0)
	m, err := s.Mutex("order:1001")
	require.NoError(t, err)
	q, _ := s.enter(m)
	q.entered.Store(math.MaxInt32)
	_, place := s.enter(m)
	require.Equal(t, int64(math.MaxInt32)+1, place)
}

func TestNothingIsKeptOfIdleNames(t *testing.T) {
	s, _ := withIdleNames(t, 3)
	for _, q := range slices.Collect(maps.Values(s.queues)) {
		s.tick(q)
	}
	require.Empty(t, s.queues)
	require.Empty(t, s.channels)
}
