package results

import (
	"cmp"
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
)

// A Ledger has the beliefs of all nodes in one trial, that is, its rows of beliefs.csv, and its rows of
// faults.csv.
type Ledger struct {
	Trial  int
	Lanes  [][]BeliefRow // by node: its rows, in the order of time
	Faults []FaultRow
	End    float64 // in seconds from the beginning of the window
	// Leaders are the nodes that led at any time, in the order in which they first led.
	Leaders []int
	Terms   bool // leaders have terms
	// TwoLead are the stretches of time with two or more leaders, in order.
	TwoLead []Together
}

// Together is a stretch of time with two or more leaders.
type Together struct {
	Span
	// Apart says that the leaders have different terms: a resource that checks terms then obeys only the leader
	// with the highest term. Leaders without terms cannot be told apart.
	Apart bool
}

// A Span is a stretch of time, in seconds from the beginning of the window.
type Span struct{ From, To float64 }

// Span returns the stretch of time of a row.
func (b *BeliefRow) Span() Span {
	from, _ := b.FromS.Value()
	to, _ := b.ToS.Value()
	return Span{from, to}
}

// LedgerOf returns the ledger of a trial, given the rows of all trials. The ledger has no lanes if the trial
// has no rows.
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
			led, l.Terms = append(led, b), l.Terms || b.Term.Known()
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

// overlaps returns the times covered by two or more of the given stretches, which must be sorted by their
// beginning.
func overlaps(led []BeliefRow) (all []Together) {
	var times []float64
	for i := range led {
		times = append(times, led[i].Span().From, led[i].Span().To)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	var now []BeliefRow
	for i := 1; i < len(times); i++ {
		s := Span{times[i-1], times[i]}
		for len(led) > 0 && led[0].Span().From <= s.From {
			now, led = append(now, led[0]), led[1:]
		}
		now = slices.DeleteFunc(now, func(b BeliefRow) bool { return b.Span().To <= s.From })
		if len(now) < 2 {
			continue
		}
		terms, apart := map[figure.Figure]bool{}, true
		for _, b := range now {
			apart = apart && b.Term.Known() && !terms[b.Term]
			terms[b.Term] = true
		}
		if last := len(all) - 1; last >= 0 && all[last].To == s.From && all[last].Apart == apart {
			all[last].To = s.To
			continue
		}
		all = append(all, Together{s, apart})
	}
	return all
}

// Shown returns the numbers of the nodes to show, in order: of the leaders, as far as there is room, and then
// of the nodes with the lowest numbers. The parameter most limits how many.
func (l *Ledger) Shown(most int) (ids []int) {
	ids = slices.Clone(l.Leaders)
	for id := range l.Lanes {
		if !slices.Contains(l.Leaders, id) {
			ids = append(ids, id)
		}
	}
	ids = ids[:min(most, len(ids))]
	slices.Sort(ids)
	return ids
}

// Unled returns the nodes that ran and knew of no leader while another node led, if this lasted longer than
// the given time. It also returns the longest such time of all nodes. Times are in seconds.
func (l *Ledger) Unled(longer float64) (ids []int, longest float64) {
	led := spansOf(leadership.Leads, l.Lanes...)
	for id, lane := range l.Lanes {
		most := 0.0
		for _, s := range spansOf(leadership.KnowsNone, lane) {
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

// spansOf returns the times in which at least one of some nodes was in a state. The times are in order.
func spansOf(state leadership.State, lanes ...[]BeliefRow) (all []Span) {
	rows := slices.Concat(lanes...)
	slices.SortFunc(rows, func(a, b BeliefRow) int { return cmp.Compare(a.Span().From, b.Span().From) })
	for i := range rows {
		s, last := rows[i].Span(), len(all)-1
		switch {
		case rows[i].State != state:
		case last >= 0 && s.From <= all[last].To:
			all[last].To = max(all[last].To, s.To)
		default:
			all = append(all, s)
		}
	}
	return all
}
