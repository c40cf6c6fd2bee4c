// Package input reads every file that a user or a stranger can put there: regular files up to a limit, and
// standard input. It refuses the path of a pipe or a device, since that may block or never end.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// The largest files that are read, by their kind. Real files are far smaller.
const (
	Limit       = 16 << 20  // files that people write, and standard input
	RecordLimit = 256 << 20 // records of a run or a set, such as run.yaml
	TableLimit  = 1 << 30   // tables, and the other files of a run or a set that are read as a whole
)

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
	file, _, err := open(path, "only regular files are read")
	return file, err
}

// open opens a regular file, and returns its size. Errors about other files end with a hint.
func open(path, hint string) (*os.File, int64, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		return nil, 0, notRegular(path, hint)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = noFile(path + " is a folder: name a file")
	case !info.Mode().IsRegular():
		err = notRegular(path, hint)
	case info.Size() == 0 && file.SetReadDeadline(time.Time{}) == nil: // it may block: no file of a disk
		err = noFile(path + " is a file of the kernel, without a size: " + hint)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// A noFile is an ErrNoFile with a text.
type noFile string

func (n noFile) Error() string { return string(n) }

func (noFile) Is(target error) bool { return target == ErrNoFile }

func notRegular(path, hint string) error {
	return noFile(path + " is a pipe, a device or a socket: " + hint)
}

// ReadFile returns the content of a regular file, up to a limit.
func ReadFile(path string, limit int64) ([]byte, error) {
	return readFile(path, limit, "only regular files are read")
}

func readFile(path string, limit int64, hint string) ([]byte, error) {
	file, size, err := open(path, hint)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := bytes.NewBuffer(make([]byte, 0, min(size, limit)+bytes.MinRead)) // it need not grow
	return readLimited(path, file, text, limit)
}

// Read returns the content of a regular file or standard input, up to the Limit. It returns ErrInterrupted as
// soon as a signal asks the program to end, even if no input comes. Standard input is read once, and all
// calls return the same text.
func Read(path string) ([]byte, error) {
	if path == Stdin {
		return standardInput()
	}
	return readFile(path, Limit, "name a regular file, or - for standard input, as in - <"+path)
}

var standardInput = sync.OnceValues(func() ([]byte, error) { return readUntilSignal(os.Stdin) })

// readUntilSignal reads input that may never end.
func readUntilSignal(in io.Reader) ([]byte, error) {
	signals := make(chan os.Signal, 1)
	asked := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(hangUp) {
		asked = append(asked, hangUp)
	}
	signal.Notify(signals, asked...)
	defer signal.Stop(signals)
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := readLimited(Stdin, in, new(bytes.Buffer), Limit)
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-signals:
		return nil, fmt.Errorf("%w %s", ErrInterrupted, Name(Stdin))
	}
}

func readLimited(path string, in io.Reader, text *bytes.Buffer, limit int64) ([]byte, error) {
	n, err := text.ReadFrom(io.LimitReader(in, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s is larger than %d MB, the most that is read", Name(path), limit>>20)
	}
	return text.Bytes(), err
}
