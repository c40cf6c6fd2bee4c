package quickpipe

import (
	"syscall"
	"unsafe"
)

// read reads available bytes. The error is EAGAIN if nothing is available.
func read(fd uintptr, b []byte) (int, error) { return call(syscall.SYS_READ, fd, b) }

// write writes as much as the pipe has space for. The error is EAGAIN if it is full.
func write(fd uintptr, b []byte) (int, error) { return call(syscall.SYS_WRITE, fd, b) }

func call(number, fd uintptr, b []byte) (int, error) {
	for {
		n, _, failed := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch failed {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, failed
		}
	}
}
