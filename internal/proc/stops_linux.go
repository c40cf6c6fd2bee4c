package proc

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// childChange is the beginning of siginfo_t as waitid(2) fills it in, on a 64-bit Linux.
type childChange struct {
	_         [3]int32
	_         int32
	pid       int32
	_, status int32
	_         [100]byte
}

// nextStop returns the next stop or continuation of a child from the kernel. It does not reap children.
func nextStop() (pid int, stopped, ok bool) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WSTOPPED|unix.WCONTINUED|unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		const continued = 6 // CLD_CONTINUED
		change := (*childChange)(unsafe.Pointer(&info))
		return int(change.pid), info.Code != continued, err == nil && change.pid != 0
	}
}
