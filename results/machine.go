package results

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// A Machine describes the machine of a run, as far as its figures depend on it. It has no host name.
type Machine struct {
	OS       string `yaml:"os"`
	Arch     string `yaml:"arch"`
	Kernel   string `yaml:"kernel,omitempty"`
	CPU      string `yaml:"cpu,omitempty"`
	Cores    int    `yaml:"cores"` // that a process may use
	MemoryMB int    `yaml:"memory_mb,omitempty"`
}

// ThisMachine describes this machine. What its system does not say is left empty.
func ThisMachine() Machine {
	memory, _, _ := strings.Cut(procField("/proc/meminfo", "MemTotal"), " ")
	kb, _ := strconv.Atoi(memory)
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return Machine{
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		Kernel:   strings.TrimSpace(string(kernel)),
		CPU:      procField("/proc/cpuinfo", "model name"),
		Cores:    runtime.NumCPU(),
		MemoryMB: kb / 1024,
	}
}

// procField returns what the first line "name : value" of a file says.
func procField(path, name string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
