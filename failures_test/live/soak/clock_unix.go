//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the machine's monotonic clock: one that all its processes share
// and that nobody sets.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // there is no system without it
	}
	return time.Duration(t.Nano())
}
