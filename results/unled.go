package results

import (
	"cmp"
	"slices"

	"turnstile/judge/leadership"
)

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
