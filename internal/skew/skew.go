// Package skew has clocks that are wrong: that jump, or run at another rate than time.
package skew

import "time"

// A Clock tells a time of its own, in nanoseconds. The clock of New is right.
type Clock struct {
	at    int64   // when it was last set, in true time
	shows int64   // what it showed then
	rate  float64 // at which it runs
}

// New returns a clock that is right.
func New() Clock { return Clock{rate: 1} }

// Now returns what the clock shows at a true time.
func (c Clock) Now(at int64) int64 {
	if c.rate == 1 { // exactly
		return c.shows + at - c.at
	}
	return c.shows + int64(float64(at-c.at)*c.rate)
}

// When returns at what true time the clock shows this.
func (c Clock) When(shows int64) int64 {
	if c.rate == 1 {
		return c.at + shows - c.shows
	}
	return c.at + int64(float64(shows-c.shows)/c.rate)
}

// Set returns the clock as it is once it was set ahead by jump at a true time, to run at rate from then on.
func (c Clock) Set(at int64, jump time.Duration, rate float64) Clock {
	return Clock{at, c.Now(at) + int64(jump), rate}
}
