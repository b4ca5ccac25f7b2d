//go:build !linux

package host

import "syscall"

// dieWithParent is only possible on Linux.
func dieWithParent() *syscall.SysProcAttr { return nil }
