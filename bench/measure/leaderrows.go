package measure

import (
	"turnstile/results"
)

// leaderFigures are the figures of a phase of a fault that are about leaders; those of a phase without length
// are not measured.
type leaderFigures struct{ elections, p50, most, leaderless, two, flaps results.Figure }

// in returns the figures of a phase. An election is in the one in which it was completed; the time that it
// took counts in all in which it went on at any moment, with its whole length, unless it was a take-over.
func (m *Leaders) in(p *phase) (f leaderFigures) {
	if p == nil || !p.Known() {
		return f
	}
	var elections, flaps uint64
	var took sparse
	for i := range m.Elections {
		e := &m.Elections[i]
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
	for i := range m.Vacancies {
		leaderless += p.Overlap(m.Vacancies[i].From, m.Vacancies[i].To)
	}
	for i := range m.Overlaps {
		two += p.Overlap(m.Overlaps[i].From, m.Overlaps[i].To)
	}
	for i := range m.Flaps {
		if p.Has(m.Flaps[i].At) {
			flaps++
		}
	}
	return leaderFigures{results.Count(elections), took.microsAt(0.5), took.microsAt(1), micros(leaderless),
		micros(two), results.Count(flaps)}
}

// agreedSince returns how long after a time all took the same running node for the leader: nothing, if they
// did at that time. If they did not before the run ended, it is longer than the rest of it.
func (m *Leaders) agreedSince(at int64) results.Figure {
	if at < m.Begun || at >= m.End {
		return results.Figure{}
	}
	for i := range m.Elections {
		if e := &m.Elections[i]; e.Begun <= at && at < e.Agreed {
			return seconds(e.Agreed - at)
		}
	}
	if m.Open != nil && m.Open.Begun <= at {
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
	if x.healed {
		row.HealedAgreedS = m.agreedSince(x.to)
	}
	if !m.Only {
		return
	}
	var none results.Figure
	row.EntriesBefore, row.EntriesDuring, row.EntriesAfter = none, none, none
	row.PerSBefore, row.PerSDuring, row.PerSAfter = none, none, none
	row.OverlapDuringUS, row.OverlapAfterUS = none, none
	row.Unfinished, row.SilenceS = none, none
}
