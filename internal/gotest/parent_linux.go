package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the child of a command end when the thread that starts it ends.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
