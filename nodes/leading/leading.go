// Package leading decides who leads, from what nodes have said and without time: the explorer asks it of
// each state, and whoever judges a run asks it of each moment of the history.
//
// A node leads while it is up, runs and takes itself for the leader. One that stands still neither leads nor
// has to agree.
package leading

import (
	"cmp"
	"encoding/binary"
	"slices"

	"turnstile/nodes"
)

// A Belief is whom a node takes for the leader, as it has said. It begins with Crash.
type Belief struct {
	Leader    nodes.ID // may be nodes.None or nodes.Somebody
	TakesPart bool     // it was told to campaign, or has said something, in this life
	Term      uint64   // that it has named last, in any of its lives

	led []uint64 // the terms in which it led, in any of its lives, ascending; without terms: none
}

// Copy returns a copy that may declare further without a change to b.
func (b *Belief) Copy() Belief {
	c := *b
	c.led = slices.Clip(c.led) // so that whoever adds to it allocates
	return c
}

// Declare has a node say whom it takes for the leader; terms says whether its scheme has terms. It reports
// whether the node goes back to a lower term, and whether it leads in this one for the first time.
func (b *Belief) Declare(self, leader nodes.ID, term uint64, terms bool) (backwards, first bool) {
	backwards = terms && term < b.Term
	b.Leader, b.Term, b.TakesPart = leader, term, true
	if at, is := slices.BinarySearch(b.led, term); terms && leader == self && !is {
		b.led, first = slices.Insert(b.led, at, term), true
	}
	return backwards, first
}

// Crash ends a life: the node knows of no leader, but which terms it has named and led remains known.
func (b *Belief) Crash() { b.Leader, b.TakesPart = nodes.None, false }

// Led reports whether the node has led in a term, in any of its lives.
func (b *Belief) Led(term uint64) bool {
	_, led := slices.BinarySearch(b.led, term)
	return led
}

// Append appends all there is to a belief: equal ones give equal bytes.
func (b *Belief) Append(to []byte) []byte {
	to = binary.AppendVarint(to, int64(b.Leader))
	if b.TakesPart {
		to = append(to, 1)
	} else {
		to = append(to, 0)
	}
	to = binary.AppendUvarint(binary.AppendUvarint(to, b.Term), uint64(len(b.led)))
	for _, term := range b.led {
		to = binary.AppendUvarint(to, term)
	}
	return to
}

// A Voter is a client of an election.
type Voter struct {
	Up      bool
	Stopped bool // it stands still
	*Belief
}

// Runs reports whether it is up and does not stand still.
func (v *Voter) Runs() bool { return v.Up && !v.Stopped }

// An Electorate is all clients of an election, by their numbers.
type Electorate []Voter

// Leads reports whether a node leads.
func (e Electorate) Leads(id nodes.ID) bool { return e[id].Runs() && e[id].Leader == id }

// Leaders returns the nodes that lead.
func (e Electorate) Leaders() (all []nodes.ID) {
	for i := range e {
		if id := nodes.ID(i); e.Leads(id) {
			all = append(all, id)
		}
	}
	return all
}

// Leading returns how many nodes lead.
func (e Electorate) Leading() (n int) {
	for i := range e {
		if e.Leads(nodes.ID(i)) {
			n++
		}
	}
	return n
}

// Follows reports whether a node takes another, or itself, for the leader. A node that only knows that
// somebody leads follows the leader while no other node says that it leads, those that stand still included.
func (e Electorate) Follows(id, leader nodes.ID) bool {
	return e[id].Leader == leader || e[id].Leader == nodes.Somebody && e.alone(leader)
}

// alone reports whether no other node that is up says that it leads.
func (e Electorate) alone(leader nodes.ID) bool {
	for i := range e {
		if id := nodes.ID(i); id != leader && e[i].Up && e[i].Leader == id {
			return false
		}
	}
	return true
}

// Agreed returns the leader that all nodes that run follow, itself included; None: there is none.
func (e Electorate) Agreed() nodes.ID {
	leader := nodes.None
	for i := range e {
		if id := nodes.ID(i); e.Leads(id) {
			if leader != nodes.None {
				return nodes.None // two lead, and neither follows the other
			}
			leader = id
		}
	}
	for i := range e {
		if leader != nodes.None && e[i].Runs() && !e.Follows(nodes.ID(i), leader) {
			return nodes.None
		}
	}
	return leader
}

// Foremost returns the leader that a fault of the leader hits: of several the one of the highest term, and of
// one term the one that declared itself last; None: nobody leads. Since says when a leader declared itself.
func (e Electorate) Foremost(since func(nodes.ID) uint64) nodes.ID {
	foremost := nodes.None
	for _, id := range e.Leaders() {
		if foremost == nodes.None || cmp.Or(cmp.Compare(e[id].Term, e[foremost].Term),
			cmp.Compare(since(id), since(foremost))) > 0 {
			foremost = id
		}
	}
	return foremost
}

// Asked reports whether a node that is up takes part, so that a leader is to be elected.
func (e Electorate) Asked() bool {
	return slices.ContainsFunc(e, func(v Voter) bool { return v.Up && v.TakesPart })
}

// Disagree reports whether a leader is to be elected, and not all nodes that run agree on one.
func (e Electorate) Disagree() bool { return e.Asked() && e.Agreed() == nodes.None }

// Shared returns a term in which a node led and another too, at whatever time, if there is one.
func (e Electorate) Shared(id nodes.ID) (term uint64, other nodes.ID, is bool) {
	for _, term := range e[id].led {
		for i := range e {
			if other := nodes.ID(i); other != id && e[i].Led(term) {
				return term, other, true
			}
		}
	}
	return 0, nodes.None, false
}
