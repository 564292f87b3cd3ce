package world_test

import (
	"testing"

	"lockkata/failures_test/world"
)

// BenchmarkShortRun measures a whole run: two clients call TryLock, the holder inserts an order and
// unlocks.
func BenchmarkShortRun(b *testing.B) {
	for name, newLocker := range map[string]world.Constructor{"plain": newLock, "script": newScripted} {
		b.Run(name, func(b *testing.B) {
			config := world.Config{New: newLocker}
			b.ReportAllocs()
			run := func(t *testing.T) {
				_, config.Scripts, _ = world.Discover(t, config)
				b.ResetTimer()
				for range b.N {
					if _, err := world.Run(t, config, shortRun); err != nil {
						b.Fatal(err)
					}
				}
			}
			testing.RunTests(everything, []testing.InternalTest{{Name: b.Name(), F: run}})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

func shortRun(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	for _, c := range []*world.Client{a, b} {
		if c.TryLock().Held() {
			c.Insert("book")
		}
	}
	a.Unlock()
}

func everything(string, string) (bool, error) { return true, nil }
