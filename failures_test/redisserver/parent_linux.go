package redisserver

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the process when this program is killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
