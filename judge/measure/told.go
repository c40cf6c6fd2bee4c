package measure

import (
	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes/workload"
)

// told counts the entries whose client was told that it had lost the lock, and those that were not.
type told struct {
	all, stayed uint64 // those who were told; who went on
	inside      int64  // for how long they did, in nanoseconds
	most        int64  // and the one that did longest
	open        bool   // somebody still did when the history ended
	untold      uint64 // others entered before they were told
	forNothing  uint64 // they went on, and nobody else was inside while they were
}

// add takes an entry that has ended.
func (t *told) add(s *section.Section, stampError int64) {
	if s.Late(stampError) {
		t.untold++
	}
	if !s.Told {
		return
	}
	t.all++
	if length := s.Ended - s.ToldAt; s.State != section.Revoked || length > 0 {
		t.stayed++
		if !s.Met {
			t.forNothing++
		}
		t.inside += length
		t.most = max(t.most, length)
		t.open = t.open || s.State == section.Unended
	}
}

// tell measures what clients have heard of their lock. It is unknown unless machines say it. Where several
// may be inside, nobody can tell whose entry took what another had lost.
func (f *Fold) tell(single bool) {
	m, t := &f.Measures, &f.told
	var tries, free uint64
	for _, r := range f.sections.Resources {
		if r != nil {
			tries, free = tries+r.Tries, free+r.FreeTries
		}
	}
	if !f.sections.Informs && t.all+tries == 0 {
		return
	}
	m.RefusedTries, m.RefusedFree = figure.Count(tries), figure.Count(free)
	m.EntriesTold, m.ToldStayed = figure.Count(t.all), figure.Count(t.stayed)
	number := figure.Number
	if t.open {
		number = figure.AtLeast
	}
	m.ToldInsideUS = number(float64(t.inside) / 1e3)
	if t.stayed > 0 {
		m.ToldInsideUSMax = number(float64(t.most) / 1e3)
	}
	if single {
		m.OverlappedUntold, m.ToldForNothing = figure.Count(t.untold), figure.Count(t.forNothing)
	}
}

// guard measures how much of the overlaps a resource that demands fence numbers does not prevent. It is
// unknown unless each entry had a number.
func (f *Fold) guard(single bool) {
	var entries, sure, maybe uint64
	for _, r := range f.sections.Resources {
		if r == nil {
			continue
		}
		if r.Unfenced > 0 {
			return
		}
		sure, maybe = sure+r.Unguarded, maybe+r.MaybeUnguarded
		for i := range r.Clients {
			entries += uint64(r.Clients[i].Entered)
		}
	}
	switch m := &f.Measures; {
	case entries == 0 || !single, sure == 0 && maybe > 0:
	case maybe > 0:
		m.ViolationsFenced = figure.AtLeast(float64(sure))
	default:
		m.ViolationsFenced = figure.Count(sure)
	}
}

// work counts what clients have done inside, unless the account counts nothing, since several may be there.
func (f *Fold) work(single bool) {
	if !single || f.sections.Entries == 0 {
		return
	}
	var done, spoilt, undone uint64
	for _, r := range f.sections.Resources {
		if r != nil {
			d, s := r.Worked(f.sections.Work)
			done, spoilt, undone = done+d, spoilt+s, undone+r.Undone()
		}
	}
	m := &f.Measures
	m.WorkDone, m.WorkSpoilt = figure.Count(done), figure.Count(spoilt)
	if f.sections.Work == workload.Shares {
		m.SharesUndone = figure.Count(undone)
	}
}

// single reports whether one client at a time is to be inside of each resource.
func (f *Fold) single() bool {
	for _, r := range f.sections.Resources {
		if r != nil && r.Capacity > 1 {
			return false
		}
	}
	return true
}
