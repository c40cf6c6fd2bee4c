// Package cgroup reads the limits that control groups of Linux, versions 1 and 2, set for this process, as in
// a container or under systemd. It only reads files.
package cgroup

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Limits are what a process and the other processes of its groups may use together; 0: no limit.
type Limits struct {
	CPUs    float64 // in processors
	Memory  uint64  // bytes
	Threads uint64  // processes and threads
}

// Read returns the limits of this process, including the enclosing groups. root is the root of the
// file system. A file that cannot be read sets no limit.
func Read(root fs.FS) Limits {
	member := memberships(read(root, "proc/self/cgroup"))
	var l Limits
	for _, m := range mounts(read(root, "proc/self/mountinfo")) {
		for _, name := range m.controllers {
			group, found := member[name]
			if !found {
				continue
			}
			for _, dir := range m.folders(group) {
				l = l.and(limitsAt(root, dir, name))
			}
		}
	}
	return l
}

// Kills returns how many processes of this process's own group the kernel has killed because memory had run
// out, and whether this is known.
func Kills(root fs.FS) (count int, known bool) {
	member := memberships(read(root, "proc/self/cgroup"))
	for _, m := range mounts(read(root, "proc/self/mountinfo")) {
		for _, name := range m.controllers {
			file := map[string]string{unified: "memory.events", "memory": "memory.oom_control"}[name]
			group, found := member[name]
			if !found || file == "" {
				continue
			}
			for line := range strings.Lines(read(root, path.Join(m.folders(group)[0], file))) {
				if text, is := strings.CutPrefix(line, "oom_kill "); is {
					return int(number(text)), true
				}
			}
		}
	}
	return 0, false
}

// and returns the lower of each limit.
func (l Limits) and(m Limits) Limits {
	if l.CPUs == 0 || m.CPUs > 0 && m.CPUs < l.CPUs {
		l.CPUs = m.CPUs
	}
	return Limits{l.CPUs, lower(l.Memory, m.Memory), lower(l.Threads, m.Threads)}
}

func lower(a, b uint64) uint64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// unified names the one hierarchy of version 2, which has all controllers.
const unified = ""

// limitsAt returns the limits that the group at dir sets by a controller.
func limitsAt(root fs.FS, dir, controller string) (l Limits) {
	file := func(name string) string { return read(root, path.Join(dir, name)) }
	switch controller {
	case unified:
		quota, period, _ := strings.Cut(file("cpu.max"), " ")
		l.CPUs = share(quota, period)
		l.Memory, l.Threads = number(file("memory.max")), number(file("pids.max"))
	case "cpu":
		l.CPUs = share(file("cpu.cfs_quota_us"), file("cpu.cfs_period_us"))
	case "memory":
		// Without a limit, the file has the greatest multiple of the page size.
		if l.Memory = number(file("memory.limit_in_bytes")); l.Memory > math.MaxInt64-1<<20 {
			l.Memory = 0
		}
	case "pids":
		l.Threads = number(file("pids.max"))
	}
	return l
}

// share returns a quota of time in each period, as processors; 0: no limit ("max" in version 2, -1 in version
// 1).
func share(quota, period string) float64 {
	q, p := number(quota), number(period)
	if q == 0 || p == 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// number returns a positive number, and 0 for anything else, such as "max".
func number(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n
}

// memberships returns the groups of a process by controller, from its /proc/self/cgroup: a line for each
// hierarchy, as 4:cpu,cpuacct:/group or, in version 2, 0::/group.
func memberships(text string) map[string]string {
	groups := map[string]string{}
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		for name := range strings.SplitSeq(controllers, ",") {
			groups[name] = group
		}
	}
	return groups
}

// A mount is where a hierarchy, or the part of it below a group, is mounted.
type mount struct {
	controllers []string
	root        string // the group that is mounted
	at          string // where it is mounted, without the leading slash
}

// mounts returns where control groups are mounted, from /proc/self/mountinfo: see proc(5).
func mounts(text string) (found []mount) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(text) {
		place, kind, ok := strings.Cut(line, " - ")
		fields, source := strings.Fields(place), strings.Fields(kind)
		if !ok || len(fields) < 5 || len(source) < 3 {
			continue
		}
		m := mount{root: unescape.Replace(fields[3]), at: strings.TrimPrefix(unescape.Replace(fields[4]), "/")}
		switch source[0] {
		case "cgroup2":
			m.controllers = []string{unified}
		case "cgroup":
			m.controllers = strings.Split(source[2], ",") // also mount options, which match no controller
		default:
			continue
		}
		found = append(found, m)
	}
	return found
}

// folders returns the mounted folders of a group and its enclosing groups. In a container the group may be
// named as on the host, while only its own folder is mounted.
func (m mount) folders(group string) []string {
	inside, ok := strings.CutPrefix(group, m.root)
	if m.root == "/" {
		inside, ok = group, true
	}
	if !ok || inside != "" && inside[0] != '/' {
		inside = ""
	}
	var dirs []string
	for inside = path.Clean("/" + inside); ; inside = path.Dir(inside) {
		dirs = append(dirs, path.Join(m.at, inside))
		if inside == "/" {
			return dirs
		}
	}
}

func read(root fs.FS, name string) string {
	b, _ := fs.ReadFile(root, name)
	return string(b)
}
