package results

import (
	"io/fs"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"turnstile/internal/cgroup"
)

// A Machine describes the machine of a run, as far as figures depend on it. It does not contain the name of
// the host.
type Machine struct {
	OS       string  `yaml:"os"`
	Arch     string  `yaml:"arch"`
	Kernel   string  `yaml:"kernel,omitempty"`
	CPU      string  `yaml:"cpu,omitempty"`
	Cores    int     `yaml:"cores"`               // number of cores that a process may use
	CPUQuota float64 `yaml:"cpu_quota,omitempty"` // the limit of control groups, in cores; 0: no limit
	MemoryMB int     `yaml:"memory_mb,omitempty"` // memory of the machine, or the limit of control groups
}

// ThisMachine describes this machine, as it was at the first call. Unknown values are empty.
func ThisMachine() Machine { return thisMachine() }

var thisMachine = sync.OnceValue(func() Machine { return machineOf(os.DirFS("/"), runtime.NumCPU()) })

// machineOf describes the machine whose file system is root, and which has that many cores.
func machineOf(root fs.FS, cores int) Machine {
	limits := cgroup.Read(root)
	memory, _, _ := strings.Cut(procField(root, "proc/meminfo", "MemTotal"), " ")
	kb, _ := strconv.ParseUint(memory, 10, 64)
	if limits.Memory > 0 && (kb == 0 || limits.Memory/1024 < kb) {
		kb = limits.Memory / 1024
	}
	kernel, _ := fs.ReadFile(root, "proc/sys/kernel/osrelease")
	m := Machine{
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		Kernel:   strings.TrimSpace(string(kernel)),
		CPU:      procField(root, "proc/cpuinfo", "model name"),
		Cores:    cores,
		MemoryMB: int(kb / 1024),
	}
	if limits.CPUs < float64(cores) {
		m.CPUQuota = limits.CPUs
	}
	return m
}

// A Load is how busy a machine was. Unknown values are nil.
type Load struct {
	// Average is the load average: how many processes were running or ready to run, over the last minute.
	Average *float64 `yaml:"load,omitempty"`
	// Pressure is the share of the last ten seconds in which some process waited for a processor.
	Pressure *float64 `yaml:"cpu_pressure,omitempty"`
}

// LoadNow returns how busy this machine is. It is fast, since it only reads what Linux has measured.
func LoadNow() *Load { return loadOf(os.DirFS("/")) }

// loadOf returns how busy the machine is whose file system is root; nil: unknown.
func loadOf(root fs.FS) *Load {
	var l Load
	number := func(text string, by float64) *float64 {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			x = math.Round(x/by*1e4) / 1e4
			return &x
		}
		return nil
	}
	b, _ := fs.ReadFile(root, "proc/loadavg")
	average, _, _ := strings.Cut(string(b), " ")
	l.Average = number(average, 1)
	b, _ = fs.ReadFile(root, "proc/pressure/cpu") // begins with: some avg10=1.53 avg60=...
	_, rest, _ := strings.Cut(string(b), "some avg10=")
	percent, _, _ := strings.Cut(rest, " ")
	l.Pressure = number(percent, 100)
	if l == (Load{}) {
		return nil
	}
	return &l
}

// procField returns the value in the first line of the form "name : value" in a file.
func procField(root fs.FS, path, name string) string {
	b, _ := fs.ReadFile(root, path)
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
