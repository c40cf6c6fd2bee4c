// Package skew has wrong clocks: they jump, or run at another rate than time.
package skew

import "time"

// A Clock shows a time of its own, in nanoseconds.
type Clock struct {
	at    int64   // when it was last set, in true time
	shows int64   // what it showed then
	rate  float64 // how fast it runs, relative to true time
}

// New returns a correct clock.
func New() Clock { return Clock{rate: 1} }

// Now returns what the clock shows at a true time.
func (c Clock) Now(at int64) int64 {
	if c.rate == 1 { // exact, without rounding
		return c.shows + at - c.at
	}
	return c.shows + int64(float64(at-c.at)*c.rate)
}

// When returns the true time at which the clock shows a time.
func (c Clock) When(shows int64) int64 {
	if c.rate == 1 {
		return c.at + shows - c.shows
	}
	return c.at + int64(float64(shows-c.shows)/c.rate)
}

// Set returns the clock after it jumps ahead at a true time, and runs at a rate from then on.
func (c Clock) Set(at int64, jump time.Duration, rate float64) Clock {
	return Clock{at, c.Now(at) + int64(jump), rate}
}
