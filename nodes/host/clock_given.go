package host

import (
	"sync"
	"time"
)

// givenClock goes by a clock that the configuration gives, so that a test can have hosts whose clocks differ.
// Its alarm is a timer of the runtime.
type givenClock struct {
	monotonic func() int64
	zero      int64
	ring      func()

	mu    sync.Mutex
	at    int64 // of the alarm
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

// goOff rings, unless the clock ran slower than the timer: then the alarm is set for what is left.
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
