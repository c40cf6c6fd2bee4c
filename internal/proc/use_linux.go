package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the CPU time of a process, by its CPU clock: /proc has only units of 10 ms.
func CPUTime(pid int) (time.Duration, bool) {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
