package service

import (
	"os/exec"
	"runtime"
	"syscall"
)

// output runs a program for a moment, and returns what it prints, with its standard error if both is true.
// The program ends with this process, also if that is killed.
func output(cmd *exec.Cmd, both bool) ([]byte, error) {
	runtime.LockOSThread() // the signal follows the thread that starts the program
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if both {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}
