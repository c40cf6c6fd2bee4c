package agent

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// asFileUser gives this thread the file access rights of an account.
func asFileUser(o *Account) error {
	if err := errors.Join(unix.Setfsgid(int(o.GID)), unix.Setfsuid(int(o.UID))); err != nil {
		return fmt.Errorf("opening files as %d:%d: %w", o.UID, o.GID, err)
	}
	switch is, err := unix.SetfsuidRetUid(-1); { // -1 changes nothing, and returns the current user
	case err != nil:
		return fmt.Errorf("opening files as %d:%d: %w", o.UID, o.GID, err)
	case is != int(o.UID):
		return fmt.Errorf("opening files as %d:%d takes the capabilities SETUID and SETGID", o.UID, o.GID)
	}
	return nil
}
