package section

import "slices"

// A line holds the sections that wait for one resource, in the order of their requests, and counts for each
// how many later ones have entered. Places are numbered from 1; the place of a section that enters is marked,
// and a Fenwick tree (P. M. Fenwick, "A new data structure for cumulative frequency tables", Software:
// Practice and Experience 24(3), 1994) counts the marks up to a place. When most places are empty, the
// waiting sections are renumbered, so a line takes memory only for waiting ones, even if one waits for long.
type line struct {
	sums    []uint32   // sums[i-1] counts the marks from i-lowest(i)+1 to i
	waiting []*Section // sections by place; nil: the section has left
	count   int        // number of waiting sections
	units   uint64     // units that the waiting sections want
	entered uint64     // number of marked places

	// Contended counts requests for which units were missing: fewer were free than the request and all waiting
	// requests take together.
	Contended uint64
	recent    []*Section // contended requests, made so recently that units may have been free before them
}

// lowest returns the lowest set bit of i.
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

// leave removes a section that enters or gives up from the line, and completes its Overtaken.
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

// moveUp gives the waiting sections the first places, and clears the marks of all that have left.
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

// ask counts a request, and counts it as contended if units are missing for it.
func (r *Resource) ask(s *Section, stampError int64) {
	r.Requests++
	if takes := r.held + r.line.units + uint64(s.Units); takes > uint64(r.Capacity) {
		s.missing = takes - uint64(r.Capacity)
		r.Contended++
		r.forget(s.Asked, stampError)
		r.recent = append(r.recent, s)
	}
}

// gaveBack notes that the units of a section that has ended are free. As stamps may err, they may have been
// free before the latest requests; in a simulation both may have the same time. So these requests do not
// count as contended.
func (r *Resource) gaveBack(s *Section, at, stampError int64) {
	r.forget(at, stampError)
	r.recent = slices.DeleteFunc(r.recent, func(late *Section) bool {
		if late == s {
			return true
		}
		late.missing -= min(late.missing, uint64(s.Units))
		if late.missing == 0 {
			r.Contended--
		}
		return late.missing == 0
	})
}

// longestDoubt is the longest time for which a request counts as recent, in nanoseconds.
const longestDoubt = 10_000_000

// forget drops requests from recent that are older than stamps may err: they stay contended.
func (r *Resource) forget(now, stampError int64) {
	if len(r.recent) == 0 {
		return
	}
	since := now - min(stampError, longestDoubt)
	first := slices.IndexFunc(r.recent, func(s *Section) bool { return s.Asked >= since })
	if first < 0 {
		first = len(r.recent)
	}
	r.recent = slices.Delete(r.recent, 0, first)
}
