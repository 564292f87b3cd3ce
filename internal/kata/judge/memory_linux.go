package judge

import "syscall"

// limitMemory lets the system refuse what is far too much, so that the machine
// stays usable even if the guard does not get its turn.
func limitMemory() {
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 2 * memoryLimit, Max: 2 * memoryLimit})
}
