package section

// Moments keep what is needed to tell whether one of several things happened inside the model of the
// algorithm. Assumptions begin or cease to hold at turns. Between two turns an excuse may run out, and none
// begins: so the first and the last thing between two turns are enough, and memory is taken for turns alone.
type Moments[T any] struct{ of []Hook[T] }

// A Hook is one of them.
type Hook[T any] struct {
	At      int64
	What    T
	stretch int
	last    bool // of its stretch; else the first
}

// keep takes something that happened at a time, which is in a stretch.
func (m *Moments[T]) keep(stretch int, at int64, what T) {
	one := Hook[T]{at, what, stretch, false}
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
	case one.At > m.of[last].At:
		m.of[last] = one
	}
}

// Least returns the earliest of those that happened outside the model least, as outside tells; nil: there are
// none.
func (m *Moments[T]) Least(outside func(at int64) bool) (least *Hook[T]) {
	excused := false
	for i := range m.of {
		one := &m.of[i]
		switch is := outside(one.At); {
		case least == nil, excused && !is, excused == is && one.At < least.At:
			least, excused = one, is
		}
	}
	return least
}
