package measure

import (
	"sort"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
)

// Leaders are the measures of a run about leaders.
type Leaders struct {
	*leadership.Fold

	// Of the elections that elected somebody, take-overs left out: from the beginning of each until those
	// followed the later leader who have to by the row, and its parts, until the first node declared anything,
	// until the later leader declared itself, and until they followed it.
	Elect, Detection, Declaration, Agreement Latency
	// AllAgreed is the same as Elect until all that were up and ran agreed, whatever cut them off.
	AllAgreed Latency
	// Takeover is of take-overs: from the beginning of each until those followed who have to.
	Takeover Latency
	// Serving lasts from then until a client enters, where the leader serves clients.
	Serving Latency
	// Vacancy is how long each stretch was in which no node that ran led, Overlap each in which two or more did.
	Vacancy, Overlap Latency

	// Only says that the run is about nothing else, so that nobody requests anything.
	Only bool
}

// NewLeaders returns the measures of a history that has been folded.
func NewLeaders(f *leadership.Fold) *Leaders {
	m := &Leaders{Fold: f}
	for i := range f.Elections {
		e := &f.Elections[i]
		if e.Takeover {
			m.Takeover.add(e.Agreed-e.Begun, true)
		}
		if !e.Elects() {
			continue
		}
		m.Elect.add(e.Agreed-e.Begun, true)
		m.Detection.add(e.Detected-e.Begun, true)
		m.Declaration.add(max(0, e.Declared-e.Detected), true)
		m.Agreement.add(e.Agreed-max(e.Declared, e.Detected), true)
		if e.Served >= 0 {
			m.Serving.add(e.Served-e.Agreed, true)
		}
	}
	if f.Open != nil {
		m.Elect.add(f.End-f.Open.Begun, false)
	}
	for i := range f.Agreements {
		if e := &f.Agreements[i]; e.Elects() {
			m.AllAgreed.add(e.Agreed-e.Begun, true)
		}
	}
	if f.Apart != nil {
		m.AllAgreed.add(f.End-f.Apart.Begun, false)
	}
	for i := range f.Vacancies {
		m.add(&m.Vacancy, &f.Vacancies[i])
	}
	for i := range f.Overlaps {
		m.add(&m.Overlap, &f.Overlaps[i].Span)
	}
	return m
}

// add adds a stretch of time, which has not ended if the run did before it.
func (m *Leaders) add(to *Latency, s *leadership.Span) {
	if s.Length() != 0 {
		to.add(s.Length(), s.To != m.End)
	}
}

// fill adds the figures of elections but the quantiles.
func (m *Leaders) fill(row *Figures) {
	elected := m.Elected()
	row.Elections = figure.Count(uint64(elected))
	if lost := len(m.Lost); lost > 0 {
		after := 0
		for i := range m.Elections {
			if e := &m.Elections[i]; e.Elects() && e.Agreed >= m.Lost[0].At {
				after++
			}
		}
		row.ElectionsPerCrash = figure.Ratio(float64(after), float64(lost))
	}
	row.Rejoins = figure.Count(uint64(len(m.Elections) - elected))
	if changes, length := m.Steady(); length > 0 {
		row.LeaderChangesPerS = figure.Ratio(float64(changes), float64(length)/1e9)
		row.SteadyS = seconds(length)
	}
	row.LeaderlessUS, row.TwoLeadersUS = micros(m.Leaderless), micros(m.TwoLeaders)
	row.TwoLeadersInTermUS, row.TwoLeadersStoppedUS = micros(m.TwoInTerm), micros(m.TwoStopped)
	row.Flaps, row.Takeovers = figure.Count(uint64(len(m.Flaps))), figure.Count(uint64(m.Takeovers()))
	row.TermsBackwards = figure.Count(uint64(len(m.Backwards)))
}

// fillPhase adds to the figures of a fault those of a phase that are about leaders; those of a phase without
// length are not measured. An election is in the one in which it was completed; the time that it took counts
// in all in which it went on at any moment, with its whole length, unless it was a take-over.
func (m *Leaders) fillPhase(row *OfFault, i int, p *phase) {
	if p == nil || !p.Known() {
		return
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
	row.Elections[i] = figure.Count(elections)
	row.ElectUS[i] = OfElections{took.microsAt(0.5), took.microsAt(1)}
	row.LeaderlessUS[i], row.TwoLeadersUS[i] = micros(leaderless), micros(two)
	row.Flaps[i] = figure.Count(uint64(flaps))
	row.Changes[i] = figure.Count(uint64(m.ChangesIn(p.From, p.To)))
}

// within returns the part of all, which is in the order of time, that overlaps the time from one moment to
// another. It searches for it, since a long run has many elements, and as many faults.
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
func (m *Leaders) agreedSince(at int64) figure.Figure {
	if at < m.Begun || at >= m.End {
		return figure.Figure{}
	}
	for _, e := range within(m.Agreements, at, at+1, electionTime) {
		if e.Begun <= at && at < e.Agreed {
			return seconds(e.Agreed - at)
		}
	}
	if m.Apart != nil && m.Apart.Begun <= at {
		return figure.AtLeast(float64(m.End-at) / 1e9)
	}
	return seconds(0)
}

// fillFault adds to the figures of a fault what is about leaders, and takes out what is about entries if
// nobody requests any.
func (m *Leaders) fillFault(row *OfFault, x *fault) {
	for i, p := range x.phases {
		m.fillPhase(row, i, p)
	}
	if x.healed {
		row.HealedAgreedS = m.agreedSince(x.to)
	}
	if !m.Only {
		return
	}
	var none ByPhase[figure.Figure]
	row.Entries, row.Accepted, row.Refused, row.PerS, row.OverlapUS = none, none, none, none, none
	row.Unfinished, row.SilenceS = figure.Figure{}, figure.Figure{}
}
