package redisserver

import (
	"os/exec"
	"syscall"
)

// EndWithParent makes the kernel kill the process when this program is killed, also
// while it is stopped.
func EndWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
