//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach keeps a command from the Ctrl-C that ends this one: a browser stays open.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
