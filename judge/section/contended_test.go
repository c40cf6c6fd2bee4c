package section

import (
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A request is contended if fewer units are free than it and all waiting ones take together, unless units are
// given back within the error of the stamps.
func TestWhichRequestsAreContended(t *testing.T) {
	const err = 5
	enters, exits := history.Entered, history.Exited
	for name, test := range map[string]struct {
		capacity int
		events   []history.Event
		want     []nodes.ID // whose requests are contended
	}{
		"one after the other": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters), happens(30, 0, exits),
			request(30, 1, 1), happens(50, 1, enters), happens(60, 1, exits)}, nil},
		"while another is inside": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters), request(25, 1, 1),
			happens(40, 0, exits)}, []nodes.ID{1}},
		"while another waits": {1, []history.Event{request(10, 0, 1), request(11, 1, 1), happens(40, 0, enters),
			happens(50, 0, exits)}, []nodes.ID{1}},
		"though both are let in": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters), request(25, 1, 1),
			happens(31, 1, enters), happens(32, 1, exits), happens(40, 0, exits)}, []nodes.ID{1}},
		"as another leaves, by the stamps": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters),
			request(25, 1, 1), happens(30, 0, exits), happens(50, 1, enters), happens(60, 1, exits)}, nil},
		"two as another leaves": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters), request(25, 1, 1),
			request(25, 2, 1), happens(25, 0, exits)}, []nodes.ID{2}},
		"while the other is down": {1, []history.Event{request(10, 0, 1), happens(20, 0, enters),
			happens(30, 0, history.Crashed), request(50, 1, 1)}, nil},
		"enough is free": {3, []history.Event{request(10, 0, 1), happens(20, 0, enters), request(30, 1, 2)}, nil},
		"too little is free": {3, []history.Event{request(10, 0, 1), happens(20, 0, enters), request(30, 1, 3)},
			[]nodes.ID{1}},
		"waiting requests take it": {3, []history.Event{request(10, 0, 1), request(11, 1, 2), request(12, 2, 1)},
			[]nodes.ID{2}},
	} {
		end := happens(100, nodes.None, history.Marked)
		f, all := folded(append(test.events, end), test.capacity, err)
		var got []nodes.ID
		for _, s := range all {
			if s.Contended() {
				got = append(got, s.Node)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) || f.Resources[0].Contended != uint64(len(test.want)) {
			t.Errorf("%s: requests of %v are contended, want %v; counted %d", name, got, test.want,
				f.Resources[0].Contended)
		}
	}
}
