//go:build linux || darwin

package results

import "golang.org/x/sys/unix"

// freeBytes returns how much space the disk of path has left, and whether that is known.
func freeBytes(path string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
