package section

import (
	"cmp"
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A Resource is what the clients of one instance share. It has a capacity in units. Sections *overlap* while
// those inside hold more units than that; with a capacity of 1 no two may be inside. An overlap is certain if
// it is longer than the error of the stamps. Only then is it a violation.
type Resource struct {
	Instance uint16
	Capacity uint32
	Requests uint64
	// Contended counts the requests made while fewer units were free than they and those who waited took
	// together.
	Contended uint64

	Violations        uint64   // sections in certain overlaps
	Overlap           int64    // total length of the certain overlaps
	First             *Overlap // the earliest certain one
	Overlaps          Moments[Overlap]
	UncertainOverlaps uint64 // sections that left in an overlap that is not certain
	// the longest overlap, certain or not; negative: how far apart the closest sections were
	Closest int64

	// Deepest is the Entered with the highest count of the register that was certainly right. Uncertain is how
	// many counted more than the capacity, but by no more than what nobody knows since a node died while it
	// changed the register; FirstUncertain is the first of these.
	Deepest           history.Event
	Exceeded          Moments[history.Event] // the Entered that certainly counted more than the capacity
	Uncertain         uint64
	FirstUncertain    history.Event
	UncertainByDeaths uint64 // entries that counted more, but perhaps only by those who have been killed
	Exits             uint64 // that wrote to the account
	Account           int64  // the most that was ever written to it
	// The first entry that read what, by the stamps, nobody had written yet; nil: none.
	Early   *Misread
	Clients []Client // by node; there may be fewer
	busy
	// What clients have done inside (see workload.Work): steps, how many of these others have spoilt, and
	// updates of the account by nodes that died before their client asked again.
	steps, spoilt, undone uint64

	Unfenced uint64           // entries without a fence number
	Refusals uint64           // exits whose write was refused
	Stale    Moments[Overlap] // writes that should have been refused: by A, after B had entered
	Baseless *Section         // the first whose write was refused though nobody had entered; nil: none

	Tries     uint64 // that were refused
	FreeTries uint64 // of these, those during which nobody was inside at any moment
	// Unguarded counts the entries in certain overlaps with another of the same fence number whose write a
	// resource that demands numbers accepts. Of MaybeUnguarded others it is not known.
	Unguarded, MaybeUnguarded uint64

	top      *Section   // a copy of who entered under the highest fence number; nil: nobody
	refused  []*Section // copies of those refused, as nobody had entered by their stamp under a higher number
	line     line
	recent   []*Section // made while units were missing, so shortly before that these may have been free
	inside   []*Section // in the order of their entries
	held     uint64     // units held by those inside
	current  Overlap    // the certain overlap that may go on, if it has a length
	over     []Window   // certain overlaps that are over, and of which no observer has been told
	freed    bool       // since the latest exit a unit is free, and before it none was
	freeAt   int64      // the time of that exit
	lastLeft int64
	lastBy   nodes.ID // who left then
	others   int64    // when somebody else left last before that
	ahead    *Misread // an entry that read more than was written until then

	// Units of nodes that were killed, which the register may count until they are taken out; and how many of
	// these are out by now.
	orphaned, takenOut uint32

	unknown      uint32   // units that the register may count too many, since nodes died while they changed it
	mayBeWritten int64    // the most that a node may have written whose death left no Exited
	readOfDead   *Misread // the latest entry that read what a node has written so
	writesOfDead uint64   // how many did
}

// A Misread is an entry that read what it should not have.
type Misread struct {
	Node nodes.ID
	At   int64
	Read int64 // what the account held
}

// A Client is the state of one client of a resource. It is small: with many clients, none stays in a cache
// from one event to the next.
type Client struct {
	open     *Section // nil: none
	left     int64    // when its last section ended
	next     int64    // when its last request was made, or issuing stopped
	Asked    uint32   // requests
	Entered  uint32   // entries
	Left     uint32   // exits and revocations
	InWindow uint32   // entries in the window
	Unissued uint32   // arrivals that never became requests
	orphaned uint32   // see Resource
	updated  bool     // it has not asked again since it wrote the account
}

// An Overlap is when sections held more than the capacity. A entered before B; others may have been there.
type Overlap struct {
	A, B     *Section
	From, To int64
	since    int64 // see heldSince
}

func newResource(instance uint16, capacity uint32) *Resource {
	return &Resource{Instance: instance, Capacity: capacity, Closest: math.MinInt64,
		lastLeft: math.MinInt64, lastBy: nodes.None, others: math.MinInt64}
}

// client returns the client of a node.
func (r *Resource) client(id nodes.ID) *Client {
	if have := len(r.Clients); int(id) >= have {
		r.Clients = append(r.Clients, make([]Client, int(id)+1-have)...)
	}
	return &r.Clients[id]
}

// register takes what the register showed to an entry, at some time since its request. It may count those who
// were dead and not taken out then, and if a node died while it changed the register, units that nobody
// holds: never too few.
func (r *Resource) register(e *history.Event, s *Section, stretch int) {
	doubt := r.orphaned + r.unknown - r.takenOut
	if s != nil {
		doubt += r.takenOut - s.takenOut
	}
	certain := e.Count - min(e.Count, doubt)
	switch over := e.Count > r.Capacity; {
	case over && certain <= r.Capacity && r.unknown > 0:
		if r.Uncertain++; r.Uncertain == 1 {
			r.FirstUncertain = *e
		}
	case over && certain <= r.Capacity: // it may count somebody who has been killed
		r.UncertainByDeaths++
	default:
		if over {
			r.Exceeded.keep(stretch, r.heldSince(uint64(certain-r.Capacity), e.At), e.At, *e)
		}
		if e.Count > r.Deepest.Count {
			r.Deepest = *e
		}
	}
}

// Denies reports whether the register says that the capacity was never exceeded.
func (r *Resource) Denies() bool {
	return r.Deepest.Count <= r.Capacity && r.Uncertain+r.UncertainByDeaths == 0
}

// read takes what an entry has read that by the register was alone inside. If that is more than was written
// by now, an exit must come that has written it, by its stamp within the error of stamps.
func (r *Resource) read(s *Section) {
	if s.Read > r.Account && s.Read <= r.mayBeWritten {
		r.Account, r.readOfDead = s.Read, &Misread{s.Node, s.Entered, s.Read}
		r.writesOfDead++
	}
	if r.Capacity == 1 && s.Taken <= s.Units && s.Read > r.Account && r.ahead == nil {
		r.ahead = &Misread{s.Node, s.Entered, s.Read}
	}
}

// write takes what an exit has written.
func (r *Resource) write(s *Section, at, stampError int64) {
	if a := r.ahead; a != nil && s.Written >= a.Read {
		if at-a.At > stampError && r.Early == nil {
			r.Early = a
		}
		r.ahead = nil
	}
	r.wrote(s.Written, at-stampError)
}

// wrote takes what an exit has written, which may have been read since a time. The account ends with the most
// that anybody wrote: the exit that is last by its stamp may have been an earlier one.
func (r *Resource) wrote(account, since int64) {
	if d := r.readOfDead; d != nil && account == d.Read && d.At >= since {
		r.readOfDead = nil // it was this exit that wrote it
		r.writesOfDead--
	}
	r.Account = max(r.Account, account)
}

// settle ends the comparison of what was read with what was written, and of what was refused with who has
// entered. Somebody may have entered unseen who died before the answer came.
func (r *Resource) settle(unseen bool) {
	if r.Early == nil {
		r.Early = r.ahead // nobody wrote it at all
	}
	if unseen {
		return
	}
	for _, one := range r.refused {
		r.Baseless = cmp.Or(r.Baseless, one)
	}
}

// Lost returns how many updates of the account were overwritten, or more: each exit adds one to it. It is 0
// if several clients may be inside, since their updates overwrite each other anyway.
func (r *Resource) Lost() uint64 {
	written := r.Exits + r.writesOfDead
	if r.Capacity > 1 || uint64(r.Account) >= written {
		return 0
	}
	return written - uint64(r.Account)
}

// step takes what a client has done that leaves.
func (r *Resource) step(e *history.Event) {
	done, spoilt := e.Worked()
	r.steps += uint64(done)
	r.spoilt += uint64(spoilt)
}

// Worked returns how much clients have done whose work is w: its steps or, if it has none, updates of the
// account. Others have spoilt so many of them, or overwritten.
func (r *Resource) Worked(w workload.Work) (done, spoilt uint64) {
	if w.Steps() > 0 {
		return r.steps, r.spoilt
	}
	return r.Exits + r.writesOfDead, r.Lost()
}

// Undone returns how many updates of the account were by nodes that died before their client asked again. If
// each update takes a share of some work, which its client does once it has left, these are never done.
func (r *Resource) Undone() uint64 { return r.undone + r.writesOfDead }

// updated notes that a client has left and written the account, and whether its node has died since.
func (r *Resource) updated(c *Client, died bool) {
	r.Exits++
	if c.updated = !died; died {
		r.undone++
	}
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

// leave takes a section out that has ended. It returns a certain overlap in which that was.
func (r *Resource) leave(s *Section, c *clocks, w Window) (certain *Overlap) {
	over := r.held > uint64(r.Capacity)
	if over {
		certain = r.overlap(s, c)
		r.pair(s, c)
	}
	if s.State == Crashed {
		r.mayBeWritten = max(r.mayBeWritten, s.Read+1)
	}
	full := r.held >= uint64(r.Capacity)
	r.inside = slices.Delete(r.inside, slices.Index(r.inside, s), slices.Index(r.inside, s)+1)
	r.held -= uint64(s.Units)
	if s.Node != r.lastBy {
		r.others, r.lastBy = r.lastLeft, s.Node
	}
	r.lastLeft = s.Ended
	if over && r.held <= uint64(r.Capacity) { // the next overlap is another one
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

// ask counts a request, and whether units are missing for it.
func (r *Resource) ask(s *Section, stampError int64) {
	r.Requests++
	if takes := r.held + r.line.units + uint64(s.Units); takes > uint64(r.Capacity) {
		s.missing = takes - uint64(r.Capacity)
		r.Contended++
		r.forget(s.Asked, stampError)
		r.recent = append(r.recent, s)
	}
}

// gaveBack takes it that the units of a section that has ended are free. By the stamps, which may err, they
// may have been before the latest requests were made; in a simulation both may have the same time. So these
// were not contended.
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

// longestDoubt is for how long a request is recent, however much stamps may err.
const longestDoubt = 10_000_000

// forget takes the requests as contended that were made longer ago than stamps may err.
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

// overlap accounts for the overlap of s, which is leaving, with the other sections that are inside. It
// returns the overlap if it is certain.
func (r *Resource) overlap(s *Section, c *clocks) *Overlap {
	var one *Section // whose entry exceeded the capacity
	last := 0
	for sum := uint64(0); sum <= uint64(r.Capacity); last++ {
		one = r.inside[last]
		sum += uint64(one.Units)
	}
	from, now := max(s.Entered, one.Entered), s.Ended
	r.Closest = max(r.Closest, now-from)
	if !c.allTogether(s, r.inside[:last], now) {
		if now > from {
			r.UncertainOverlaps++
		}
		return nil
	}
	held := uint64(0) // certainly at the same time
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

// heldSince returns when the last of those came in who must have been let in wrongly, if the capacity is
// exceeded by so much at a time and whoever enters then does so rightly: as few as it takes, the first of all
// inside. If no more are known, it is that time itself.
func (r *Resource) heldSince(excess uint64, at int64) int64 {
	for _, s := range r.inside {
		if uint64(s.Units) >= excess {
			return min(s.Entered, at)
		}
		excess -= uint64(s.Units)
	}
	return at
}

// past takes the current overlap as over.
func (r *Resource) past() {
	if w := (Window{r.current.From, r.current.To}); w.Known() {
		r.Overlap += w.Length()
		r.over = append(r.over, w)
	}
}

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

// Where entries have fence numbers, the resource is to accept nothing that is written under a lower number
// than the highest that has entered. The account, which is one word with that number, tells what came first:
// who entered before a write has read less than was written. Stamps would not tell, since a process may stand
// still between a stamp and what it is of.

// fence compares the fence number of an entry with those of the others: a number is passed once another
// enters under the same or a higher one. Of an entry that a process was asked for, the number counts before
// the stamp.
func (r *Resource) fence(s *Section, stampError int64, asked bool) {
	if s.Fence == 0 {
		r.Unfenced++
		return
	}
	for _, one := range r.inside {
		if one.Fence > s.Fence {
			continue
		}
		one.above = max(one.above, s.Fence)
		if one.passed == nil || s.Read < one.passed.Read {
			one.passed = new(*s)
		}
	}
	if r.top != nil && r.top.Fence >= s.Fence {
		s.passed, s.above = new(*r.top), r.top.Fence
	} else {
		if r.top == nil {
			r.top = &Section{}
		}
		*r.top = *s
	}
	r.refused = slices.DeleteFunc(r.refused, func(one *Section) bool {
		late := !asked && s.Entered-one.Ended > stampError
		if late {
			r.Baseless = cmp.Or(r.Baseless, one)
		}
		return late || one.Fence < s.Fence
	})
}

// refuse takes an exit whose write was refused. If nobody has entered by then under a higher number, somebody
// must have, by a later stamp within their error.
func (f *Fold) refuse(r *Resource, s *Section, at int64) {
	f.Refused++
	if f.Window.Has(s.Entered) {
		f.RefusedInWindow++
	}
	r.Refusals++
	if s.above <= s.Fence {
		one := *s
		one.Ended = at
		r.refused = append(r.refused, &one)
	}
}

// accept takes an exit whose write was accepted. It should not have been if somebody had entered under a
// number no lower, and read less.
func (f *Fold) accept(r *Resource, s *Section, at int64) {
	if s.passed != nil && s.passed.Read < s.Written {
		writer := *s
		writer.Ended = at
		r.Stale.keep(f.stretch(at), s.Entered, at, Overlap{A: &writer, B: s.passed, From: s.passed.Entered, To: at})
	}
}

// pair notes who was in an overlap with s, which ends, under the same fence number: a resource that demands
// numbers lets both write.
func (r *Resource) pair(s *Section, c *clocks) {
	for _, other := range r.inside {
		switch {
		case other == s || other.Fence != s.Fence || s.Fence == 0:
		case c.together(other, s, s.Ended):
			other.twin, s.twin = true, true
		case s.Ended > other.Entered && s.Ended > s.Entered:
			other.maybe, s.maybe = true, true
		}
	}
}

// unguarded counts a section that has ended if it wrote beside another under the same fence number, and a
// resource that demands numbers accepts that: by its stamps, nobody has entered under a higher number before.
// If one has, the write may have come before that all the same, since a process may stand still after it. A
// process that is asked enters a client some time before its stamp.
func (f *Fold) unguarded(r *Resource, s *Section) {
	wrote := s.State == Exited && !s.Refused
	passed := s.above > s.Fence || f.Asked
	switch {
	case !s.twin && !s.maybe || !wrote && s.State != Crashed:
	case wrote && s.twin && (f.Demands || !passed):
		r.Unguarded++
	default:
		r.MaybeUnguarded++
	}
}
