package bench

import "testing"

func TestPatience(t *testing.T) {
	moving := sums{requests: 2, entries: 1, exits: 1, sent: 5, delivered: 5}
	still := sums{requests: 2, entries: 1, exits: 1, sent: 6, delivered: 6}
	p := patience{limit: 100}
	for _, step := range []struct {
		s    sums
		now  int64
		over bool
	}{{moving, 1000, false}, {moving, 1100, false},
		{still, 1101, false}, {still, 1201, false}, {still, 1202, true}} {
		if got := p.over(step.s, step.now); got != step.over {
			t.Errorf("at %d: over is %v", step.now, got)
		}
	}
	p = patience{limit: 100, circulates: true} // a token that moves is no progress
	if p.over(moving, 1000) || !p.over(still, 1101) {
		t.Error("a token that goes round passes for progress")
	}
}

func TestRest(t *testing.T) {
	for _, test := range []struct {
		s          sums
		rest, open bool
	}{
		{sums{}, true, false},
		{sums{requests: 3, entries: 3, exits: 3, sent: 9, delivered: 9}, true, false},
		{sums{requests: 3, entries: 3, exits: 3, sent: 9, delivered: 8}, false, false},
		{sums{requests: 3, entries: 3, exits: 2, sent: 9, delivered: 9}, false, true}, // somebody is inside
		{sums{requests: 3, entries: 2, exits: 2, sent: 9, delivered: 9}, false, true},
	} {
		if test.s.atRest() != test.rest || test.s.open() != test.open {
			t.Errorf("%+v: at rest %v, open %v", test.s, test.s.atRest(), test.s.open())
		}
	}
}
