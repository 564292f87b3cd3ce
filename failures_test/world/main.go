package world

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// Main lets an ordinary program run worlds: a bubble needs a *testing.T, which only the testing
// package makes. It calls run with the program's arguments and exits with the status that run
// returns.
func Main(run func(t *testing.T, args []string) int) {
	args := os.Args[1:]
	os.Args = os.Args[:1] // the testing package would read them as its flags
	all := func(string, string) (bool, error) { return true, nil }
	program := func(t *testing.T) { os.Exit(run(t, args)) }
	testing.Main(all, []testing.InternalTest{{Name: "main", F: program}}, nil, nil)
}

// TuneForBatch sets GOMAXPROCS(1) and a lazy garbage collector for many short runs, in which
// one goroutine moves at a time. The returned function restores what was set before.
func TuneForBatch() (back func()) {
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(400)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
	}
}
