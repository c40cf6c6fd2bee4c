//go:build unix

// Package mapped maps files into memory: data that a process writes outlives it, and processes share it. In a
// browser all calls return errors.ErrUnsupported.
package mapped

import (
	"os"
	"syscall"
)

// Read maps length bytes of a file, from at on, for reading. Reading beyond the end of the file kills the
// process.
func Read(file *os.File, at int64, length int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), at, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

// ReadWrite maps length bytes of a file, from at on, for reading and writing. All processes that map them see
// the writes.
func ReadWrite(file *os.File, at int64, length int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), at, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// Unmap unmaps b. It does nothing for nil.
func Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b)
}
