package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns how much CPU time a process has spent, by its clock of it: the time that /proc gives is in
// units of 10 ms.
func cpuTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// usable returns a function that reports whether this process may run on a processor.
func usable() func(cpu int) bool {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return func(int) bool { return true }
	}
	return set.IsSet
}
