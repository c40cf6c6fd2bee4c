package leading_test

import (
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/leading"
)

const (
	none     = nodes.None
	somebody = nodes.Somebody
)

// electorate returns nodes with these leaders; some nodes are down, and some are paused.
func electorate(down, stopped nodes.Set, leaders ...nodes.ID) (e leading.Electorate) {
	for i, leader := range leaders {
		id := nodes.ID(i)
		b := new(leading.Belief)
		b.Crash()
		if b.Declare(id, leader, 1, true); down.Has(id) {
			b.Crash()
		}
		e = append(e, leading.Voter{Up: !down.Has(id), Stopped: stopped.Has(id), Belief: b})
	}
	return e
}

func TestWhoLeads(t *testing.T) {
	for _, test := range []struct {
		name          string
		down, stopped nodes.Set
		believe       []nodes.ID
		leaders       []nodes.ID
		agreed        nodes.ID
	}{
		{name: "all follow one", believe: []nodes.ID{2, 2, 2}, leaders: []nodes.ID{2}, agreed: 2},
		{name: "one knows of none", believe: []nodes.ID{2, none, 2}, leaders: []nodes.ID{2}, agreed: none},
		{name: "two lead", believe: []nodes.ID{0, 2, 2}, leaders: []nodes.ID{0, 2}, agreed: none},
		{name: "a node that does not lead is followed", believe: []nodes.ID{1, 0, 1}, agreed: none},
		{name: "nobody leads", believe: []nodes.ID{1, none, 1}, agreed: none},
		{name: "of one that is down nothing is asked", down: nodes.SetOf(1), believe: []nodes.ID{2, 1, 2},
			leaders: []nodes.ID{2}, agreed: 2},
		{name: "nor of one that stands still", stopped: nodes.SetOf(1), believe: []nodes.ID{2, 1, 2},
			leaders: []nodes.ID{2}, agreed: 2},
		{name: "the leader is down", down: nodes.SetOf(2), believe: []nodes.ID{2, 2, 2}, agreed: none},
		{name: "the leader stands still", stopped: nodes.SetOf(2), believe: []nodes.ID{2, 2, 2}, agreed: none},
		{name: "somebody leads", believe: []nodes.ID{somebody, 1, somebody}, leaders: []nodes.ID{1}, agreed: 1},
		{name: "somebody, and another stands still", stopped: nodes.SetOf(2),
			believe: []nodes.ID{somebody, 1, 2}, leaders: []nodes.ID{1}, agreed: none},
		{name: "somebody, and nobody leads", believe: []nodes.ID{somebody, somebody}, agreed: none},
		{name: "all are down", down: nodes.SetOf(0, 1), believe: []nodes.ID{0, 0}, agreed: none},
	} {
		e := electorate(test.down, test.stopped, test.believe...)
		if got := e.Leaders(); !slices.Equal(got, test.leaders) || len(got) != e.Leading() {
			t.Errorf("%s: %v lead, %d", test.name, got, e.Leading())
		}
		if got := e.Agreed(); got != test.agreed {
			t.Errorf("%s: they agree on %d", test.name, got)
		}
		if got, want := e.Disagree(), test.agreed == none && test.name != "all are down"; got != want {
			t.Errorf("%s: they disagree: %v", test.name, got)
		}
	}
}

// A crash clears the leader of a node, but not the terms that it led.
func TestTerms(t *testing.T) {
	e := electorate(nodes.Set{}, nodes.Set{}, none, none, none)
	declare := func(self, leader nodes.ID, term uint64, back, first bool) {
		t.Helper()
		if b, f := e[self].Declare(self, leader, term, true); b != back || f != first {
			t.Errorf("node %d declares %d in term %d: back %v, first %v", self, leader, term, b, f)
		}
	}
	shared := func(id, other nodes.ID, term uint64) {
		t.Helper()
		if in, with, is := e.Shared(id); with != other || in != term || is != (other != none) {
			t.Errorf("node %d shares term %d with %d", id, in, with)
		}
	}
	declare(0, 0, 3, false, true)
	declare(0, 0, 3, false, false)
	declare(1, 0, 3, false, false)
	shared(0, none, 0)
	declare(1, 0, 2, true, false)
	e[0].Crash()
	copied := e[0].Copy()
	copied.Declare(0, 0, 1, true)
	if e[0].Led(1) || !copied.Led(1) || !copied.Led(3) {
		t.Error("a copy declares for the original, or forgets")
	}
	declare(0, none, 1, true, false)
	declare(1, 1, 3, false, true)
	shared(0, 1, 3)
	shared(1, 0, 3)
	shared(2, none, 0)
	if back, first := e[2].Declare(2, 2, 0, false); back || first || e[2].Led(0) {
		t.Error("terms are recorded without terms")
	}
}
