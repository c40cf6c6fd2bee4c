package leadership

import (
	"testing"
	"time"

	"turnstile/nodes/row"
)

// A leader changes when a node comes to lead, or to lead in another term. Changes within a grace of what may
// cause them do not count, nor does that time.
func TestChangesInCalmTimes(t *testing.T) {
	const start = "0 begin\n0 0,1,2,3,4 in 4 1\n"
	for _, test := range []struct {
		name    string
		text    string
		changes int
		steady  time.Duration
	}{
		{"nothing happens", "1000 stop", 0, 900 * time.Millisecond},
		{"again and again", "300 0 in 0 2\n310 4 in 0 2\n500 4 in 4 3\n510 0 in 4 3\n700 0 in 0 4\n1000 stop",
			3, 900 * time.Millisecond},
		{"more than once in a grace", "150 0 in 0 2\n160 0 in 0 3\n170 0 in 0 4\n250 stop", 3,
			150 * time.Millisecond},
		{"the same, said again", "300 4 in 4 1\n400 4 in 4 1\n1000 stop", 0, 900 * time.Millisecond},
		{"after a cut", "200 cut 1\n250 0 in 0 2\n600 heal 1\n650 4 in 4 3\n1000 stop", 0,
			700 * time.Millisecond},
		{"during a cut", "200 cut 1\n250 0 in 0 2\n400 1 in 1 3\n600 heal 1\n1000 stop", 1,
			700 * time.Millisecond},
		{"after a crash", "200 crash 4\n250 0 in 0 2\n1000 stop", 0, 800 * time.Millisecond},
		{"no time is calm", "80 cut 1\n150 heal 1\n200 stop", 0, 0},
	} {
		f := foldedIn(t, 100*time.Millisecond, row.MajorityReached, []Cut{sides(4)}, start+test.text)
		changes, length := f.Steady()
		if changes != test.changes || time.Duration(length) != test.steady {
			t.Errorf("%s: %d changes in %v", test.name, changes, time.Duration(length))
		}
	}
	f := foldedIn(t, 0, row.MajorityReached, nil, start+"300 0 in 0 2\n1000 stop")
	if changes, length := f.Steady(); changes > 0 || length > 0 {
		t.Errorf("of a scheme without timeouts: %d changes in %v", changes, time.Duration(length))
	}
}
