//go:build unix

package fleet

import "syscall"

func init() { stop, goOn = syscall.SIGSTOP, syscall.SIGCONT }
