package cluster

import (
	"os"

	"golang.org/x/sys/unix"
)

// userLimit returns the limit on this user's threads. Root has none.
func userLimit() []limit {
	var l unix.Rlimit
	if os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil || l.Cur > 1<<31 {
		return nil
	}
	return []limit{{"the limit on this user's processes (ulimit -u)", int(l.Cur)}}
}
