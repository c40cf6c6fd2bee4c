package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// timerClock has a timerfd for its alarm, which is tens of microseconds late. The runtime's own timers round
// up to whole milliseconds in an idle process.
type timerClock struct {
	anchor Anchor
	zero   int64 // the run's zero, on CLOCK_MONOTONIC
	fd     int
	file   *os.File // fd again, watched by the runtime's poller
	ring   func()
}

// newClock returns the clock of a run whose zero is given as a reading of CLOCK_MONOTONIC.
// When its alarm goes off, it calls ring.
func newClock(anchor Anchor, zero int64, ring func()) (clock, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating a timer: %w", err)
	}
	c := &timerClock{anchor, zero, fd, os.NewFile(uintptr(fd), "timerfd"), ring}
	go c.watch()
	return c, nil
}

func (c *timerClock) Now() int64 { return c.anchor.Now() - c.zero }

func (c *timerClock) SetAlarm(at int64) {
	// A time in the past makes the timer run out at once; a time of zero would disarm it.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, at+c.zero))}
	if err := unix.TimerfdSettime(c.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		panic("setting a timer: " + err.Error()) // only wrong arguments cause an error
	}
}

// watch calls ring when the timer has run out.
func (c *timerClock) watch() {
	var count [8]byte
	for {
		if _, err := c.file.Read(count[:]); err != nil {
			return
		}
		c.ring()
	}
}
