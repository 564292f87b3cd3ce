//go:build live

package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/redisserver"
)

// startServer starts a redis-server that ends with the test.
func startServer(t testing.TB) *redisserver.Server {
	t.Helper()
	return redisserver.ForTest(t, redisserver.Config{Port: redisserver.AnyPort})
}

// pair locks and unlocks.
func pair(ctx context.Context, lock acquire) error {
	h, err := lock(ctx)
	if err != nil {
		return err
	}
	return h.Unlock()
}

func BenchmarkOneGoroutine(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			l := open(b, kind, startServer(b), 0)
			lock, err := l.mutex("order:1001")
			require.NoError(b, err)
			require.NoError(b, pair(b.Context(), lock)) // connects, and loads the scripts
			b.ReportAllocs()
			before := l.trips.Load()
			for b.Loop() {
				if err := pair(b.Context(), lock); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(l.trips.Load()-before)/float64(b.N), "round-trips/op")
		})
	}
}

// Each of the 64 goroutines has its own lock.
func Benchmark64Goroutines(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			l := open(b, kind, startServer(b), 0)
			var names atomic.Int64
			b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
			b.RunParallel(func(pb *testing.PB) {
				lock, err := l.mutex(fmt.Sprintf("order:%d", names.Add(1)))
				for err == nil && pb.Next() {
					err = pair(b.Context(), lock)
				}
				if err != nil {
					b.Error(err)
				}
			})
		})
	}
}

func BenchmarkHandOver(b *testing.B) {
	for _, processes := range []int{1, 2} {
		for _, kind := range kinds {
			b.Run(fmt.Sprintf("processes=%d/%s", processes, kind), func(b *testing.B) {
				c := newCouple(b, kind, processes)
				var took []float64
				for b.Loop() {
					took = append(took, float64(c.handOver(b).Microseconds()))
				}
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2], "median-µs")
				b.ReportMetric(0, "ns/op") // most of it passes before the Unlock
			})
		}
	}
}
