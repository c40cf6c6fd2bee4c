package section

import (
	"math"
	"slices"

	"turnstile/nodes"
)

// An ended is what is kept of a section that has ended.
type ended struct {
	node    nodes.ID
	entered int64
	units   uint32 // 0: there was no section
}

// overlaps has the sections inside. Sections *overlap* while they hold more units than the capacity; with a
// capacity of 1, while two are inside. An overlap is certain if it is longer than the error of the stamps.
// Only then is it a violation.
type overlaps struct {
	Violations        uint64   // sections in certain overlaps
	Overlap           int64    // total length of the certain overlaps
	First             *Overlap // the earliest certain overlap
	Overlaps          Moments[Overlap]
	UncertainOverlaps uint64 // sections that overlapped another as they ended, though not certainly
	// Unordered counts sections that only the order of the events puts after a section of another client: both
	// together lasted no longer than stamps may err, so the two may have been inside together.
	Unordered uint64
	// Closest is the longest overlap, certain or not; negative: minus the shortest gap between two sections.
	Closest int64

	inside   []*Section // the sections inside, in the order of their entries
	held     uint64     // units held by sections inside
	current  Overlap    // a certain overlap that may go on; without a length: no overlap
	over     []Window   // certain overlaps that are over, and not passed to observers yet
	freed    bool       // the latest exit freed units, and before it all were taken
	freeAt   int64      // the time of that exit
	lastLeft int64      // when a client left last
	last     ended      // the section that ended last
	lastBy   nodes.ID   // the node of that client
	others   int64      // when a client other than lastBy left last
}

// An Overlap is a time in which sections held more than the capacity: A, which entered first, B, and others.
type Overlap struct {
	A, B     *Section
	From, To int64
	since    int64 // see heldSince
}

// enter puts a section inside.
func (r *Resource) enter(s *Section) {
	if r.lastLeft != math.MinInt64 {
		r.Closest = max(r.Closest, r.lastLeft-s.Entered)
	}
	s.Handed, s.FreedAt = r.freed && s.Asked < r.freeAt, r.freeAt
	r.freed = false
	s.Met, s.Followed = len(r.inside) > 0, math.MaxInt64
	for _, other := range r.inside {
		other.Met, other.Followed = true, min(other.Followed, s.Entered)
	}
	r.inside = append(r.inside, s)
	r.held += uint64(s.Units)
}

// leave removes a section that has ended. It returns the certain overlap that it was in, or nil.
func (r *Resource) leave(s *Section, c *clocks, w Window) (certain *Overlap) {
	over := r.held > uint64(r.Capacity)
	if over {
		certain = r.overlap(s, c)
		r.pair(s, c)
	}
	if s.State == Crashed {
		r.mayBeWritten = max(r.mayBeWritten, s.Read+1)
	}
	if last := &r.last; !c.ordered && last.units > 0 && last.node != s.Node && len(r.inside) == 1 &&
		last.units+s.Units > r.Capacity && s.Ended-last.entered <= c.all {
		r.Unordered++
	}
	r.last = ended{s.Node, s.Entered, s.Units}
	full := r.held >= uint64(r.Capacity)
	r.inside = slices.Delete(r.inside, slices.Index(r.inside, s), slices.Index(r.inside, s)+1)
	r.held -= uint64(s.Units)
	if s.Node != r.lastBy {
		r.others, r.lastBy = r.lastLeft, s.Node
	}
	r.lastLeft = s.Ended
	if over && r.held <= uint64(r.Capacity) { // the overlap is over
		r.past()
		r.current = Overlap{}
	}
	if full && r.held < uint64(r.Capacity) {
		// only an exit frees units that a waiting request then takes
		r.freed, r.freeAt = s.State == Exited, s.Ended
	}
	r.busy.left(s, len(r.inside) == 0, w)
	return certain
}

// overlap accounts for the overlap of s, which is leaving, with the other sections that are inside. It
// returns the overlap if it is certain, else nil.
func (r *Resource) overlap(s *Section, c *clocks) *Overlap {
	var one *Section // the section whose entry exceeded the capacity
	last := 0
	for sum := uint64(0); sum <= uint64(r.Capacity); last++ {
		one = r.inside[last]
		sum += uint64(one.Units)
	}
	from, now := max(s.Entered, one.Entered), s.Ended
	r.Closest = max(r.Closest, now-from)
	if !c.allTogether(s, r.inside[:last], now) {
		if now > from || c.all > 0 {
			r.UncertainOverlaps++
		}
		return nil
	}
	held := uint64(0) // units that were certainly held at the same time
	for _, other := range r.inside {
		if !c.together(other, one, now) || !c.together(other, s, now) {
			continue
		}
		if held += uint64(other.Units); !other.Violates {
			other.Violates = true
			r.Violations++
		}
	}
	other := one
	if other == s {
		other = r.inside[0]
	}
	certain := &Overlap{s, other, from, now, r.heldSince(held-uint64(r.Capacity), from)}
	if other.Entered < s.Entered {
		certain.A, certain.B = other, s
	}
	if r.First == nil || from < r.First.From {
		r.First = certain
	}
	if r.current.To == 0 || one.Entered > r.current.To {
		r.past()
		r.current.From = one.Entered
	}
	r.current.To = now
	return certain
}

// heldSince returns when the cause of an overlap began, if the capacity is exceeded by excess at a time. It
// assumes that the sections which entered first were let in wrongly, as few as it takes, and returns when the
// latest of them entered. If all sections are too few, it returns the time itself.
func (r *Resource) heldSince(excess uint64, at int64) int64 {
	for _, s := range r.inside {
		if uint64(s.Units) >= excess {
			return min(s.Entered, at)
		}
		excess -= uint64(s.Units)
	}
	return at
}

// past ends the current overlap.
func (r *Resource) past() {
	if w := (Window{r.current.From, r.current.To}); w.Known() {
		r.Overlap += w.Length()
		r.over = append(r.over, w)
	}
}
