package leadership

import "slices"

// turn notes a time at which something happened that may change the leader.
func (f *Fold) turn(at int64) { f.turns = append(f.turns, at) }

// Steady returns how often another node came to lead, or one in another term, in the time in which no fault
// began or ended, nobody crashed, came up again, stood still or was told to campaign, and how long that was,
// in nanoseconds. It begins anew a grace after each of these moments: within that a scheme may elect. A
// scheme without a grace elects when it is told to.
func (f *Fold) Steady() (changes int, length int64) {
	if f.Grace == 0 {
		return 0, 0
	}
	turns := append([]int64{f.Begun}, f.turns...)
	turns = append(turns, f.End)
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := max(turns[i], f.Begun)+int64(f.Grace), min(turns[i+1], f.End)
		if from >= to {
			continue
		}
		length += to - from
		changes += f.ChangesIn(from, to)
	}
	return changes, length
}
