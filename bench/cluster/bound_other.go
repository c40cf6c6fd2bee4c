//go:build !linux

package cluster

import "syscall"

// bound puts a process in a group of its own, so that the terminal's Ctrl-C reaches the orchestrator
// alone. Without a signal at the parent's death, the end of its standard input ends the process.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
