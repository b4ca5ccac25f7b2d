package host

import "syscall"

// dieWithParent lets no test that was killed leave a system behind.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
}
