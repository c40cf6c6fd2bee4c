package section

import (
	"cmp"
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A Resource is shared by the clients of one instance. It has a capacity in units. Sections *overlap* while
// they hold more units than that; with a capacity of 1, while two are inside. An overlap is certain if it is
// longer than the error of the stamps. Only then is it a violation.
type Resource struct {
	Instance uint16
	Capacity uint32
	Requests uint64
	// Contended counts requests for which units were missing: fewer were free than the request and all waiting
	// requests take together.
	Contended uint64

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

	// Deepest is the Entered event with the highest count of the register that was certainly right. Uncertain
	// counts entries that saw more than the capacity, perhaps only because a node died while it changed the
	// register; FirstUncertain is the first of these.
	Deepest           history.Event
	Exceeded          Moments[history.Event] // entries whose count was certainly more than the capacity
	Uncertain         uint64
	FirstUncertain    history.Event
	UncertainByDeaths uint64 // like Uncertain, perhaps only because the register still counted killed clients
	Exits             uint64 // exits that wrote to the account
	Account           int64  // the highest value written to the account
	// Early is the first entry that read a value before it was written, by the stamps, or nil.
	Early   *Misread
	Clients []Client // by node; the last nodes may be missing if they did nothing
	busy
	// The work of clients inside (see workload.Work): steps, how many of these others have spoilt, and updates
	// of the account by nodes that died before their client asked again.
	steps, spoilt, undone uint64

	Unfenced uint64           // entries without a fence number
	Refusals uint64           // exits whose write was refused
	Stale    Moments[Overlap] // writes by A that should have been refused, since B had entered before
	Baseless *Section         // the first section refused though no higher number had entered, or nil

	Tries     uint64 // refused tries
	FreeTries uint64 // refused tries during which no client was inside
	// Unguarded counts entries in a certain overlap with another under the same fence number: the resource
	// accepts both writes, though it demands numbers. MaybeUnguarded counts entries for which this is
	// uncertain.
	Unguarded, MaybeUnguarded uint64

	top      *Section   // a copy of the section with the highest fence number, or nil
	refused  []*Section // copies of refused sections, until another section enters under a higher number
	line     line
	recent   []*Section // contended requests, made so recently that units may have been free before them
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
	ahead    *Misread   // an entry that read more than had been written so far

	// orphaned counts the units of killed nodes that the register may count until they are taken out, and
	// takenOut how many of these units were taken out.
	orphaned, takenOut uint32

	unknown      uint32   // how much too high the register may be, since nodes died while they changed it
	mayBeWritten int64    // the highest value that a dead node may have written without an Exited event
	readOfDead   *Misread // the latest entry that read a value which a dead node may have written
	writesOfDead uint64   // how many values were read which a dead node may have written
}

// An ended is what is kept of a section that has ended.
type ended struct {
	node    nodes.ID
	entered int64
	units   uint32 // 0: there was no section
}

// A Misread is an entry that read an unexpected value.
type Misread struct {
	Node nodes.ID
	At   int64
	Read int64 // what the account held
}

// A Client is the state of one client of a resource. It is small: with many clients, none stays in the cache
// of the processor from one event to the next.
type Client struct {
	open     *Section // its open request, or nil
	left     int64    // when its last section ended
	next     int64    // when its last request was made, or issuing stopped
	Asked    uint32   // requests
	Entered  uint32   // entries
	Left     uint32   // exits and revocations
	InWindow uint32   // entries in the window
	Unissued uint32   // arrivals that never became requests
	orphaned uint32   // see Resource.orphaned
	updated  bool     // it wrote the account, and has not asked again since
}

// An Overlap is a time in which sections held more than the capacity: A, which entered first, B, and others.
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

// register takes the count that an entry read from the register, at some time since its request. It never
// counts too few units. It may count units of dead nodes that were not taken out yet, and units that no
// client holds if a node died while it changed the register.
func (r *Resource) register(e *history.Event, s *Section, stretch int, spared bool) {
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
	case over && certain <= r.Capacity: // the count may include a killed client
		r.UncertainByDeaths++
	default:
		if over {
			r.Exceeded.keep(stretch, r.heldSince(uint64(certain-r.Capacity), e.At), e.At, spared, *e)
		}
		if e.Count > r.Deepest.Count {
			r.Deepest = *e
		}
	}
}

// Denies reports whether, by the register, the capacity was never exceeded.
func (r *Resource) Denies() bool {
	return r.Deepest.Count <= r.Capacity && r.Uncertain+r.UncertainByDeaths == 0
}

// read takes the value that an entry read. If the entry was alone by the register and the value was not
// written yet, an exit that wrote it must follow within the error of stamps.
func (r *Resource) read(s *Section) {
	if s.Read > r.Account && s.Read <= r.mayBeWritten {
		r.Account, r.readOfDead = s.Read, &Misread{s.Node, s.Entered, s.Read}
		r.writesOfDead++
	}
	if r.Capacity == 1 && s.Taken <= s.Units && s.Read > r.Account && r.ahead == nil {
		r.ahead = &Misread{s.Node, s.Entered, s.Read}
	}
}

// write takes the value that an exit wrote.
func (r *Resource) write(s *Section, at, stampError int64) {
	if a := r.ahead; a != nil && s.Written >= a.Read {
		if at-a.At > stampError && r.Early == nil {
			r.Early = a
		}
		r.ahead = nil
	}
	r.wrote(s.Written, at-stampError)
}

// wrote takes the value that an exit wrote, and the time since when entries may have read it. The final
// account is the highest value written: the last exit by stamps may not have been the last.
func (r *Resource) wrote(account, since int64) {
	if d := r.readOfDead; d != nil && account == d.Read && d.At >= since {
		r.readOfDead = nil // this exit wrote the value, not a dead node
		r.writesOfDead--
	}
	r.Account = max(r.Account, account)
}

// settle ends the comparison of values read with values written, and of refusals with entries. unseen means
// that a client may have entered without an event: it died before the answer came.
func (r *Resource) settle(unseen bool) {
	if r.Early == nil {
		r.Early = r.ahead // no exit wrote the value at all
	}
	if unseen {
		return
	}
	for _, one := range r.refused {
		r.Baseless = cmp.Or(r.Baseless, one)
	}
}

// Lost returns how many updates of the account are missing: each exit adds one to it. It is 0 if several
// clients may be inside, since their updates overwrite each other anyway.
func (r *Resource) Lost() uint64 {
	written := r.Exits + r.writesOfDead
	if r.Capacity > 1 || uint64(r.Account) >= written {
		return 0
	}
	return written - uint64(r.Account)
}

// step adds the work of a client that leaves.
func (r *Resource) step(e *history.Event) {
	done, spoilt := e.Worked()
	r.steps += uint64(done)
	r.spoilt += uint64(spoilt)
}

// Worked returns how much work of kind w clients have done: steps or, if it has no steps, updates of the
// account; and how much of it others have spoilt.
func (r *Resource) Worked(w workload.Work) (done, spoilt uint64) {
	if w.Steps() > 0 {
		return r.steps, r.spoilt
	}
	return r.Exits + r.writesOfDead, r.Lost()
}

// Undone returns how many updates of the account were by nodes that died before their client asked again. If
// an update takes a share of work that the client does after it leaves, these shares are never done.
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

// With fence numbers, the resource must refuse a write under a lower number than the highest that has
// entered. The account, one word together with that number, tells which came first: a client that entered
// before a write has read a lower value than was written. Stamps cannot tell, since a process may stand still
// between an action and its stamp.

// fence compares the fence number of an entry with the others. A number is passed when another
// client enters under the same or a higher one. asked means that a process lets clients in some time before
// their stamps.
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

// refuse takes an exit whose write was refused. A client must have entered under a higher number before, or
// by a later stamp within the error.
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

// accept takes an exit whose write was accepted. The write should have been refused if another client had
// entered under the same or a higher number before the write. Then that client has read a lower value than
// was written.
func (f *Fold) accept(r *Resource, s *Section, at int64) {
	if s.passed != nil && s.passed.Read < s.Written {
		writer := *s
		writer.Ended = at
		r.Stale.keep(f.stretch(at), s.Entered, at, f.spared(at, s, s.passed),
			Overlap{A: &writer, B: s.passed, From: s.passed.Entered, To: at})
	}
}

// pair notes the sections that overlap with s, which ends, under the same fence number: a resource that
// demands numbers lets both write.
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

// unguarded counts a section that wrote beside another under the same fence number, if a resource that
// demands numbers accepts that write: by the stamps no client had entered under a higher number. If one had,
// the write may still have come before, since a process may stand still after it; so this is uncertain. The
// same holds if a process is asked, which lets clients in before their stamps.
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
