package world_test

import (
	"testing"
	"time"

	"lockkata/failures_test/world"
)

// One step is: a command is executed, its reply delivered, the client comes to
// rest. Time is taken outside the bubble: inside, it stands still.

func BenchmarkPlainCommand(b *testing.B) { benchmarkSteps(b, world.Config{New: newLock}) }

func BenchmarkScript(b *testing.B) { benchmarkSteps(b, world.Config{New: newScripted}) }

func benchmarkSteps(b *testing.B, config world.Config) {
	inBubble(b, config, func(w *world.World) {
		a := w.Client("A")
		for range b.N/2 + 1 {
			a.TryLock()
			a.Unlock()
		}
	})
}

// BenchmarkHeldHour holds a lock for a simulated hour, renewed every ten seconds.
func BenchmarkHeldHour(b *testing.B) {
	for range b.N {
		inBubble(b, world.Config{New: newScripted}, func(w *world.World) {
			a := w.Client("A")
			a.TryLock()
			w.Sleep(time.Hour)
			a.Unlock()
		})
	}
}

// BenchmarkShortRun is a whole world each time: two clients make an attempt each,
// the holder inserts an order and frees the lock.
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

func inBubble(b *testing.B, config world.Config, scenario func(*world.World)) {
	b.ReportAllocs()
	run := func(t *testing.T) {
		if _, err := world.Run(t, config, scenario); err != nil {
			b.Error(err)
		}
	}
	testing.RunTests(everything, []testing.InternalTest{{Name: b.Name(), F: run}})
}

func everything(string, string) (bool, error) { return true, nil }
