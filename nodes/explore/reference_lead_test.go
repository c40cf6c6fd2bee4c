package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/replay"
)

// What a node of an election has said, in a plain search. The zero value is that of a node that has said
// nothing.
type plainLead struct {
	campaigned int
	known      bool // it has named a leader, and not said since that it knows of none
	leader     nodes.ID
	takesPart  bool
	term       uint64
	led        []uint64 // the terms in which it has led, in their order
}

func (l *plainLead) crash() { l.known, l.leader, l.takesPart = false, 0, false }

// elect takes what a node says of its leader.
func (p *plain) elect(n *plainNode, id nodes.ID, e nodes.Effect) {
	l := &n.lead
	terms := p.o.Spec.Elector.Terms
	p.back = p.back || terms && e.Number < l.term
	l.known, l.leader, l.takesPart, l.term = e.To != nodes.None, max(e.To, nodes.Somebody), true, e.Number
	if !l.known {
		l.leader = 0
	}
	if terms && e.To == id && !slices.Contains(l.led, e.Number) {
		l.led = append(l.led, e.Number)
		slices.Sort(l.led)
	}
}

// campaigns tries to tell a node to campaign.
func (p *plain) campaigns(s *plainState, id nodes.ID, may func(bool, func(*plainState))) {
	all := 0
	for _, n := range s.nodes {
		all += n.lead.campaigned
	}
	if !p.stack.Elects() || int(id) >= p.o.Config.N || s.nodes[id].lead.campaigned == p.o.Entries ||
		p.o.Campaigns > 0 && all == p.o.Campaigns {
		return
	}
	may(false, func(to *plainState) {
		to.nodes[id].lead.campaigned++
		to.nodes[id].lead.takesPart = true
		p.feed(to, id, nodes.Input{Kind: nodes.Campaign})
	})
}

// leaders returns the nodes that are up and lead.
func (s *plainState) leaders() (all []int) {
	for id, n := range s.nodes {
		if n.up != nil && n.lead.known && n.lead.leader == nodes.ID(id) {
			all = append(all, id)
		}
	}
	return all
}

// led reports whether a node leads that did not before.
func (p *plain) led(from, to *plainState) bool {
	before := from.leaders()
	return slices.ContainsFunc(to.leaders(), func(id int) bool { return !slices.Contains(before, id) })
}

// quarrel returns the check that the leaders of a state fail, right after a move; empty: no check fails.
func (p *plain) quarrel(s *plainState) string {
	var overlap time.Duration
	if p.o.Spec.Elector.Overlap != nil {
		overlap = p.o.Spec.Elector.Overlap(p.o.Config)
	}
	terms := p.o.Spec.Elector.Terms
	several := len(s.leaders()) > 1
	if !several || terms || overlap == 0 || p.o.Timing == nil {
		s.together = 0
	}
	if terms {
		for id, n := range s.nodes {
			for _, other := range s.nodes[:id] {
				for _, term := range n.lead.led {
					if slices.Contains(other.lead.led, term) {
						return replay.CheckTerms
					}
				}
			}
		}
		if p.back {
			return replay.CheckTerms
		}
		return ""
	}
	silent := len(s.flying) == 0 &&
		!slices.ContainsFunc(s.nodes, func(n plainNode) bool { return len(n.timers) > 0 })
	long := p.o.Timing != nil && time.Duration(s.together)*p.o.Timing.Tick > overlap
	if several && (overlap == 0 || silent || long) {
		return replay.CheckLeaders
	}
	return ""
}

// undecided returns client 0 as waiting if nodes that are up have yet to agree.
func (r *plainRun) undecided(s *plainState, depth int, stuck bool, moves []plainMove) []int {
	takesPart := func(n plainNode) bool { return n.up != nil && n.lead.takesPart }
	if r.agree(s) || !slices.ContainsFunc(s.nodes, takesPart) {
		return nil
	}
	if stuck {
		r.note(depth, replay.CheckAgreement, r.broken(s)&r.o.Spec.Live)
		return nil
	}
	if slices.ContainsFunc(moves, func(m plainMove) bool { return m.check != "" }) {
		return nil // it is not known where that would have led
	}
	return []int{0}
}

// agree reports whether all clients that are up name one leader, or know that there is one.
func (p *plain) agree(s *plainState) bool {
	leaders := s.leaders()
	for id, n := range s.nodes[:p.o.Config.N] {
		if n.up == nil {
			continue
		}
		switch {
		case len(leaders) != 1 || !n.lead.known:
			return false
		case n.lead.leader != nodes.ID(leaders[0]) && (n.lead.leader != nodes.Somebody || leaders[0] == id):
			return false
		}
	}
	return len(leaders) == 1
}

// The explorer sees the same as a plain search in elections too, though it stores parts once and remembers
// reactions. make soak compares all of these spaces of each algorithm, and make test a third of them.
func TestElectionsAreExploredAsByAPlainSearch(t *testing.T) {
	most, every := soak.Pick[uint64](60, 100, 2000), soak.Pick(6, 3, 1)
	for at, algo := range election.Table {
		t.Run(algo.Name, func(t *testing.T) {
			for i, flags := range []string{"", "losses", "duplicates", "crashes", "reordering", "amnesia", "three",
				"demand crashes losses", "timing", "timing crashes", "timing demand losses",
				"three timing crashes", "crashes whole", "three crashes"} {
				if (i+at)%every > 0 {
					continue
				}
				o := Space{Spec: algo, Config: nodes.Config{N: 2}, Entries: 1, Copies: copiesOf(algo)}
				for flag := range strings.FieldsSeq(flags) {
					o.allow(flag)
				}
				o.Config = algo.Explicit(o.Config)
				for _, o.Depth = range []int{0, 12, 9, 6, 4, 3, 2} { // the deepest that fits
					o.States = most
					if explore(t, o).Bound != "states" {
						break
					}
				}
				o.States = 0
				agree(t, o)
			}
		})
	}
}

// allow changes the options as a word in the list of the test above says.
func (o *Space) allow(word string) {
	switch word {
	case "losses":
		o.Losses = 1
	case "duplicates":
		o.Duplicates = 1
	case "crashes":
		o.Crashes, o.Restarts = 1, true
	case "whole":
		o.WholeInputs = true
	case "amnesia":
		o.Crashes, o.Restarts, o.Amnesia = 1, true, true
	case "reordering":
		o.Reordering = true
	case "demand":
		o.Demand = true
	case "timing":
		o.Timing, o.Copies = timing(40*ms, 40*ms), 0
		o.Timing.Tick = 20 * ms
	case "three":
		o.Config.N, o.Campaigns = 3, 1
	}
}
