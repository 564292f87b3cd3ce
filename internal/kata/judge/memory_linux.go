package judge

import "syscall"

// limitMemory sets a hard limit in the system, so that the machine stays usable even if the guard
// is too slow.
func limitMemory() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 2 * memoryLimit, Max: 2 * memoryLimit})
}
