package cluster

import (
	"errors"
	"os/exec"
	"syscall"
)

// WasKilled reports whether the process was ended by SIGKILL, once it has ended.
func (p *Process) WasKilled() bool {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
