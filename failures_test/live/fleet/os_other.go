//go:build !linux

package fleet

import "os/exec"

// endWithParent does nothing: only Linux ends a process with the one that started it.
func endWithParent(*exec.Cmd) {}
