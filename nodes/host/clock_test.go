package host

import (
	"testing"
	"time"
)

// An alarm never comes before its time, after any earlier settings. Its lateness is measured in every run and
// by BenchmarkAlarm, but not tested.
func TestAlarmIsNotEarly(t *testing.T) {
	anchor := DropAnchor()
	alarms := make(chan struct{}, 1)
	ring := func() { alarms <- struct{}{} }
	clock, err := newClock(anchor, anchor.Now(), ring)
	if err != nil {
		t.Fatal(err)
	}
	isNotEarly(t, clock, alarms)
	// A clock that runs at half the rate, far behind: its timers take twice as long.
	slow := func() int64 { return anchor.Now()/2 - int64(time.Hour) }
	isNotEarly(t, newGivenClock(slow, slow(), ring), alarms)
}

func isNotEarly(t *testing.T, clock clock, alarms chan struct{}) {
	t.Helper()
	for _, ahead := range []time.Duration{-time.Second, 0, 50 * time.Microsecond, 3 * time.Millisecond} {
		clock.SetAlarm(clock.Now() + int64(time.Hour))
		at := clock.Now() + int64(ahead)
		clock.SetAlarm(at)
		select {
		case <-alarms:
			if now := clock.Now(); now < at {
				t.Errorf("an alarm %v before its time", time.Duration(at-now))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("an alarm that was due %v ahead never came", ahead)
		}
	}
}

func TestAnchorsAgree(t *testing.T) {
	for range 100 {
		a, b := DropAnchor(), DropAnchor()
		before := a.Now()
		between := b.Now()
		after := a.Now()
		if slack := a.Error + b.Error; between < before-slack || between > after+slack {
			t.Fatalf("one clock shows %d, the other between %d and %d; errors %d, %d",
				between, before, after, a.Error, b.Error)
		}
	}
}
