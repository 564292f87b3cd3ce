package fleet

import "syscall"

func init() { attributes = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
