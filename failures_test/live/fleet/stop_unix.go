//go:build unix

package fleet

import (
	"os"
	"syscall"
)

// The signals that stop and continue a process.
var stop, goOn os.Signal = syscall.SIGSTOP, syscall.SIGCONT
