//go:build !unix

package main

import "time"

// monotonic is only here to build: this system has no signal that stops a process
// either, and soak says so.
func monotonic() time.Duration { return time.Duration(time.Now().UnixNano()) }
