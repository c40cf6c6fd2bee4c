//go:build !linux

package host

import (
	"errors"
	"os"
	"syscall"
)

// dyingWithParent ties a process to nothing: the end of its standard input ends it.
func dyingWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// pipeHolds does not know.
func pipeHolds(*os.File) (int, error) { return 0, errors.ErrUnsupported }
