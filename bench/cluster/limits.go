package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// How much of the machine's limits a node takes.
const (
	filesPerNode   = 3  // of this process: its pipes, and a log while that is mapped
	filesAtAll     = 64 // of this process, besides
	threadsPerNode = 8  // seen: 5 to 7 in a node process that runs on one CPU
)

// CheckLimits returns an error if the limits of this machine and user are too low for so many nodes.
func CheckLimits(count int) error {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		if need := uint64(count*filesPerNode + filesAtAll); files.Max < need {
			return fmt.Errorf("%d nodes take %d open files, and the limit is %d: use fewer nodes, "+
				"or raise the limit (ulimit -Hn %d)", count, need, files.Max, need)
		}
	}
	need := count * threadsPerNode
	for _, l := range threadLimits() {
		if l.max < need {
			return fmt.Errorf("%d nodes take about %d threads, and %s is %d: use fewer nodes, or raise it",
				count, need, l.name, l.max)
		}
	}
	return nil
}

type limit struct {
	name string
	max  int
}

// threadLimits returns the known limits on processes and threads.
func threadLimits() []limit {
	var found []limit
	add := func(name, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			return
		}
		if max, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil { // not so for "max"
			found = append(found, limit{name, max})
		}
	}
	add("kernel.threads-max", "/proc/sys/kernel/threads-max")
	add("kernel.pid_max", "/proc/sys/kernel/pid_max")
	add("the cgroup's pids.max", "/sys/fs/cgroup/pids.max")
	return append(found, userLimit()...)
}
