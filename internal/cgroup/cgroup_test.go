package cgroup

import (
	"maps"
	"os"
	"testing"
	"testing/fstest"
)

// files are the files of a file system, by their paths.
type files map[string]string

func (f files) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for path, text := range f {
		m[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// with returns f with the files of g.
func (f files) with(g files) files {
	f = maps.Clone(f)
	maps.Copy(f, g)
	return f
}

const (
	mountOf2  = "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountsOf1 = "23 1 254:0 / / rw - ext4 /dev/root rw\n" +
		"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" +
		"39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:7 master:2 - cgroup cgroup rw,pids\n"
	group1 = "9:name=systemd:/\n8:pids:/a/b\n4:memory:/a/b\n2:cpu,cpuacct:/a/b\n0::/\n"
)

var (
	version2 = files{"proc/self/mountinfo": mountOf2, "proc/self/cgroup": "0::/user/app\n",
		"sys/fs/cgroup/user/app/cpu.max": "max 100000\n", "sys/fs/cgroup/user/app/memory.max": "max\n",
		"sys/fs/cgroup/user/app/pids.max": "max\n", "sys/fs/cgroup/user/memory.max": "max\n"}
	version1 = files{"proc/self/mountinfo": mountsOf1, "proc/self/cgroup": group1,
		"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us":  "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n",
		"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes":  "9223372036854771712\n",
		"sys/fs/cgroup/pids/a/b/pids.max":                 "max\n"}
)

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		of   files
		want Limits
	}{
		"no files":        {files{}, Limits{}},
		"2, no limit":     {version2, Limits{}},
		"2, a root group": {files{"proc/self/mountinfo": mountOf2, "proc/self/cgroup": "0::/\n"}, Limits{}},
		"2, all limits": {version2.with(own2("150000 100000\n", "1073741824\n", "99\n")),
			Limits{1.5, 1 << 30, 99}},
		"2, half a CPU": {version2.with(files{"sys/fs/cgroup/user/app/cpu.max": "5000 10000"}),
			Limits{CPUs: 0.5}},
		"2, a long period": {version2.with(files{"sys/fs/cgroup/user/app/cpu.max": "max"}), Limits{}},
		"2, a parent is stricter": {version2.with(own2("150000 100000", "2000", "99")).with(files{
			"sys/fs/cgroup/user/cpu.max": "50000 100000", "sys/fs/cgroup/user/memory.max": "1000"}),
			Limits{0.5, 1000, 99}},
		"2, a parent is laxer": {version2.with(own2("50000 100000", "1000", "99")).with(files{
			"sys/fs/cgroup/user/cpu.max": "150000 100000", "sys/fs/cgroup/user/memory.max": "2000"}),
			Limits{0.5, 1000, 99}},
		"2, garbage": {version2.with(own2("lots of it", "-5", "3.5")), Limits{}},
		"2, in a container with a namespace of its own": {files{"proc/self/cgroup": "0::/\n",
			"proc/self/mountinfo":    "9 8 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/cpu.max":  "25000 100000",
			"sys/fs/cgroup/pids.max": "20"}, Limits{CPUs: 0.25, Threads: 20}},
		"2, beside the namespace": {files{"proc/self/cgroup": "0::/../other\n",
			"proc/self/mountinfo":   "9 8 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/cpu.max": "25000 100000"}, Limits{CPUs: 0.25}},
		"1, no limit": {version1, Limits{}},
		"1, all limits": {version1.with(files{"sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us": "150000\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/pids/a/b/pids.max":                "99\n"}), Limits{1.5, 1 << 30, 99}},
		"1, by a parent": {version1.with(files{"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "20000",
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "10000",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":    "4096"}), Limits{CPUs: 2, Memory: 4096}},
		"1, in a container, named as on the host": {files{"proc/self/cgroup": "3:memory:/docker/5f\n",
			"proc/self/mountinfo": "9 8 0:32 /docker/5f /sys/fs/cgroup/memory ro - " +
				"cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":           "1000",
			"sys/fs/cgroup/memory/docker/5f/memory.limit_in_bytes": "10"}, Limits{Memory: 1000}},
		"1, a group of a longer name": {files{"proc/self/cgroup": "3:memory:/docker/5f7\n",
			"proc/self/mountinfo":           "9 8 0:32 /docker/5f /mem\\040ory ro - cgroup cgroup rw,memory\n",
			"mem ory/memory.limit_in_bytes": "1000"}, Limits{Memory: 1000}},
		"both, the controllers in 1": {version1.with(files{
			"proc/self/mountinfo": mountsOf1 +
				"40 31 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "1000"}), Limits{Memory: 1000}},
		"a cut-off file": {version2.with(files{"proc/self/cgroup": "0:", "proc/self/mountinfo": "35 24 - cgroup2"}),
			Limits{}},
	} {
		if got := Read(test.of.fs()); got != test.want {
			t.Errorf("%s: %+v, not %+v", name, got, test.want)
		}
	}
}

// own2 returns the files that limit the process's own group in version2.
func own2(cpu, memory, pids string) files {
	return files{"sys/fs/cgroup/user/app/cpu.max": cpu, "sys/fs/cgroup/user/app/memory.max": memory,
		"sys/fs/cgroup/user/app/pids.max": pids}
}

// The limits of this machine can be read.
func TestReadThisMachine(t *testing.T) {
	if l := Read(os.DirFS("/")); l.CPUs < 0 || l.Memory > 1<<60 {
		t.Errorf("this process has the limits %+v", l)
	}
}

func TestKills(t *testing.T) {
	events, control := "sys/fs/cgroup/user/app/memory.events", "sys/fs/cgroup/memory/a/b/memory.oom_control"
	for name, test := range map[string]struct {
		of    files
		count int
		known bool
	}{
		"no files":  {files{}, 0, false},
		"2":         {version2.with(files{events: "low 0\noom 5\noom_kill 3\noom_group_kill 0\n"}), 3, true},
		"2, none":   {version2.with(files{events: "oom 0\noom_kill 0\n"}), 0, true},
		"2, unsaid": {version2, 0, false},
		"1":         {version1.with(files{control: "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"}), 4, true},
		"1, a parent": {version1.with(files{"sys/fs/cgroup/memory/a/memory.oom_control": "oom_kill 4\n"}), 0,
			false},
	} {
		if count, known := Kills(test.of.fs()); count != test.count || known != test.known {
			t.Errorf("%s: %d, known: %t", name, count, known)
		}
	}
}
