//go:build unix

package input

import "syscall"

const (
	nonBlocking = syscall.O_NONBLOCK // so that opening a pipe does not wait
	hangUp      = syscall.SIGHUP
)
