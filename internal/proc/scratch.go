package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"turnstile/internal/pattern"
)

// scratch has the temporary folders of this process. Each is locked, which tells other processes that it is
// in use, even where they do not see this one.
var (
	scratchMu sync.Mutex
	scratch   = map[string]*os.File{}
)

// scratchName matches the names of such folders. Its group is the number of the process that made the folder.
var scratchName = pattern.Of(`^turnstile-[a-z]+-(\d+)-\d+$`)

// TempDir makes a temporary folder, with a word in its name. RemoveTemp removes it. If this process is killed
// before that, RemoveDead in a later process removes it.
func TempDir(word string) (string, error) {
	dir, err := os.MkdirTemp("", fmt.Sprintf("turnstile-%s-%d-", word, os.Getpid()))
	if err != nil {
		return "", err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) // without locks, the process number tells
	scratchMu.Lock()
	defer scratchMu.Unlock()
	scratch[dir] = lock
	return dir, nil
}

// RemoveTemp removes a folder of TempDir.
func RemoveTemp(dir string) error {
	scratchMu.Lock()
	defer scratchMu.Unlock()
	err := os.RemoveAll(dir)
	if lock := scratch[dir]; lock != nil {
		delete(scratch, dir)
		lock.Close()
	}
	return err
}

// RemoveAllTemp removes the folders of TempDir that are left, before this process ends.
func RemoveAllTemp() {
	scratchMu.Lock()
	defer scratchMu.Unlock()
	for dir := range scratch {
		os.RemoveAll(dir) // if it cannot be removed now, RemoveDead tries again
	}
}

// RemoveDead removes the folders of TempDir whose processes were killed.
func RemoveDead() {
	all, _ := os.ReadDir(os.TempDir())
	for _, e := range all {
		name := scratchName().FindStringSubmatch(e.Name())
		if name == nil || !e.IsDir() {
			continue
		}
		if pid, _ := strconv.Atoi(name[1]); syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		path := filepath.Join(os.TempDir(), e.Name())
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var info unix.Stat_t
		if unix.Fstat(fd, &info) == nil && int(info.Uid) == os.Geteuid() &&
			unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(path)
		}
		unix.Close(fd)
	}
}
