package check

import (
	"testing"
	"time"
)

func TestTimesAreRoundedUpForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{10_030_000_807: "10.031s", 150 * time.Millisecond: "150ms",
		2010 * time.Millisecond: "2.01s", 1_234_567: "1.235ms", 0: "0s", 1: "1µs"} {
		if got := about(d).String(); got != want {
			t.Errorf("%d: %s, not %s", d, got, want)
		}
	}
}
