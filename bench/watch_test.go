package bench

import "testing"

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
