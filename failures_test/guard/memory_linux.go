package guard

import "syscall"

// LimitMemory sets a hard limit in the system, so that the machine stays usable even if the guard
// is too slow.
func LimitMemory() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 2 * MemoryLimit, Max: 2 * MemoryLimit})
}
