//go:build !linux && !darwin

package results

import "os"

// FreeBytes returns how much space the disk of path has left, and whether that is known.
func FreeBytes(string) (uint64, bool) { return 0, false }

// canLock says whether lock detects other processes.
const canLock = false

// lock does nothing: this system cannot tell whether another process holds a file.
func lock(*os.File) (others bool, err error) { return false, nil }
