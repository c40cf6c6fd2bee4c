package measure

import (
	"sort"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
)

// Leaders are the measures of a run about leaders.
type Leaders struct {
	*leadership.Fold

	// Elect is the time of each election, without rejoins and take-overs: until enough nodes follow the new
	// leader, by the rule of the scheme. Its parts: until the first node declared anything, until the leader
	// declared itself, and until they followed it.
	Elect, Detection, Declaration, Agreement Latency
	// AllAgreed is like Elect, until all running nodes agreed, even if they are cut off.
	AllAgreed Latency
	// Takeover is the time of each take-over, until enough nodes follow the new leader.
	Takeover Latency
	// Serving is the time from the end of an election until a client enters, if the leader serves clients.
	Serving Latency
	// Vacancy has the lengths of stretches without a running leader, Overlap of stretches with two or more.
	Vacancy, Overlap Latency

	// Only means that the run is about nothing else: it has no requests.
	Only bool
}

// NewLeaders returns the measures of a closed fold.
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

// add adds a stretch of time. It has not ended if it ends with the run.
func (m *Leaders) add(to *Latency, s *leadership.Span) {
	if s.Length() != 0 {
		to.add(s.Length(), s.To != m.End)
	}
}

// fill adds the figures of elections, except quantiles.
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

// fillPhase adds the figures about leaders of a phase to its fault, unless the phase has no length. An
// election counts in the phase in which it was completed. Its whole time counts in all phases that it
// overlaps, unless it was a take-over.
func (m *Leaders) fillPhase(row *OfFault, i int, p *phase) {
	if p == nil || !p.Known() {
		return
	}
	var elections uint64
	var took Latency
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
	row.ElectUS[i] = OfElections{took.MicrosAt(0.5), took.MicrosAt(1)}
	row.LeaderlessUS[i], row.TwoLeadersUS[i] = micros(leaderless), micros(two)
	row.Flaps[i] = figure.Count(uint64(flaps))
	row.Changes[i] = figure.Count(uint64(m.ChangesIn(p.From, p.To)))
}

// within returns the elements of all, which is sorted by time, that overlap [from, to). It uses binary
// search, since a long run has many elements and many faults.
func within[T any](all []T, from, to int64, times func(*T) (from, to int64)) []T {
	first := sort.Search(len(all), func(i int) bool { _, end := times(&all[i]); return end >= from })
	rest := all[first:]
	return rest[:sort.Search(len(rest), func(i int) bool { begun, _ := times(&rest[i]); return begun >= to })]
}

func electionTime(e *leadership.Election) (from, to int64) { return e.Begun, e.Agreed }
func spanTime(s *leadership.Span) (from, to int64)         { return s.From, s.To }
func overlapTime(o *leadership.Overlap) (from, to int64)   { return o.From, o.To }
func flapTime(x *leadership.Flap) (from, to int64)         { return x.At, x.At }

// agreedSince returns how long after a time all agreed on a running leader: 0 if they did at that time, and
// at least the rest of the run if they did not before it ended.
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

// fillFault adds the figures about leaders to a fault, and removes the figures about entries if the run has
// no requests.
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
