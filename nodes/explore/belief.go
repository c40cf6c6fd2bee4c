package explore

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
)

// What the nodes of an election believe is judged as bench/check judges it in a history, as far as it can
// be without time:
//
//   - leaders: without terms, no two that are up lead at once. If a row allows an overlap, two may lead for
//     that long, and are wrong if no message is on its way and no timer runs: then they lead for any time,
//     until something happens of which no algorithm knows when. With a Timing, the ticks are counted as well.
//   - terms: no two nodes lead in one term, in any of their lives, and no node goes back to a lower one.
//   - agreement: when nothing is left to happen, all that are up agree on one of them, if any of them takes
//     part: was told to campaign, or has said whom it takes for the leader, in this life.
//
// What a node says within one handler counts in the order in which it says it, but that it leads only when
// the handler is over.

// A belief is whom a node takes for the leader, as it has said.
type belief struct {
	leader    nodes.ID
	takesPart bool     // it was told to campaign, or has said something, in this life
	term      uint64   // that it has named last, in any of its lives
	led       []uint64 // the terms in which it led, in any of its lives, ascending; without terms: none
}

// declare has a node say whom it takes for the leader. It reports whether it goes back to a lower term.
func (b *belief) declare(self, leader nodes.ID, term uint64, terms bool) (backwards bool) {
	backwards = terms && term < b.term
	b.leader, b.term, b.takesPart = leader, term, true
	if at, is := slices.BinarySearch(b.led, term); terms && leader == self && !is {
		b.led = slices.Insert(slices.Clone(b.led), at, term) // others may share it
	}
	return backwards
}

// crash ends a life: it takes along whom the node believed in.
func (b *belief) crash() { b.leader, b.takesPart = nodes.None, false }

// append appends all there is to a belief: equal ones give equal bytes.
func (b *belief) append(to []byte) []byte {
	to = binary.AppendVarint(to, int64(b.leader))
	if b.takesPart {
		to = append(to, 1)
	} else {
		to = append(to, 0)
	}
	to = binary.AppendUvarint(binary.AppendUvarint(to, b.term), uint64(len(b.led)))
	for _, term := range b.led {
		to = binary.AppendUvarint(to, term)
	}
	return to
}

// A voter is a client of an election.
type voter struct {
	up bool
	*belief
}

// An electorate is all clients of an election, by their numbers.
type electorate []voter

// leaders returns the nodes that are up and say that they lead.
func (e electorate) leaders() (all []nodes.ID) {
	for id, v := range e {
		if v.up && v.leader == nodes.ID(id) {
			all = append(all, v.leader)
		}
	}
	return all
}

// leading returns how many there are of these.
func (e electorate) leading() (n int) {
	for id, v := range e {
		if v.up && v.leader == nodes.ID(id) {
			n++
		}
	}
	return n
}

// agree reports whether all nodes that are up take the same one of them for the leader, itself included. Who
// only knows that somebody leads agrees with all as long as one leads alone.
func (e electorate) agree() bool {
	leader, somebody := nodes.None, false
	for _, v := range e {
		switch {
		case !v.up:
		case v.leader == nodes.Somebody:
			somebody = true
		case v.leader == nodes.None || leader != nodes.None && v.leader != leader:
			return false
		default:
			leader = v.leader
		}
	}
	return leader >= 0 && int(leader) < len(e) && e[leader].up && e[leader].leader == leader &&
		(!somebody || e.leading() == 1)
}

// disagree reports whether nodes that are up do not agree though they should, since one of them takes part.
func (e electorate) disagree() bool {
	return slices.ContainsFunc(e, func(v voter) bool { return v.up && v.takesPart }) && !e.agree()
}

// shared returns a term in which a node led and another too, if there is one.
func (e electorate) shared(id nodes.ID) (term uint64, other nodes.ID, is bool) {
	for _, term := range e[id].led {
		for other, v := range e {
			if _, led := slices.BinarySearch(v.led, term); led && nodes.ID(other) != id {
				return term, nodes.ID(other), true
			}
		}
	}
	return 0, nodes.None, false
}

func saysShared(term uint64, one, other nodes.ID) string {
	return fmt.Sprintf("nodes %s have led in term %d", ids([]nodes.ID{min(one, other), max(one, other)}), term)
}

func saysBackwards(id nodes.ID, from, to uint64) string {
	return fmt.Sprintf("node %d goes back from term %d to term %d", id, from, to)
}

// saysLead says that several lead.
func (e electorate) saysLead() string { return who(e.leaders(), "leads", "lead") }

// saysBeliefs says what each node that is up believes.
func (e electorate) saysBeliefs() string {
	var all []string
	for id, v := range e {
		if v.up {
			all = append(all, fmt.Sprintf("node %d %s", id, saysBelief(nodes.ID(id), v.leader)))
		}
	}
	return english.List(all)
}

// saysBelief says what a node believes: that it leads.
func saysBelief(self, leader nodes.ID) string {
	switch leader {
	case self:
		return "leads"
	case nodes.None:
		return "knows of no leader"
	case nodes.Somebody:
		return "takes somebody else for the leader"
	}
	return fmt.Sprintf("takes node %d for the leader", leader)
}

// rules are what an election promises.
type rules struct {
	elects  bool          // the first instance is an elector
	terms   bool          // its leaders have terms
	overlap time.Duration // for how long two may lead at once, without terms
}

func rulesOf(stack *nodes.Stack) rules {
	in := stack.Instances()[0]
	r := rules{elects: stack.Elects()}
	if r.elects {
		r.terms = in.Spec.Leads.Terms
		if in.Spec.Leads.Overlap != nil {
			r.overlap = in.Spec.Leads.Overlap(in.Config)
		}
	}
	return r
}

// tooMany says what is wrong with several leaders, in words; empty: nothing. Silent is whether no message is
// on its way and no timer runs, ticks how many have passed since several lead.
func (r rules) tooMany(e electorate, silent bool, t *Timing, ticks uint32) string {
	says := e.saysLead() + " at the same time"
	switch {
	case r.terms:
		return ""
	case r.overlap == 0:
		return says
	case silent:
		return says + ", and no message or timer is left that could change it"
	case r.counts(t) && time.Duration(ticks)*t.Tick > r.overlap:
		return fmt.Sprintf("%s for longer than %v", says, r.overlap)
	}
	return ""
}

// counts reports whether ticks in which several lead are counted.
func (r rules) counts(t *Timing) bool { return r.elects && !r.terms && r.overlap > 0 && t != nil }
