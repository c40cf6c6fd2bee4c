package host

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A clock shows the time of the run, and has an alarm.
type clock interface {
	// Now returns the time since the run's zero, in nanoseconds.
	Now() int64
	// SetAlarm sets the alarm for the time at, or for now if that is past. A later call replaces an earlier.
	// The alarm calls ring (see newClock) on another goroutine.
	SetAlarm(at int64)
}

// An Anchor ties this process's clock to CLOCK_MONOTONIC, which all processes of one kernel share.
type Anchor struct {
	at    time.Time // with a monotonic reading
	mono  int64     // CLOCK_MONOTONIC at that time, in nanoseconds
	Error int64     // bound on the error of mono, in nanoseconds
}

// DropAnchor reads both clocks several times, and keeps the reading with the smallest error.
func DropAnchor() Anchor {
	best := Anchor{Error: 1 << 62}
	for range 16 {
		before := time.Now()
		mono := monotonic()
		gap := int64(time.Since(before))
		if half := gap/2 + 1; half < best.Error {
			best = Anchor{before, mono - half, half}
		}
	}
	return best
}

// Now returns the time by CLOCK_MONOTONIC, in nanoseconds.
func (a *Anchor) Now() int64 { return a.mono + int64(time.Since(a.at)) }

// monotonic reads CLOCK_MONOTONIC, in nanoseconds. It is a system call; an Anchor is cheaper.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("reading CLOCK_MONOTONIC: " + err.Error()) // every supported kernel has it
	}
	return t.Nano()
}

// givenClock shows the time of Config.Monotonic, for tests of hosts whose clocks differ. Its alarm is a timer
// of the runtime.
type givenClock struct {
	monotonic func() int64
	zero      int64
	ring      func()

	mu    sync.Mutex
	at    int64 // when the alarm is due
	timer *time.Timer
}

func newGivenClock(monotonic func() int64, zero int64, ring func()) *givenClock {
	c := &givenClock{monotonic: monotonic, zero: zero, ring: ring}
	c.timer = time.AfterFunc(time.Hour, c.goOff)
	c.timer.Stop()
	return c
}

func (c *givenClock) Now() int64 { return c.monotonic() - c.zero }

func (c *givenClock) SetAlarm(at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
	c.timer.Reset(time.Duration(at - c.Now()))
}

// goOff rings or, if the clock runs slower than the timer, sets the timer for the remaining time.
func (c *givenClock) goOff() {
	c.mu.Lock()
	if left := c.at - c.Now(); left > 0 {
		c.timer.Reset(time.Duration(left))
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.ring()
}
