//go:build !unix

package mapped

import (
	"errors"
	"os"
)

func read(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func readWrite(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) error { return errors.ErrUnsupported }
