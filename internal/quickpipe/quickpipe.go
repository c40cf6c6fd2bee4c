// Package quickpipe reads and writes non-blocking pipes by raw system calls, which Go's scheduler does not
// see. Such a call returns at once. If the scheduler of a mostly idle process saw it, it would wake a thread
// to watch over the call, which takes longer than the call itself.
package quickpipe

import (
	"io"
	"os"
	"syscall"
)

// A Pipe is an end of a non-blocking pipe that the runtime polls, such as those from os.Pipe and exec.Cmd.
type Pipe struct{ raw syscall.RawConn }

// New returns the pipe of a file.
func New(f *os.File) (*Pipe, error) {
	raw, err := f.SyscallConn()
	return &Pipe{raw}, err
}

// Read implements io.Reader. It waits until there is something to read.
func (p *Pipe) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	closed := p.raw.Read(func(fd uintptr) bool {
		n, err = read(fd, b)
		return err != syscall.EAGAIN
	})
	switch {
	case closed != nil:
		return 0, closed
	case err == nil && n == 0:
		err = io.EOF
	}
	return n, err
}

// Write implements io.Writer. It waits until the pipe has space for all.
func (p *Pipe) Write(b []byte) (written int, err error) {
	for written < len(b) && err == nil {
		var n int
		closed := p.raw.Write(func(fd uintptr) bool {
			n, err = write(fd, b[written:])
			return err != syscall.EAGAIN
		})
		if closed != nil {
			return written, closed
		}
		written += n
	}
	return written, err
}

// Put writes as much as the pipe has space for, and does not wait.
func (p *Pipe) Put(b []byte) (written int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	closed := p.raw.Write(func(fd uintptr) bool {
		written, err = write(fd, b)
		return true
	})
	switch {
	case closed != nil:
		return 0, closed
	case err == syscall.EAGAIN:
		err = nil
	}
	return written, err
}
