//go:build !linux

package quickpipe

import "syscall"

func read(fd uintptr, b []byte) (int, error) { return call(syscall.Read, fd, b) }

func write(fd uintptr, b []byte) (int, error) { return call(syscall.Write, fd, b) }

func call(do func(int, []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := do(int(fd), b)
		switch err {
		case nil:
			return n, nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}
