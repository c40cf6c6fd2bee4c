package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap sleeps for a time that is too short for the runtime's timers, which round it up to a millisecond. It
// blocks a thread.
func nap(d time.Duration) {
	t := unix.NsecToTimeval(int64(d))
	unix.Select(0, nil, nil, nil, &t)
}
