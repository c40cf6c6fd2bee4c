package proc

import (
	"fmt"
	"os"
	"path/filepath"
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

// Waited returns how long the process and its descendants have waited for processors since they began,
// together. For each process, the thread that has waited longest counts. Without /proc it is 0.
func (p *Process) Waited() (sum time.Duration) {
	for _, pid := range append(Descendants(p.Pid()), p.Pid()) {
		var most time.Duration
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, thread := range threads {
			var ran, waited int64
			b, _ := os.ReadFile(thread) // the read fails if the thread has ended
			fmt.Sscan(string(b), &ran, &waited)
			most = max(most, time.Duration(waited))
		}
		sum += most
	}
	return sum
}

// LongestStart is how many times its time limit a process may take if it waits for processors: see Late.
const LongestStart = 10

// Late returns a channel that is closed once the process, which has just been started, has had a limit of
// time, or has ended. The time for which it waited for processors does not count, up to LongestStart times
// the limit.
func (p *Process) Late(limit time.Duration) <-chan struct{} {
	late, began := make(chan struct{}), time.Now()
	go func() {
		defer close(late)
		for left := limit; left > 0; {
			select {
			case <-p.ended:
				return
			case <-time.After(left):
			}
			took := time.Since(began)
			left = min(limit+p.Waited()-took, LongestStart*limit-took)
		}
	}()
	return late
}
