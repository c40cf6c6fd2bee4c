package measure

import "math"

// The old rate is there again in the first of consecutive intervals, each a twentieth of the time before the
// fault, that has nine tenths of the entries. An interval is at least 50 ms long, and long enough for ten
// entries at the old rate.
const (
	intervalsBefore = 20
	shortestNS      = 50e6
	entriesInEach   = 10
	muchAsBefore    = 0.9
)

// A recovery looks for the old rate after a fault. Its zero value looks for nothing.
type recovery struct {
	from, width int64
	need        float64 // entries in an interval
	current     int64   // number of the interval
	entries     float64 // in it
	found       bool
	after       int64 // the beginning of the interval, since the heal
}

// recoveryFrom looks for the rate of a phase from a time on.
func recoveryFrom(at int64, before *phase) recovery {
	if before == nil || !before.Known() || before.accepted() == 0 {
		return recovery{}
	}
	length := float64(before.Length())
	width := max(length/intervalsBefore, shortestNS, entriesInEach/before.rate())
	if width > length {
		return recovery{} // this was no rate yet
	}
	w := int64(math.Ceil(width))
	return recovery{from: at, width: w, need: muchAsBefore * before.rate() * float64(w)}
}

// enter takes an entry. They come in the order of their times.
func (r *recovery) enter(at int64) {
	if r.width == 0 || r.found {
		return
	}
	if now := (at - r.from) / r.width; now > r.current {
		r.end(at)
		r.current, r.entries = now, 0
	}
	r.entries++
}

// end looks whether the interval is over by a time, and has enough entries.
func (r *recovery) end(at int64) {
	begun := r.current * r.width
	if r.width > 0 && !r.found && r.from+begun+r.width <= at && r.entries >= r.need {
		r.found, r.after = true, begun
	}
}
