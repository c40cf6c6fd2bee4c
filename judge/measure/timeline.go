package measure

import "turnstile/internal/figure"

// A timeline counts entries in equal intervals. When there are too many of them, each two become one.
type timeline struct {
	from   int64
	length int64 // of an interval
	counts []entered
}

// An entered counts the entries of an interval: all of them, and the refused ones.
type entered struct{ all, refused uint64 }

const (
	mostIntervals = 512
	shortest      = 1000 // ns of an interval
)

// enter counts an entry, at a time that is not before the line begins.
func (t *timeline) enter(at int64, refused bool) {
	n := &t.counts[t.reach(at)]
	if n.all++; refused {
		n.refused++
	}
}

// reach makes the line reach beyond a time, and returns the interval that has it.
func (t *timeline) reach(at int64) int {
	t.length = max(t.length, shortest)
	for (at-t.from)/t.length >= mostIntervals {
		half := t.counts[:0]
		for i, n := range t.counts {
			if i%2 == 0 {
				half = append(half, n)
			} else {
				half[i/2].all += n.all
				half[i/2].refused += n.refused
			}
		}
		t.counts, t.length = half, 2*t.length
	}
	i := int((at - t.from) / t.length)
	for len(t.counts) <= i {
		t.counts = append(t.counts, entered{})
	}
	return i
}

// rows returns the figures of each interval.
func (t *timeline) rows() (rows []OfInterval) {
	for i, n := range t.counts {
		from := int64(i) * t.length
		rows = append(rows, OfInterval{FromS: seconds(from), ToS: seconds(from + t.length),
			Entries: figure.Count(n.all), Refused: figure.Count(n.refused)})
	}
	return rows
}

func seconds(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }

func micros(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e3) }
