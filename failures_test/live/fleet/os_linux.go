package fleet

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the process when this one ends, also while
// it is stopped.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
