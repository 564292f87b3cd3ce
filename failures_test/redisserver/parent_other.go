//go:build !linux

package redisserver

import "os/exec"

// EndWithParent does nothing: only Linux ends a process with the one that started it.
func EndWithParent(*exec.Cmd) {}
