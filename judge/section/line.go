package section

// A line holds the sections that wait for one resource, in the order of their requests, and counts for each
// how many later ones have entered. Places are numbered from 1; the place of a section that enters is marked,
// and a Fenwick tree (P. M. Fenwick, "A new data structure for cumulative frequency tables", Software:
// Practice and Experience 24(3), 1994) counts the marks up to a place. When most places are empty, the
// waiting sections are renumbered, so a line takes memory for those that wait, however long one of them does.
type line struct {
	sums    []uint32   // sums[i-1] counts the marks from i-lowest(i)+1 to i
	waiting []*Section // by place; nil: gone
	count   int        // of waiting sections
	units   uint64     // that the waiting sections take
	entered uint64     // places marked
}

// lowest returns the lowest bit of i that is set.
func lowest(i int) int { return i & -i }

// join puts a section at the end of the line.
func (l *line) join(s *Section) {
	if len(l.waiting) >= 64 && len(l.waiting) >= 4*l.count {
		l.moveUp()
	}
	l.count++
	l.units += uint64(s.Units)
	l.waiting = append(l.waiting, s)
	s.place = len(l.waiting)
	sum := uint32(0)
	for i := s.place - 1; i > s.place-lowest(s.place); i -= lowest(i) {
		sum += l.sums[i-1]
	}
	l.sums = append(l.sums, sum)
}

// leave takes a section that enters or gives up out of the line, and completes its Overtaken.
func (l *line) leave(s *Section, enters bool) {
	s.Overtaken += l.overtaken(s.place)
	l.waiting[s.place-1] = nil
	l.count--
	l.units -= uint64(s.Units)
	if enters {
		l.entered++
		for i := s.place; i <= len(l.sums); i += lowest(i) {
			l.sums[i-1]++
		}
	}
}

// overtaken returns how many sections behind a place have entered.
func (l *line) overtaken(place int) uint64 {
	count := l.entered
	for i := place; i > 0; i -= lowest(i) {
		count -= uint64(l.sums[i-1])
	}
	return count
}

// moveUp gives the waiting sections the first places, and clears all marks.
func (l *line) moveUp() {
	all := l.waiting
	l.waiting = l.waiting[:0]
	for place, s := range all {
		if s != nil {
			s.Overtaken += l.overtaken(place + 1)
			l.waiting = append(l.waiting, s)
			s.place = len(l.waiting)
		}
	}
	clear(all[len(l.waiting):])
	l.sums = l.sums[:len(l.waiting)]
	clear(l.sums)
	l.entered = 0
}
