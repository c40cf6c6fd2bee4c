package check

import (
	"slices"

	"turnstile/judge/section"
	"turnstile/nodes"
)

// minorityOf returns the stretches from one time to another in which a node could reach no majority: reach
// tells how many it did.
func (m *model) minorityOf(id nodes.ID, since, until int64,
	reach func(nodes.ID, int64) int) (all []span) {
	turns := []int64{since, until}
	add := func(times ...int64) {
		for _, at := range times {
			if at > since && at < until {
				turns = append(turns, at)
			}
		}
	}
	for i := range m.sections.Faults {
		if f := &m.sections.Faults[i]; m.asked(f).Separates != nil {
			add(f.From, f.To)
		}
	}
	for i := range m.sections.Deaths {
		add(m.sections.Deaths[i].From, m.sections.Deaths[i].Back)
	}
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := turns[i], turns[i+1]
		if from == to || 2*reach(id, from) > m.Config.N {
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

// side returns how many clients were on the side of a node at a time: those that it could reach, and those
// that these could, itself included. A coordinator or a token may be with any of them. It counts no further
// than to a majority.
func (m *model) side(from nodes.ID, at int64) int {
	if !m.cutAt(at) { // all that are up reach each other
		return m.reached(from, at)
	}
	total := m.Config.N
	seen, side := make([]bool, total), []nodes.ID{from}
	seen[from] = true
	for i := 0; i < len(side); i++ {
		for id := range nodes.ID(total) {
			if seen[id] || !m.wasUp(id, at) || m.separated(side[i], id, at) {
				continue
			}
			if seen[id], side = true, append(side, id); 2*len(side) > total {
				return len(side)
			}
		}
	}
	return len(side)
}

// cutAt reports whether a fault kept nodes apart at a time.
func (m *model) cutAt(at int64) bool {
	return slices.ContainsFunc(m.sections.Faults, func(f section.Fault) bool {
		return f.From <= at && at < f.To && m.asked(&f).Separates != nil
	})
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
