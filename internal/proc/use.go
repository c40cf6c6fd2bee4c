package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUTime returns the CPU time of the process, also after it has ended, and whether it is known.
func (p *Process) CPUTime() (time.Duration, bool) {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime(), true
	default:
		return CPUTime(p.Pid())
	}
}

// PeakResidentKB returns the peak of the resident memory of a running process, in units of 1024 bytes.
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
