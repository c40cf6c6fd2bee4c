package measure

import (
	"sort"

	"turnstile/bench/leadership"
	"turnstile/results"
)

// leaderFigures are the figures of a phase of a fault that are about leaders; those of a phase without length
// are not measured.
type leaderFigures struct{ elections, p50, most, leaderless, two, flaps, changes results.Figure }

// in returns the figures of a phase. An election is in the one in which it was completed; the time that it
// took counts in all in which it went on at any moment, with its whole length, unless it was a take-over.
func (m *Leaders) in(p *phase) (f leaderFigures) {
	if p == nil || !p.Known() {
		return f
	}
	var elections uint64
	var took sparse
	for _, e := range within(m.Elections, p.From, p.To, electionTime) {
		if e.Again {
			continue
		}
		if p.Has(e.Agreed) {
			elections++
		}
		if e.Elects() && p.Touches(e.Begun, e.Agreed) {
			took.add(e.Agreed-e.Begun, true)
		}
	}
	if m.Open != nil && p.Touches(m.Open.Begun, m.End) {
		took.add(m.End-m.Open.Begun, false)
	}
	var leaderless, two int64
	for _, v := range within(m.Vacancies, p.From, p.To, spanTime) {
		leaderless += p.Overlap(v.From, v.To)
	}
	for _, o := range within(m.Overlaps, p.From, p.To, overlapTime) {
		two += p.Overlap(o.From, o.To)
	}
	flaps := 0
	for _, x := range within(m.Flaps, p.From, p.To, flapTime) {
		if p.Has(x.At) {
			flaps++
		}
	}
	changes := within(m.Changes, p.From, p.To, func(at *int64) (from, to int64) { return *at, *at })
	return leaderFigures{results.Count(elections), took.microsAt(0.5), took.microsAt(1), micros(leaderless),
		micros(two), results.Count(uint64(flaps)), results.Count(uint64(len(changes)))}
}

// within returns those of some things, which follow one another in time, that are not over before a time and
// begin before another: a soak has many, and as many faults.
func within[T any](all []T, from, to int64, times func(*T) (from, to int64)) []T {
	first := sort.Search(len(all), func(i int) bool { _, end := times(&all[i]); return end >= from })
	rest := all[first:]
	return rest[:sort.Search(len(rest), func(i int) bool { begun, _ := times(&rest[i]); return begun >= to })]
}

func electionTime(e *leadership.Election) (from, to int64) { return e.Begun, e.Agreed }
func spanTime(s *leadership.Span) (from, to int64)         { return s.From, s.To }
func overlapTime(o *leadership.Overlap) (from, to int64)   { return o.From, o.To }
func flapTime(x *leadership.Flap) (from, to int64)         { return x.At, x.At }

// agreedSince returns how long after a time all took the same running node for the leader: nothing, if they
// did at that time. If they did not before the run ended, it is longer than the rest of it.
func (m *Leaders) agreedSince(at int64) results.Figure {
	if at < m.Begun || at >= m.End {
		return results.Figure{}
	}
	for _, e := range within(m.Agreements, at, at+1, electionTime) {
		if e.Begun <= at && at < e.Agreed {
			return seconds(e.Agreed - at)
		}
	}
	if m.Apart != nil && m.Apart.Begun <= at {
		return results.AtLeast(float64(m.End-at) / 1e9)
	}
	return seconds(0)
}

// fill adds to a row of faults.csv what is about leaders, and takes out what is about entries if nobody
// requests any.
func (m *Leaders) fill(row *results.FaultRow, x *fault) {
	before, during, after := m.in(x.before), m.in(x.during), m.in(x.after)
	row.ElectionsBefore, row.ElectionsDuring = before.elections, during.elections
	row.ElectionsAfter = after.elections
	row.ElectBeforeUSP50, row.ElectBeforeUSMax = before.p50, before.most
	row.ElectDuringUSP50, row.ElectDuringUSMax = during.p50, during.most
	row.ElectAfterUSP50, row.ElectAfterUSMax = after.p50, after.most
	row.LeaderlessBeforeUS, row.LeaderlessDuringUS = before.leaderless, during.leaderless
	row.LeaderlessAfterUS = after.leaderless
	row.TwoLeadersBeforeUS, row.TwoLeadersDuringUS = before.two, during.two
	row.TwoLeadersAfterUS = after.two
	row.FlapsBefore, row.FlapsDuring, row.FlapsAfter = before.flaps, during.flaps, after.flaps
	row.ChangesBefore, row.ChangesDuring, row.ChangesAfter = before.changes, during.changes, after.changes
	if x.healed {
		row.HealedAgreedS = m.agreedSince(x.to)
	}
	if !m.Only {
		return
	}
	var none results.Figure
	row.EntriesBefore, row.EntriesDuring, row.EntriesAfter = none, none, none
	row.AcceptedBefore, row.AcceptedDuring, row.AcceptedAfter = none, none, none
	row.RefusedBefore, row.RefusedDuring, row.RefusedAfter, row.EntriesRefused = none, none, none, none
	row.PerSBefore, row.PerSDuring, row.PerSAfter = none, none, none
	row.OverlapDuringUS, row.OverlapAfterUS = none, none
	row.Unfinished, row.SilenceS = none, none
}
