// Package input reads the files that users name: regular files, and standard input. It refuses the path of a
// pipe or a device, since that may block or never end.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Limit is the size up to which files are read. Files that people write are far smaller.
const Limit = 16 << 20

// Stdin is the path that stands for standard input.
const Stdin = "-"

// ErrNoFile is the error about a path that is no regular file, such as a folder or a pipe.
var ErrNoFile = errors.New("no regular file")

// ErrInterrupted is the error of Read if a signal asked the program to end.
var ErrInterrupted = errors.New("interrupted while reading")

// Name returns the path for messages.
func Name(path string) string {
	if path == Stdin {
		return "standard input"
	}
	return path
}

// Open opens a regular file. It never blocks on other files.
func Open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		return nil, notRegular(path)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = noFile(path + " is a folder: name a file")
	case !info.Mode().IsRegular():
		err = notRegular(path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// A noFile is an ErrNoFile with a text.
type noFile string

func (n noFile) Error() string { return string(n) }

func (noFile) Is(target error) bool { return target == ErrNoFile }

func notRegular(path string) error {
	return noFile(fmt.Sprintf("%s is a pipe, a device or a socket: name a regular file, or - for standard "+
		"input, as in - <%[1]s", path))
}

// Read returns the content of a regular file or standard input, up to the Limit. It returns ErrInterrupted as
// soon as a signal asks the program to end, even if no input comes. Standard input is read once, and all
// calls return the same text.
func Read(path string) ([]byte, error) {
	if path == Stdin {
		return standardInput()
	}
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readLimited(path, file)
}

var standardInput = sync.OnceValues(func() ([]byte, error) { return readUntilSignal(os.Stdin) })

// readUntilSignal reads input that may never end.
func readUntilSignal(in io.Reader) ([]byte, error) {
	signals := make(chan os.Signal, 1)
	asked := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		asked = append(asked, syscall.SIGHUP)
	}
	signal.Notify(signals, asked...)
	defer signal.Stop(signals)
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := readLimited(Stdin, in)
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-signals:
		return nil, fmt.Errorf("%w %s", ErrInterrupted, Name(Stdin))
	}
}

func readLimited(path string, in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, Limit+1))
	if err == nil && len(text) > Limit {
		err = fmt.Errorf("%s is larger than 16 MB, the most that is read", Name(path))
	}
	return text, err
}
