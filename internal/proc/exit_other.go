//go:build !linux

package proc

import "syscall"

// An exit cannot signal the end of a process here: a thread must wait for it.
type exit struct{}

// attributes puts a process in a group of its own, so Ctrl-C at the terminal reaches only the orchestrator.
// This system sends no signal at the parent's death; the process ends with its standard input.
func (*exit) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dying cannot tie a process to this one here.
func dying() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func (*exit) await() bool { return false }
