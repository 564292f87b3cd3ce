//go:build unix

package guard

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that the process has taken.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic("guard: " + err.Error()) // this question is always answered
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
