package results

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"

	"turnstile/internal/cgroup"
)

// A Machine describes the machine of a run, as far as its figures depend on it. It has no host name.
type Machine struct {
	OS       string  `yaml:"os"`
	Arch     string  `yaml:"arch"`
	Kernel   string  `yaml:"kernel,omitempty"`
	CPU      string  `yaml:"cpu,omitempty"`
	Cores    int     `yaml:"cores"`               // that a process may use
	CPUQuota float64 `yaml:"cpu_quota,omitempty"` // cores' worth of time that control groups allow it; 0: all
	MemoryMB int     `yaml:"memory_mb,omitempty"` // that it has, or control groups allow
}

// ThisMachine describes this machine. What its system does not say is left empty.
func ThisMachine() Machine { return machineOf(os.DirFS("/"), runtime.NumCPU()) }

// machineOf describes the machine whose file system is root, with so many cores.
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

// procField returns what the first line "name : value" of a file says.
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
