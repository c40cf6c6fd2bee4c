// Package leading decides which nodes lead, from what they have declared. The explorer uses it for each
// state, and the judge of a run for each moment of the history.
//
// A node leads while it is up, not paused, and takes itself for the leader. A paused node neither leads nor
// has to agree.
package leading

import (
	"cmp"
	"encoding/binary"
	"slices"

	"turnstile/nodes"
)

// A Belief is the leader that a node has declared. Crash initialises it.
type Belief struct {
	Leader    nodes.ID // may be nodes.None or nodes.Somebody
	TakesPart bool     // it was told to campaign, or has declared a leader, in this life
	Term      uint64   // the term that it declared last, in any of its lives

	led []uint64 // the terms in which it led, in any of its lives, ascending; empty without terms
}

// Copy returns a copy; Declare on one does not change the other.
func (b *Belief) Copy() Belief {
	c := *b
	c.led = slices.Clip(c.led) // so that an insert into the copy allocates new memory
	return c
}

// Declare records that the node self takes leader for the leader; terms says whether the election has terms.
// It reports whether the node goes back to a lower term, and whether it leads in term for the first time.
func (b *Belief) Declare(self, leader nodes.ID, term uint64, terms bool) (backwards, first bool) {
	backwards = terms && term < b.Term
	b.Leader, b.Term, b.TakesPart = leader, term, true
	if at, is := slices.BinarySearch(b.led, term); terms && leader == self && !is {
		b.led, first = slices.Insert(b.led, at, term), true
	}
	return backwards, first
}

// Crash ends a life: the node knows no leader. The terms that it has named and led stay recorded.
func (b *Belief) Crash() { b.Leader, b.TakesPart = nodes.None, false }

// Led reports whether the node has led in a term, in any of its lives.
func (b *Belief) Led(term uint64) bool {
	_, led := slices.BinarySearch(b.led, term)
	return led
}

// Append appends the belief as bytes. Equal beliefs give equal bytes.
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
	Stopped bool // paused
	*Belief
}

// Runs reports whether the voter is up and not paused.
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

// Follows reports whether a node takes leader, which may be itself, for the leader. A node that has declared
// nodes.Somebody follows leader while no other node that is up, even if paused, has declared itself.
func (e Electorate) Follows(id, leader nodes.ID) bool {
	return e[id].Leader == leader || e[id].Leader == nodes.Somebody && e.alone(leader)
}

// alone reports whether no node but leader has declared itself, of the nodes that are up, even if paused.
func (e Electorate) alone(leader nodes.ID) bool {
	for i := range e {
		if id := nodes.ID(i); id != leader && e[i].Up && e[i].Leader == id {
			return false
		}
	}
	return true
}

// Agreed returns the leader that all running nodes, itself included, follow; None: they do not agree.
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

// Foremost returns the leader that a fault hits if it targets the leader. If several lead, the highest term
// wins, then the latest declaration; since returns the time of a node's declaration. None: no node leads.
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

// Asked reports whether a node that is up takes part: then a leader is to be elected.
func (e Electorate) Asked() bool {
	return slices.ContainsFunc(e, func(v Voter) bool { return v.Up && v.TakesPart })
}

// Disagree reports whether a leader is to be elected, and not all nodes that run agree on one.
func (e Electorate) Disagree() bool { return e.Asked() && e.Agreed() == nodes.None }

// Shared returns a term in which the node id and another node both led, at any time, and whether there is
// such a term.
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
