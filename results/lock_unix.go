//go:build linux || darwin

package results

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canLock says whether lock can tell that another process holds a file.
const canLock = true

// lock locks a file until this process ends. others says that another process has locked it already.
func lock(file *os.File) (others bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
