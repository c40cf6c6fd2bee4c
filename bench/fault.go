package bench

import (
	"cmp"
	"slices"

	"turnstile/nodes"
)

// A moment is when a fault begins or is healed, in the run's nanoseconds.
type moment struct {
	at     int64
	number int // of the fault, from 1
	begins bool
	breaks nodes.Assumption
}

// moments returns when the faults of a run begin and are healed, in the order of time, given when issuing
// begins.
func (o *Options) moments(begin int64) (all []moment) {
	for i, f := range o.network().Faults {
		from := begin + int64(f.At)
		all = append(all, moment{from, i + 1, true, f.Breaks()}, moment{from + int64(f.For), i + 1, false, 0})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// faultTexts says what faults the run has, in words.
func (o *Options) faultTexts() (texts []string) {
	for i := range o.Faults {
		texts = append(texts, o.Faults[i].String())
	}
	return texts
}

// followFaults records the faults that have begun or were healed by now.
func (t *trial) followFaults(now int64) error {
	for len(t.moments) > 0 && t.moments[0].at <= now {
		m := t.moments[0]
		t.moments = t.moments[1:]
		if err := t.journal.Fault(m.at, m.number, m.begins, m.breaks); err != nil {
			return err
		}
	}
	return nil
}
