//go:build !linux

package judge

// limitMemory does nothing; the guard limits the memory.
func limitMemory() {}
