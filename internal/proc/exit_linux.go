package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// An exit signals the end of a process: a file descriptor that becomes readable. Waiting for it takes no
// thread, while a wait for the process would take one thread each.
type exit struct{ fd int }

// attributes ties a process to this one: it gets SIGKILL when its parent's thread ends. It is in a process
// group of its own, so Ctrl-C at the terminal reaches only the orchestrator, which then ends the others.
func (e *exit) attributes() *syscall.SysProcAttr {
	e.fd = -1
	of := dying()
	of.Setpgid, of.PidFD = true, &e.fd
	return of
}

// dying ties a process to this one.
func dying() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// await returns true when the process has ended; the caller must still reap it. It returns false if the
// kernel is too old to tell without a thread (before Linux 5.4).
func (e *exit) await() bool {
	if e.fd < 0 || unix.SetNonblock(e.fd, true) != nil {
		return false
	}
	file := os.NewFile(uintptr(e.fd), "pidfd")
	defer file.Close()
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	return nil == conn.Read(func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0
	})
}
