//go:build unix

// Package mapped maps files into memory, so that what a process has written outlives it, and processes share
// what they write. In a browser nothing is mapped: there all calls return errors.ErrUnsupported.
package mapped

import (
	"os"
	"syscall"
)

// Read maps length bytes of a file, from at on, to be read. To read beyond the end of the file kills the
// process.
func Read(file *os.File, at int64, length int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), at, length, syscall.PROT_READ, syscall.MAP_SHARED)
}

// ReadWrite maps length bytes of a file, from at on, to be read and written. All processes that map them see
// what is written.
func ReadWrite(file *os.File, at int64, length int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), at, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// Unmap gives up what was mapped; nil: nothing was.
func Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b)
}
