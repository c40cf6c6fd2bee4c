package agent

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// An Account is a user and a group, by ID, under which an agent starts processes.
type Account struct{ UID, GID uint32 }

// ParseAccount parses an account such as 1000:1000.
func ParseAccount(text string) (*Account, error) {
	user, group, found := strings.Cut(text, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	gid, err2 := strconv.ParseUint(group, 10, 32)
	if !found || err != nil || err2 != nil {
		return nil, fmt.Errorf("%q is not an account: write the numbers of a user and a group, as in 1000:1000",
			text)
	}
	return &Account{uint32(uid), uint32(gid)}, nil
}

// Files calls do with the file access rights of the account: root without capabilities may be unable to read
// another user's files. A nil account changes nothing.
func (o *Account) Files(do func() error) error {
	if o == nil {
		return do()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread, whose user changes, ends with the goroutine
		err := asFileUser(o)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// open lets processes of the run write to a folder or file of the agent, if they run as another user.
func (a *Agent) open(path string, mode os.FileMode) error {
	if a.RunAs == nil {
		return nil
	}
	return os.Chmod(path, mode)
}
