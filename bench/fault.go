package bench

import (
	"cmp"
	"fmt"
	"slices"

	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A moment is when a fault begins or is healed, in the run's nanoseconds.
type moment struct {
	at     int64
	number int // of the fault, from 1
	begins bool
	fault  *chaos.Fault
}

// moments returns when the faults of a run begin and are healed, in the order of time, given when issuing
// begins.
func (o *Options) moments(begin int64) (all []moment) {
	for i := range o.Faults {
		f := &o.Faults[i]
		from := begin + int64(o.Warmup+f.At)
		all = append(all, moment{from, i + 1, true, f}, moment{from + int64(f.For), i + 1, false, f})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// event returns what the history says of the moment, if it came at a time.
func (m *moment) event(at int64) history.Event {
	e := history.Event{At: at, Kind: history.FaultHealed, Count: uint32(m.number), Node: nodes.None}
	if m.begins {
		e.Kind, e.Value = history.FaultBegan, int64(m.fault.Breaks())
	}
	return e
}

// faultTexts says what faults the run has, in words.
func (o *Options) faultTexts() (texts []string) {
	for i := range o.Faults {
		texts = append(texts, o.Faults[i].String())
	}
	return texts
}

// loses reports whether faults of the run lose messages.
func (o *Options) loses() bool { return len(o.network().Faults) > 0 }

// followFaults carries out and records the faults that are to begin or to be healed by now. Nodes carry out
// cuts themselves, at the planned time.
func (t *trial) followFaults(now int64) error {
	for ; len(t.moments) > 0 && t.moments[0].at <= now; t.moments = t.moments[1:] {
		m := &t.moments[0]
		at := m.at
		for _, id := range m.fault.Pause {
			at = t.now()
			if err := t.processes[id].Stop(m.begins); err != nil {
				return fmt.Errorf("%v: %w", m.fault, err)
			}
		}
		if err := t.journal.Add(m.event(at)); err != nil {
			return err
		}
	}
	return nil
}
