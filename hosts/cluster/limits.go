package cluster

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"turnstile/internal/cgroup"
)

// Numbers of files and threads that a run takes, to compare with the limits of this machine and user.
const (
	filesPerNode   = 4  // files that this process opens per node: the node's pipes, and two that report its end
	filesAtAll     = 64 // further files that this process opens
	threadsPerNode = 8  // measured: 5 to 7 in a node process that runs on one CPU
	threadsAtAll   = 8  // measured: threads of this process and of each broker, besides one per CPU
	threadsToStart = 10 // threads of this process at its start
)

// addressSpace is how much address space each process takes, in units of 1024 bytes. A Go program reserves
// about 780,000 of them at its start.
const addressSpace = 1 << 20

// CheckLimits returns an error if the limits of this machine and user are too low for count nodes and for the
// processes that carry their messages.
func CheckLimits(count, carriers int) error {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		if need := uint64(count*filesPerNode + filesAtAll); files.Max < need {
			return fmt.Errorf("%d nodes take %d open files, and the limit is %d: use fewer nodes, "+
				"or raise the limit (ulimit -Hn %d)", count, need, files.Max, need)
		}
	}
	var space unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &space); err == nil && space.Cur/1024 < addressSpace {
		return fmt.Errorf("each process needs %d KB of address space, and the limit is %d: "+
			"raise it (ulimit -v %d)", addressSpace, space.Cur/1024, addressSpace)
	}
	need := count*threadsPerNode + (1+carriers)*(threadsAtAll+runtime.NumCPU())
	their := "their broker"
	if carriers > 1 {
		their = "their brokers and proxies"
	}
	return checkThreads(fmt.Sprintf("%d nodes and %s take about", count, their), need, threadLimits())
}

// CheckStart returns an error if this user may have too few threads for this program. Without the check, Go
// would end the program with a stack trace.
func CheckStart() error {
	return checkThreads("this program takes about", threadsToStart, append(groupLimit(), userLimit()...))
}

// A limit is a limit on the number of threads.
type limit struct {
	name  string
	max   int
	used  int    // threads that other processes have taken
	raise string // shell command that raises the limit, with %d for the new limit; may be empty
}

func checkThreads(what string, need int, limits []limit) error {
	for _, l := range limits {
		if l.max-l.used >= need {
			continue
		}
		used, raise := "", "raise it"
		if l.used > 0 {
			used = fmt.Sprintf(", %d of them taken", l.used)
		}
		if l.raise != "" {
			raise += fmt.Sprintf(" ("+l.raise+")", need+l.used)
		}
		if !strings.HasPrefix(what, "this") {
			raise = "use fewer nodes, or " + raise
		}
		return fmt.Errorf("%s %d threads, and %s is %d%s: %s", what, need, l.name, l.max, used, raise)
	}
	return nil
}

// groupLimit returns the limit on threads of this process's control groups, such as a container's.
func groupLimit() []limit {
	max := cgroup.Read(os.DirFS("/")).Threads
	if max == 0 {
		return nil
	}
	return []limit{{name: "the limit of its control group (pids.max)", max: int(max)}}
}

// threadLimits returns the known limits on processes and threads.
func threadLimits() []limit {
	var found []limit
	add := func(name, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			return
		}
		if max, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil { // the text may also be "max"
			found = append(found, limit{name: name, max: max})
		}
	}
	add("kernel.threads-max", "/proc/sys/kernel/threads-max")
	add("kernel.pid_max", "/proc/sys/kernel/pid_max")
	return append(append(found, groupLimit()...), userLimit()...)
}
