//go:build !unix

package mapped

import (
	"errors"
	"os"
)

// Read returns errors.ErrUnsupported.
func Read(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// ReadWrite returns errors.ErrUnsupported.
func ReadWrite(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap accepts only nil, since nothing is mapped.
func Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return errors.ErrUnsupported
}
