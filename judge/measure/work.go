package measure

import (
	"turnstile/internal/figure"
	"turnstile/nodes/workload"
)

// work measures what clients have done inside.
func (f *Fold) work() {
	var done, spoilt, undone uint64
	for _, r := range f.sections.Resources {
		if r == nil {
			continue
		}
		if r.Capacity > 1 {
			return // its account counts nothing
		}
		d, s := r.Worked(f.sections.Work)
		done, spoilt, undone = done+d, spoilt+s, undone+r.Undone()
	}
	if f.sections.Entries == 0 {
		return
	}
	m := &f.Measures
	m.WorkDone, m.WorkSpoilt = figure.Count(done), figure.Count(spoilt)
	if f.sections.Work == workload.Shares {
		m.SharesUndone = figure.Count(undone)
	}
}
