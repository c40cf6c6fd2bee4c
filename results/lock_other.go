//go:build !linux && !darwin

package results

import "os"

// canLock says whether lock can tell that another process holds a file.
const canLock = false

// lock does nothing: this system cannot tell whether another process holds a file.
func lock(*os.File) (others bool, err error) { return false, nil }
