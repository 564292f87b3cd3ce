package world

import (
	"runtime"
	"runtime/debug"
)

// Economical suits the process to playing many runs, until it is told to go back: of a
// run one goroutine moves at a time, so that a second processor only costs, and little is
// kept of it.
func TuneForBatch() (back func()) {
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(400)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	}
}
