package proc

import (
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Adopt sets whether orphans among the descendants of this process become its children, also from other
// sessions.
func Adopt(on bool) {
	arg := uintptr(0)
	if on {
		arg = 1
	}
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, arg, 0, 0, 0) // every kernel that runs this program has it
}

// EndAdopted ends the descendants of this process, except others, and waits until they have ended.
func EndAdopted(others []int) {
	for until := time.Now().Add(drainLimit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		all := slices.DeleteFunc(Descendants(os.Getpid()), func(pid int) bool {
			return slices.Contains(others, pid)
		})
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
			unix.Wait4(pid, nil, unix.WNOHANG, nil) // fails unless it is a child of this process
		}
	}
}
