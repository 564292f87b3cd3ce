//go:build !linux

package guard

// LimitMemory does nothing; the guard limits the memory.
func LimitMemory() {}
