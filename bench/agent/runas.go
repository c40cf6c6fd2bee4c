package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
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

// aliveFile is a file in the folder of an agent that it touches as long as it can be found.
const aliveFile = "alive"

// beat says in a file that the agent can be found, once a second.
func (a *Agent) beat(now time.Time) {
	if a.Local || now.Sub(a.beaten) < time.Second || !a.conn.IsConnected() {
		return
	}
	a.beaten = now
	os.WriteFile(filepath.Join(a.Folder, aliveFile), []byte(a.Name+"\n"), 0o644)
}

// Healthy says what is wrong with the agent that has a folder, if anything is: it has not been there for some
// seconds.
func Healthy(folder string) error {
	info, err := os.Stat(filepath.Join(folder, aliveFile))
	if err != nil {
		return fmt.Errorf("no agent has been there: %w", err)
	}
	if ago := time.Since(info.ModTime()); ago > 5*time.Second {
		return fmt.Errorf("the agent was last there %v ago", ago.Round(time.Second))
	}
	return nil
}
