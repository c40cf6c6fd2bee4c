package cluster

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A CPUReading is the CPU time that the machine has spent since it was booted, in ticks.
type CPUReading struct{ busy, all uint64 }

// ReadCPU reads how much CPU time the machine has spent. It reports false where that is not known.
func ReadCPU() (CPUReading, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPUReading{}, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return CPUReading{}, false
	}
	var r CPUReading
	for i, f := range fields[1:min(len(fields), 9)] { // guest time is in user time already
		ticks, _ := strconv.ParseUint(f, 10, 64)
		r.all += ticks
		if i != 3 && i != 4 { // idle, and waiting for a disk
			r.busy += ticks
		}
	}
	return r, true
}

// BusySince returns the share of all CPU time that was busy since the earlier reading, in millionths.
func (r CPUReading) BusySince(earlier CPUReading) (int64, bool) {
	if r.all <= earlier.all {
		return 0, false
	}
	return int64(1e6 * (r.busy - earlier.busy) / (r.all - earlier.all)), true
}

// CPUTime returns how much CPU time the process has spent.
func (p *Process) CPUTime() (time.Duration, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return 0, false
	}
	_, after, _ := strings.Cut(string(b), ") ") // the name of the program may contain anything
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	const tick = time.Second / 100 // USER_HZ, on every architecture that Go runs on
	return time.Duration(user+system) * tick, err1 == nil && err2 == nil
}

// PeakResidentKB returns the peak of the process's resident memory, in units of 1024 bytes.
func (p *Process) PeakResidentKB() (int64, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return 0, false
	}
	_, after, found := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(after)
	if !found || len(fields) == 0 {
		return 0, false
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb, err == nil
}
