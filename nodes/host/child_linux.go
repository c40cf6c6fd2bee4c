package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeHolds returns how many bytes are in a pipe.
func pipeHolds(f *os.File) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	wrong := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if wrong != nil {
		return 0, wrong
	}
	return n, err
}
