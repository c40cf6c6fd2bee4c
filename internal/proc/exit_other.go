//go:build !linux

package proc

import "syscall"

// An exit is where the end of a process shows: nowhere that a thread need not wait for.
type exit struct{}

// attributes puts a process in a group of its own, so that the terminal's Ctrl-C reaches the orchestrator
// alone. Without a signal at the parent's death, the end of its standard input ends the process.
func (*exit) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// dying ties a process to nothing.
func dying() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func (*exit) await() bool { return false }
