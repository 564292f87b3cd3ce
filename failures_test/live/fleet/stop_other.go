//go:build !unix

package fleet

import "os"

// There are no signals that stop and continue a process.
var stop, goOn os.Signal
