package results

import (
	"cmp"
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
)

// A Ledger is who believed what in one trial: its rows of beliefs.csv and of faults.csv.
type Ledger struct {
	Trial  int
	Lanes  [][]BeliefRow // by node, each in the order of time
	Faults []FaultRow
	End    float64 // in seconds from the beginning of the window
	// Leaders are the nodes that led at any time, in the order in which they first did.
	Leaders []int
	// TwoLead are the stretches with two nodes that lead or more, in order.
	TwoLead []Together
}

// Together is a stretch in which two nodes lead or more.
type Together struct {
	Span
	// Apart says that each leads in a term of its own, so that a resource which checks the term refuses all but
	// the one of the highest. Where leaders have no terms, nothing tells them apart.
	Apart bool
}

// A Span is a stretch of time, in seconds from the beginning of the window.
type Span struct{ From, To float64 }

// Span returns the stretch that a row is about.
func (b *BeliefRow) Span() Span {
	from, _ := b.FromS.Value()
	to, _ := b.ToS.Value()
	return Span{from, to}
}

// LedgerOf returns the ledger of a trial, given the rows of all. It has no lanes if the trial has no rows.
func LedgerOf(beliefs []BeliefRow, faults []FaultRow, trial int) *Ledger {
	l := &Ledger{Trial: trial}
	var led []BeliefRow
	for _, b := range beliefs {
		if b.Trial != trial || b.Node < 0 {
			continue
		}
		for len(l.Lanes) <= b.Node {
			l.Lanes = append(l.Lanes, nil)
		}
		l.Lanes[b.Node] = append(l.Lanes[b.Node], b)
		l.End = max(l.End, b.Span().To)
		if b.State == leadership.Leads {
			led = append(led, b)
		}
	}
	for _, f := range faults {
		if f.Trial == trial {
			l.Faults = append(l.Faults, f)
		}
	}
	slices.SortStableFunc(led, func(a, b BeliefRow) int { return cmp.Compare(a.Span().From, b.Span().From) })
	for _, b := range led {
		if !slices.Contains(l.Leaders, b.Node) {
			l.Leaders = append(l.Leaders, b.Node)
		}
	}
	l.TwoLead = overlaps(led)
	return l
}

// HasTerms reports whether the leaders have terms.
func (l *Ledger) HasTerms() bool {
	return slices.ContainsFunc(l.Lanes, func(lane []BeliefRow) bool {
		return slices.ContainsFunc(lane, func(b BeliefRow) bool {
			return b.State == leadership.Leads && b.Term.Known()
		})
	})
}

// overlaps returns when two or more of some stretches go on, and whether their terms tell them apart.
func overlaps(led []BeliefRow) (all []Together) {
	type turn struct {
		at   float64
		by   int // how many more go on
		term figure.Figure
	}
	var turns []turn
	for i := range led {
		s := led[i].Span()
		turns = append(turns, turn{s.From, 1, led[i].Term}, turn{s.To, -1, led[i].Term})
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
	})
	count, terms, shared := 0, map[figure.Figure]int{}, 0 // shared: leaders beyond one a term
	for i, t := range turns {
		count += t.by
		if terms[t.term] += t.by; t.by > 0 && terms[t.term] > 1 || t.by < 0 && terms[t.term] > 0 {
			shared += t.by
		}
		if i+1 == len(turns) || turns[i+1].at == t.at || count < 2 {
			continue
		}
		next := Together{Span{t.at, turns[i+1].at}, shared == 0 && terms[figure.Figure{}] == 0}
		if last := len(all) - 1; last >= 0 && all[last].To == next.From && all[last].Apart == next.Apart {
			all[last].To = next.To
			continue
		}
		all = append(all, next)
	}
	return all
}

// Shown returns the numbers of at most so many nodes: all or, if there are more, those that led first, and
// then those of the lowest numbers.
func (l *Ledger) Shown(most int) (ids []int) {
	if len(l.Lanes) > most {
		ids = append(ids, l.Leaders[:min(most, len(l.Leaders))]...)
	}
	for id := 0; id < len(l.Lanes) && len(ids) < most; id++ {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Unled returns which nodes ran and followed nobody for longer than so many seconds while another led, and
// the longest such stretch of any, in seconds.
func (l *Ledger) Unled(longer float64) (ids []int, longest float64) {
	var led []Span
	for _, lane := range l.Lanes {
		led = append(led, spansOf(lane, leadership.Leads)...)
	}
	led = joined(led)
	for id, lane := range l.Lanes {
		most := 0.0
		for _, s := range spansOf(lane, leadership.KnowsNone) {
			for _, other := range led {
				most = max(most, min(s.To, other.To)-max(s.From, other.From))
			}
		}
		if most > longer {
			ids, longest = append(ids, id), max(longest, most)
		}
	}
	return ids, longest
}

// spansOf returns when a node was in a state.
func spansOf(lane []BeliefRow, state leadership.State) (all []Span) {
	for i := range lane {
		if lane[i].State == state {
			all = append(all, lane[i].Span())
		}
	}
	return joined(all)
}

// joined returns the union of some stretches, in order.
func joined(spans []Span) (all []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.From <= all[last].To {
			all[last].To = max(all[last].To, s.To)
			continue
		}
		all = append(all, s)
	}
	return all
}
