//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// Free returns how many bytes are left on the disk that holds path, and whether this is known.
func Free(path string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
