package check

import (
	"strings"
	"testing"
)

// If the clock of a host jumped, times of different nodes prove no violation. Times of one node still do.
func TestTimesOfAClockThatJumpedFindNoViolation(t *testing.T) {
	timed := map[string]int{"leaders": 0, "lapse": 0, "agreement": 0}
	for _, r := range overlapping() {
		before := r.verdict(t)
		r.jumps = true
		after := r.verdict(t)
		for i, f := range before.Findings {
			_, is := timed[f.Check]
			switch now := after.Findings[i]; {
			case f.Outcome != Violated || f.Check == "winner" || f.Check == "stability":
			case is && (now.Outcome != Inconclusive || !strings.HasSuffix(now.Says, ", but "+jumped)):
				t.Errorf("%s: %s is %v: %s", r.name, f.Check, now.Outcome, now.Says)
			case is:
				timed[f.Check]++
			case now.Outcome != Violated:
				t.Errorf("%s: %s is %v: %s", r.name, f.Check, now.Outcome, now.Says)
			}
		}
	}
	if timed["leaders"] == 0 || timed["lapse"] == 0 {
		t.Errorf("too little was violated: %v", timed)
	}
}
