package history

import "math"

// A Lateness is how many timers of all nodes ran out how late, by LatenessBucket.
type Lateness [LatenessBuckets]uint64

// LatenessIn merges what the logs of nodes tell.
func LatenessIn(logs []*NodeLog) (all Lateness) {
	for _, l := range logs {
		for b, n := range l.Late {
			all[b] += n
		}
	}
	return all
}

// Quantile returns the upper end of the bucket that a quantile lies in, in nanoseconds. It reports whether
// any timer ran out.
func (l *Lateness) Quantile(q float64) (ns int64, known bool) {
	var total, seen uint64
	for _, n := range l {
		total += n
	}
	rank := max(1, uint64(math.Ceil(q*float64(total)-1e-9)))
	for b, n := range l {
		if seen += n; n > 0 && seen >= rank {
			return latenessOf(b+1) - 1, true
		}
	}
	return 0, false
}
