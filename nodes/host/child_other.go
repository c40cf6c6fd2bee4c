//go:build !linux

package host

import (
	"errors"
	"os"
)

// pipeHolds is not supported.
func pipeHolds(*os.File) (int, error) { return 0, errors.ErrUnsupported }
