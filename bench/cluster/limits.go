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

// How much of the limits of this machine and user a run takes.
const (
	filesPerNode   = 4  // of this process: a node's pipes, and two that tell of its end
	filesAtAll     = 64 // of this process, besides
	threadsPerNode = 8  // seen: 5 to 7 in a node process that runs on one CPU
	threadsAtAll   = 8  // seen in this process and in each broker's, beside one for each CPU
	threadsToStart = 10 // of this process, before it does anything
)

// addressSpace is what each process takes of it, in units of 1024 bytes. A program in Go reserves some
// 780,000 of them as it starts.
const addressSpace = 1 << 20

// CheckLimits returns an error if the limits of this machine and user are too low for so many nodes, and so
// many processes that carry their messages.
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

// CheckStart returns an error if this user may have too few threads for this program to do anything: Go ends
// a program that gets none with a trace of itself.
func CheckStart() error {
	return checkThreads("this program takes about", threadsToStart, append(groupLimit(), userLimit()...))
}

// A limit is one on threads.
type limit struct {
	name  string
	max   int
	used  int    // by others
	raise string // the command that raises it to so many; may be empty
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

// groupLimit returns the limit of the control groups of this process, as of a container.
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
		if max, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil { // not so for "max"
			found = append(found, limit{name: name, max: max})
		}
	}
	add("kernel.threads-max", "/proc/sys/kernel/threads-max")
	add("kernel.pid_max", "/proc/sys/kernel/pid_max")
	return append(append(found, groupLimit()...), userLimit()...)
}
