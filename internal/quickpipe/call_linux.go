package quickpipe

import (
	"syscall"
	"unsafe"
)

// read reads what there is. The error EAGAIN says that there is nothing.
func read(fd uintptr, b []byte) (int, error) { return call(syscall.SYS_READ, fd, b) }

// write writes what there is space for. The error EAGAIN says that there is none.
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
