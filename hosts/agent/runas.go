package agent

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// An Account is a user and a group by their numbers, as whom an agent starts processes.
type Account struct{ UID, GID uint32 }

// ParseAccount reads an account, as in 1000:1000.
func ParseAccount(text string) (*Account, error) {
	user, group, found := strings.Cut(text, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	gid, err2 := strconv.ParseUint(group, 10, 32)
	if !found || err != nil || err2 != nil {
		return nil, fmt.Errorf("%q is no account: write the numbers of a user and a group, as in 1000:1000", text)
	}
	return &Account{uint32(uid), uint32(gid)}, nil
}

// Files does something with files as that account, which owns them: a root without capabilities may not read
// what is another user's. A nil account is this process's own.
func (o *Account) Files(do func() error) error {
	if o == nil {
		return do()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and only it is another user's
		err := asFileUser(o)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// open lets the processes of the run write to a folder or a file of the agent, if they are another user's.
func (a *Agent) open(path string, mode os.FileMode) error {
	if a.RunAs == nil {
		return nil
	}
	return os.Chmod(path, mode)
}
