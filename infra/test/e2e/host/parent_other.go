//go:build !linux

package host

import "syscall"

// dieWithParent is what only Linux can promise.
func dieWithParent() *syscall.SysProcAttr { return nil }
