package results

import (
	"runtime"
	"strconv"
	"testing"
	"testing/fstest"
)

func TestMachineIsWhatControlGroupsAllow(t *testing.T) {
	for name, test := range map[string]struct {
		cpu, memory string
		want        Machine
	}{
		"no limit":      {"max 100000", "max", Machine{Cores: 4, MemoryMB: 8000}},
		"limits":        {"150000 100000", "1073741824", Machine{Cores: 4, CPUQuota: 1.5, MemoryMB: 1024}},
		"above what is": {"800000 100000", "107374182400", Machine{Cores: 4, MemoryMB: 8000}},
		"all cores":     {"400000 100000", "max", Machine{Cores: 4, MemoryMB: 8000}},
	} {
		file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
		got := machineOf(fstest.MapFS{
			"proc/meminfo":              file("MemTotal:  8192000 kB\nMemFree: 5 kB"),
			"proc/cpuinfo":              file("processor : 0\nmodel name\t: Good: 3 GHz\nmodel name : Other"),
			"proc/sys/kernel/osrelease": file("6.1"),
			"proc/self/cgroup":          file("0::/a"),
			"proc/self/mountinfo":       file("35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
			"sys/fs/cgroup/a/cpu.max":   file(test.cpu), "sys/fs/cgroup/a/memory.max": file(test.memory),
		}, 4)
		test.want.OS, test.want.Arch = runtime.GOOS, runtime.GOARCH
		test.want.Kernel, test.want.CPU = "6.1", "Good: 3 GHz"
		if got != test.want {
			t.Errorf("%s: %+v, not %+v", name, got, test.want)
		}
	}
	if got := machineOf(fstest.MapFS{}, 2); got != (Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: 2}) {
		t.Errorf("a system that says nothing: %+v", got)
	}
}

func TestLoadIsWhatTheSystemSays(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	average := file("0.52 0.40 0.31 2/310 4711")
	pressure := file("some avg10=1.53 avg60=0.20 avg300=0.00 total=5\nfull avg10=0.00 total=0")
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"both":         {fstest.MapFS{"proc/loadavg": average, "proc/pressure/cpu": pressure}, "0.52 0.0153"},
		"no pressure":  {fstest.MapFS{"proc/loadavg": average}, "0.52 unknown"},
		"garbled":      {fstest.MapFS{"proc/loadavg": file("x"), "proc/pressure/cpu": pressure}, "unknown 0.0153"},
		"says nothing": {fstest.MapFS{}, "nothing"},
	} {
		got := "nothing"
		if l := loadOf(test.files); l != nil {
			got = says(l.Average) + " " + says(l.Pressure)
		}
		if got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
	}
}

func says(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
