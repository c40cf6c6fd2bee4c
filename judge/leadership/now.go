package leadership

import (
	"slices"

	"turnstile/nodes"
)

// Agreed returns whom all nodes that are up and run take for the leader after the latest event; None: they do
// not all take the same one.
func (f *Fold) Agreed() nodes.ID { return f.voters.Agreed() }

// Follows reports whether a node takes another for the leader after the latest event.
func (f *Fold) Follows(id nodes.ID) bool {
	if !f.has(id) || !f.voters[id].Up {
		return false
	}
	leader := f.voters[id].Leader
	return leader != nodes.None && leader != id
}

// LeadersAt returns the nodes that led just before a time, in the order of their numbers.
func (f *Fold) LeadersAt(at int64) (ids []nodes.ID) {
	for i := range f.Stretches {
		if s := &f.Stretches[i]; s.State == Leads && s.From < at && at <= s.To {
			ids = append(ids, s.Node)
		}
	}
	slices.Sort(ids)
	return ids
}

// ChangesIn returns how often a node came to lead, or to lead in another term, in [from, to).
func (f *Fold) ChangesIn(from, to int64) int {
	first, _ := slices.BinarySearch(f.Changes, from)
	past, _ := slices.BinarySearch(f.Changes, to)
	return max(0, past-first)
}

// AgreedAtEnd returns the latest of Agreements; nil: at the end, not all nodes that are up and run agree.
func (f *Fold) AgreedAtEnd() *Election {
	if last := len(f.Agreements) - 1; f.Apart == nil && last >= 0 {
		return &f.Agreements[last]
	}
	return nil
}
