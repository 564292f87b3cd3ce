//go:build unix

package fleet

import (
	"os"
	"syscall"
)

func init() {
	if attributes == nil {
		attributes = &syscall.SysProcAttr{}
	}
	attributes.Setpgid = true
	send = func(leader int, s os.Signal) error { return syscall.Kill(-leader, s.(syscall.Signal)) }
	stop, goOn = syscall.SIGSTOP, syscall.SIGCONT
}
