package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// writeFile makes the file at path from what write writes. It appears whole or not at all, even if the
// process dies, and is on the disk when writeFile returns.
func writeFile(path string, write func(w io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails after a success, since the file was renamed
	defer file.Close()
	buffered := bufio.NewWriter(file)
	if err := write(buffered); err != nil {
		return err
	}
	if err := errors.Join(buffered.Flush(), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// WriteFile makes the file at path from what write writes, whole or not at all, as the files of a run. What
// is there and is no regular file, such as a device, is written to as it is.
func WriteFile(path string, write func(w io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return writeFile(path, write)
}

// WriteSetTable writes a table into the folder of a set, in a file of that name, and returns its path.
func WriteSetTable[T any](root, set, name string, rows []T) (path string, err error) {
	path = filepath.Join(root, set, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, unwritable(filepath.Dir(path), err)
	}
	return path, writeFile(path, func(w io.Writer) error { return WriteTable(w, rows) })
}

// Probe makes sure that files can be written in a folder.
func Probe(dir string) error {
	file, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return unwritable(dir, err)
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString("probe"); err != nil {
		return errors.Join(unwritable(dir, err), file.Close())
	}
	return file.Close()
}

func unwritable(dir string, err error) error {
	hint := "make that folder writable, or put the results elsewhere"
	if IsFull(err) {
		hint = "free some space, or put the results elsewhere"
	}
	return fmt.Errorf("results cannot be written to %s: %s: %w", dir, hint, err)
}

// IsFull reports whether an error says that a disk, or what a user may have of it, is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// tooSmall is the error of a disk that has less space left than a run takes.
type tooSmall struct{ error }

func (tooSmall) Is(target error) bool { return target == syscall.ENOSPC }

// syncDir puts the names in a folder on the disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
