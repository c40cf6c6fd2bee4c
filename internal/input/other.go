//go:build !unix

package input

import "syscall"

// Browsers have neither pipes nor terminals.
const (
	nonBlocking = 0
	hangUp      = syscall.SIGTERM
)
