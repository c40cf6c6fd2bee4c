package section

// Moments keep what is needed to tell whether one of several things happened inside the model of the
// algorithm. Assumptions begin or cease to hold at turns. Between two turns an excuse may run out, and none
// begins: so of what happened between two turns, the first thing and the one that began last are enough, and
// memory is taken for turns alone.
type Moments[T any] struct{ of []Hook[T] }

// A Hook is one of them: it happened at a time, and what led to it began no later, such as the stay of who
// was inside already.
type Hook[T any] struct {
	From    int64
	At      int64
	What    T
	stretch int
	last    bool // of its stretch, by From; else the first, by At
}

// keep takes something that began at a time and happened at another, which is in a stretch.
func (m *Moments[T]) keep(stretch int, from, at int64, what T) {
	one := Hook[T]{from, at, what, stretch, false}
	first, last := -1, -1
	for i := len(m.of) - 1; i >= 0 && m.of[i].stretch >= stretch; i-- {
		switch have := &m.of[i]; {
		case have.stretch > stretch:
		case have.last:
			last = i
		default:
			first = i
		}
	}
	switch {
	case first < 0:
		m.of = append(m.of, one)
		return
	case at < m.of[first].At:
		m.of[first], one = one, m.of[first]
	}
	switch one.last = true; {
	case last < 0:
		m.of = append(m.of, one)
	case one.From > m.of[last].From:
		m.of[last] = one
	}
}

// Least returns the earliest of those that happened outside the model least, as outside tells; nil: there are
// none.
func (m *Moments[T]) Least(outside func(from, at int64) bool) (least *Hook[T]) {
	excused := false
	for i := range m.of {
		one := &m.of[i]
		switch is := outside(one.From, one.At); {
		case least == nil, excused && !is, excused == is && one.At < least.At:
			least, excused = one, is
		}
	}
	return least
}
