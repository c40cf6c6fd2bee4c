package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// syncDir puts the names in a folder on the disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
