//go:build !linux

package host

import "time"

// sleepClock has a timer of the runtime for its alarm, which may be a millisecond late.
type sleepClock struct {
	anchor Anchor
	zero   int64
	timer  *time.Timer
	alarms chan struct{}
}

// NewClock returns the clock of a run whose zero is given as a reading of CLOCK_MONOTONIC.
func NewClock(anchor Anchor, zero int64) (Clock, error) {
	c := &sleepClock{anchor: anchor, zero: zero, alarms: make(chan struct{}, 1)}
	c.timer = time.AfterFunc(time.Hour, func() {
		select {
		case c.alarms <- struct{}{}:
		default:
		}
	})
	c.timer.Stop()
	return c, nil
}

func (c *sleepClock) Now() int64              { return c.anchor.Now() - c.zero }
func (c *sleepClock) Alarms() <-chan struct{} { return c.alarms }
func (c *sleepClock) SetAlarm(at int64)       { c.timer.Reset(time.Duration(at - c.Now())) }
