package cluster

import "syscall"

// bound ties a process to this one: it gets SIGKILL when its parent's thread ends, and it is in a process
// group of its own, so that the terminal's Ctrl-C reaches the orchestrator alone, which then ends the others.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
