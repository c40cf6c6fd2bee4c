package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"turnstile/internal/certs"
)

// A folder is a folder of keys that this process alone changes.
type folder struct {
	dir       string
	lock      *os.File
	authority *certs.Authority
	allowed   *allowed
	made      Made
	created   []string // paths, by this call, the folder itself included
}

// openFolder opens a folder of keys, or makes it, and waits until no other process changes it.
func openFolder(dir string) (*folder, error) {
	f := &folder{dir: dir}
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the folder of keys: %w", err)
		}
		f.created = append(f.created, dir)
	}
	if err = checkFolder(dir); err != nil {
		return nil, err
	}
	if f.lock, err = os.Open(dir); err == nil {
		err = syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.undo()
		return nil, fmt.Errorf("locking the folder of keys: %w", err)
	}
	return f, nil
}

// checkFolder returns an error if others could put keys into a folder.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("looking at the folder of keys: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder: keys lie in a folder of their own", dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can write to the folder of keys %s (its mode is %04o): chmod 700 %[1]s",
			dir, info.Mode().Perm())
	}
	return nil
}

func (f *folder) close() {
	if f.lock != nil {
		f.lock.Close()
	}
}

// undo removes what this call has created.
func (f *folder) undo() {
	for _, path := range slices.Backward(f.created) {
		os.Remove(path)
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// create writes a file that is not there yet, for this user alone.
func (f *folder) create(name string, text []byte) error {
	path := f.path(name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there, and is not replaced: %s does not list it, so if it is left from a call "+
			"that was interrupted, delete it", path, allowedFile)
	}
	if err != nil {
		return fmt.Errorf("writing a key: %w", err)
	}
	f.created = append(f.created, path)
	return write(file, text)
}

// replace replaces a file, or creates it, so that a reader sees the one or the other.
func (f *folder) replace(name string, text []byte) error {
	file, err := os.CreateTemp(f.dir, "."+name+"-*") // which nobody else can read
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	err = write(file, text)
	if err == nil {
		err = os.Rename(file.Name(), f.path(name))
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// write writes a file to the disk, and closes it.
func write(file *os.File, text []byte) error {
	_, err := file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// hostsOf returns where the certificate of a server is valid.
func hostsOf(cert *x509.Certificate) []string {
	hosts := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}
