package section

import (
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Resource is what the clients of one instance share. It has a capacity in units. Sections *overlap* while
// those inside hold more units than that; with a capacity of 1 no two may be inside. An overlap is certain if
// it is longer than the error of the stamps. Only then is it a violation.
type Resource struct {
	Instance uint16
	Capacity uint32
	Requests uint64

	Violations uint64   // sections in certain overlaps
	Overlap    int64    // total length of the certain overlaps
	First      *Overlap // the earliest certain one
	Doubtful   uint64   // sections that left in an overlap that is not certain
	Closest    int64    // the longest overlap, certain or not; negative: how far apart the closest sections were

	Deepest history.Event // the Entered with the highest count of the register
	Exits   uint64        // that wrote to the account
	Account int64         // the most that was ever written to it
	Early   *Misread      // the first entry that read what, by the stamps, nobody had written yet; nil: none
	Busy    int64         // for how much of the window somebody was inside
	Clients []Client      // by node; there may be fewer

	line     line
	inside   []*Section // in the order of their entries
	held     uint64     // units held by those inside
	since    int64      // when the first of those inside entered
	current  Overlap    // the certain overlap that may go on, if it has a length
	freed    bool       // since the latest exit a unit is free, and before it none was
	freeAt   int64      // the time of that exit
	lastLeft int64
	ahead    *Misread // an entry that read more than was written until then
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
}

// An Overlap is when sections held more than the capacity. A entered before B; others may have been there.
type Overlap struct {
	A, B     *Section
	From, To int64
}

func newResource(instance uint16, capacity uint32) *Resource {
	return &Resource{Instance: instance, Capacity: capacity, Closest: math.MinInt64, lastLeft: math.MinInt64}
}

// client returns the client of a node.
func (r *Resource) client(id nodes.ID) *Client {
	if have := len(r.Clients); int(id) >= have {
		r.Clients = append(r.Clients, make([]Client, int(id)+1-have)...)
	}
	return &r.Clients[id]
}

// read takes what an entry has read that by the register was alone inside. If that is more than was written
// by now, an exit must come that has written it, by its stamp within the error of stamps.
func (r *Resource) read(s *Section) {
	if r.Capacity == 1 && s.Taken <= s.Units && s.Read > r.Account && r.ahead == nil {
		r.ahead = &Misread{s.Node, s.Entered, s.Read}
	}
}

// write takes what an exit has written. The account ends with the most that anybody wrote: the exit that is
// last by its stamp may have been an earlier one.
func (r *Resource) write(s *Section, at, stampError int64) {
	if a := r.ahead; a != nil && s.Written >= a.Read {
		if at-a.At > stampError && r.Early == nil {
			r.Early = a
		}
		r.ahead = nil
	}
	r.Account = max(r.Account, s.Written)
}

// settle ends the comparison of what was read with what was written.
func (r *Resource) settle() {
	if r.Early == nil {
		r.Early = r.ahead // nobody wrote it at all
	}
}

// Lost returns how many updates of the account were overwritten, or more: each exit adds one to it. It is 0
// if several clients may be inside, since their updates overwrite each other anyway.
func (r *Resource) Lost() uint64 {
	if r.Capacity > 1 || uint64(r.Account) >= r.Exits {
		return 0
	}
	return r.Exits - uint64(r.Account)
}

// enter puts a section inside.
func (r *Resource) enter(s *Section) {
	if r.lastLeft != math.MinInt64 {
		r.Closest = max(r.Closest, r.lastLeft-s.Entered)
	}
	s.Handed, s.FreedAt = r.freed && s.Asked < r.freeAt, r.freeAt
	r.freed = false
	if len(r.inside) == 0 {
		r.since = s.Entered
	}
	r.inside = append(r.inside, s)
	r.held += uint64(s.Units)
}

// leave takes a section out that has ended.
func (r *Resource) leave(s *Section, stampError int64, w Window) {
	over := r.held > uint64(r.Capacity)
	if over {
		r.overlap(s, stampError)
	}
	full := r.held >= uint64(r.Capacity)
	r.inside = slices.Delete(r.inside, slices.Index(r.inside, s), slices.Index(r.inside, s)+1)
	r.held -= uint64(s.Units)
	r.lastLeft = s.Ended
	if over && r.held <= uint64(r.Capacity) { // the next overlap is another one
		r.Overlap += r.current.To - r.current.From
		r.current = Overlap{}
	}
	if full && r.held < uint64(r.Capacity) {
		r.freed, r.freeAt = s.State == Exited, s.Ended // only an exit frees units that a waiting request then takes
	}
	if len(r.inside) == 0 {
		r.Busy += w.overlap(r.since, s.Ended)
	}
}

// overlap accounts for the overlap of s, which is leaving, with the other sections that are inside.
func (r *Resource) overlap(s *Section, stampError int64) {
	var one *Section // whose entry exceeded the capacity
	for sum, i := uint64(0), 0; sum <= uint64(r.Capacity); i++ {
		one = r.inside[i]
		sum += uint64(one.Units)
	}
	from, now := max(s.Entered, one.Entered), s.Ended
	r.Closest = max(r.Closest, now-from)
	if now-from <= stampError {
		if now > from {
			r.Doubtful++
		}
		return
	}
	for _, other := range r.inside {
		if !other.Violates && now-max(from, other.Entered) > stampError {
			other.Violates = true
			r.Violations++
		}
	}
	if r.First == nil || from < r.First.From {
		other := one
		if other == s {
			other = r.inside[0]
		}
		r.First = &Overlap{s, other, from, now}
		if other.Entered < s.Entered {
			r.First.A, r.First.B = other, s
		}
	}
	if r.current.To == 0 || one.Entered > r.current.To {
		r.Overlap += r.current.To - r.current.From
		r.current.From = one.Entered
	}
	r.current.To = now
}
