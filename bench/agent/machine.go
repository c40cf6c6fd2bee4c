package agent

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"turnstile/internal/cgroup"
)

// Monotonic returns what CLOCK_MONOTONIC shows, in nanoseconds.
func Monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0 // every supported kernel has it
	}
	return t.Nano()
}

// freeMB returns how much memory is free for processes, in megabytes; 0: that is not known.
func freeMB() int {
	b, _ := os.ReadFile("/proc/meminfo")
	kb := 0
	for line := range strings.Lines(string(b)) {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			kb, _ = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
		}
	}
	if limit := cgroup.Read(os.DirFS("/")).Memory; limit > 0 && (kb == 0 || int(limit/1024) < kb) {
		kb = int(limit / 1024)
	}
	return kb / 1024
}
