package host

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalOwnThread sends the thread that calls it a signal, which is delivered before it returns.
func signalOwnThread(signal syscall.Signal) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return unix.Tgkill(unix.Getpid(), unix.Gettid(), signal)
}
