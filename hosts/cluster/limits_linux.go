package cluster

import (
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// userLimit returns the limit on this user's threads. Root has no limit.
func userLimit() []limit {
	var l unix.Rlimit
	if os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil || l.Cur > 1<<31 {
		return nil
	}
	proc := os.DirFS("/proc")
	return []limit{{name: "the limit on this user's processes and threads", max: int(l.Cur),
		used: threadsOf(proc, os.Getuid(), os.Getpid()), raise: "ulimit -u %d"}}
}

// threadsOf returns how many threads a user has. It leaves out the process whose ID is given as except. Proc
// is the file system /proc.
func threadsOf(proc fs.FS, uid, except int) (total int) {
	processes, _ := fs.Glob(proc, "[0-9]*/status")
	for _, path := range processes {
		b, err := fs.ReadFile(proc, path)
		if err != nil || strings.HasPrefix(path, strconv.Itoa(except)+"/") {
			continue
		}
		threads, owner := 0, -1
		for line := range strings.Lines(string(b)) {
			switch fields := strings.Fields(line); {
			case len(fields) < 2:
			case fields[0] == "Uid:": // the first of the user IDs is the real one
				owner, _ = strconv.Atoi(fields[1])
			case fields[0] == "Threads:":
				threads, _ = strconv.Atoi(fields[1])
			}
		}
		if owner == uid {
			total += threads
		}
	}
	return total
}
