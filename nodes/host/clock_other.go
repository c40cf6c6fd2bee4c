//go:build !linux

package host

import "time"

// sleepClock has a timer of the runtime for its alarm, which may be a millisecond late.
type sleepClock struct {
	anchor Anchor
	zero   int64
	timer  *time.Timer
}

// newClock returns the clock of a run whose zero is given as a reading of CLOCK_MONOTONIC.
// When its alarm goes off, it calls ring.
func newClock(anchor Anchor, zero int64, ring func()) (clock, error) {
	c := &sleepClock{anchor: anchor, zero: zero}
	c.timer = time.AfterFunc(time.Hour, ring)
	c.timer.Stop()
	return c, nil
}

func (c *sleepClock) Now() int64        { return c.anchor.Now() - c.zero }
func (c *sleepClock) SetAlarm(at int64) { c.timer.Reset(time.Duration(at - c.Now())) }
