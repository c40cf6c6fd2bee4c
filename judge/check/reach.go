package check

import (
	"iter"
	"slices"

	"turnstile/nodes"
)

// minorityOf returns the stretches from one time to another in which a node reached no majority.
func (m *model) minorityOf(id nodes.ID, since, until int64) (all []span) {
	turns := []int64{since, until}
	for at := range m.turns() {
		if at > since && at < until {
			turns = append(turns, at)
		}
	}
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := turns[i], turns[i+1]
		if from == to || 2*m.reached(id, from) > m.Config.N {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].to == from {
			all[last].to = to
			continue
		}
		all = append(all, span{from, to, 0})
	}
	return all
}

// turns yields when it changed who reaches whom, in no order.
func (m *model) turns() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range m.sections.Faults {
			f := &m.sections.Faults[i]
			if m.asked(f).Separates != nil && !(yield(f.From) && yield(f.To)) {
				return
			}
		}
		for i := range m.sections.Deaths {
			if d := &m.sections.Deaths[i]; !(yield(d.From) && yield(d.Back)) {
				return
			}
		}
	}
}

// reached returns how many clients a node could reach at a time and be reached by, itself included.
func (m *model) reached(from nodes.ID, at int64) (n int) {
	for id := range nodes.ID(m.Config.N) {
		if id == from || m.wasUp(id, at) && !m.separated(from, id, at) {
			n++
		}
	}
	return n
}

func (m *model) wasUp(id nodes.ID, at int64) bool {
	for i := range m.sections.Deaths {
		if d := &m.sections.Deaths[i]; d.Node == id && d.From <= at && at < d.Back {
			return false
		}
	}
	return true
}

func (m *model) separated(a, b nodes.ID, at int64) bool {
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if cut := m.asked(f).Separates; cut != nil && f.From <= at && at < f.To && cut(a, b, f.Victim) {
			return true
		}
	}
	return false
}
