//go:build !linux && !darwin

package results

import "os"

// FreeBytes returns how much space is left on the disk that holds path, and whether this is known.
func FreeBytes(string) (uint64, bool) { return 0, false }

// canLock says whether lock can tell that another process holds a file.
const canLock = false

// lock does nothing: this system cannot tell whether another process holds a file.
func lock(*os.File) (others bool, err error) { return false, nil }
