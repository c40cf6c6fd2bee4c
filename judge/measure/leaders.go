package measure

import (
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
