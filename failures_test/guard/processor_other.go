//go:build !unix

package guard

import "time"

var started = time.Now()

// processorTime returns the real time since the process began.
func processorTime() time.Duration { return time.Since(started) }
