//go:build !linux

package host

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOwnThread sends the process that calls it a signal.
func signalOwnThread(signal syscall.Signal) error { return unix.Kill(unix.Getpid(), signal) }
