package world

import (
	"runtime"
	"runtime/debug"
)

// TuneForBatch sets GOMAXPROCS(1) and a lazy garbage collector for many short runs, in which
// one goroutine moves at a time. The returned function restores what was set before.
func TuneForBatch() (back func()) {
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(400)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	}
}
