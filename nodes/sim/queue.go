package sim

import (
	"math/bits"

	"turnstile/nodes"
)

// An event is something that is planned for a time.
type event struct {
	what  eventKind
	kind  uint8       // the kind of the message
	void  bool        // cancelled
	late  bool        // postponed once, since its node was paused or had just resumed
	to    nodes.ID    // the node at which the event happens
	life  uint32      // w.lives of the node when the event was planned: after a crash the event is void
	local int64       // for a timer: the due time by the node's clock; other uses: see planStep and noteLoss
	input nodes.Input // what the node then handles
}

// An eventKind is the kind of an event.
type eventKind uint8

const (
	toDeliver  eventKind = iota // a message arrives
	toRequest                   // a client's next request is due
	toRelease                   // a critical section is over, or the next step of its work is due
	toHandBack                  // a node that was paused when its client left hands its machine the release
	toTimeout                   // a machine's timer runs out
	toCampaign                  // the workload tells a node to campaign
	toTell                      // the oracle tells a node that another has crashed or is up
	toReceive                   // the application of a node takes in messages
	toMeasure                   // the warm-up is over
	toStop                      // issuing ends
	toFault                     // a fault begins or is healed
)

// A queue holds events until their time: the earliest event comes first; of events with equal times, the
// event added first. No event may be added for a time before now, which is the time of the event taken last.
//
// It is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, JACM 37(2), 1990) on times as numbers of base 64. An
// event lies at the level of the highest digit in which its time differs from now, in the slot of that digit:
// the earliest event is in the lowest slot of the lowest level. When now reaches the times of a slot, the
// events of this slot move to lower levels. An event moves to each level at most once. So the cost of an
// event hardly depends on their number. Events of one time are in one slot, and each slot keeps the order in
// which they were added.
type queue struct {
	now    int64
	size   int
	levels uint16                       // a bit for each level that holds events
	used   [levels]uint64               // by level: a bit for each slot that holds events
	slots  [levels][1 << digitBits]slot // a slot is valid if its bit in used is set
	places []place
	events []event // events[i] is the event of places[i]
	free   []uint32
	taken  uint32 // the index of the event taken last, which is not free yet
}

// A slot is a list of places.
type slot struct{ first, last uint32 }

// A place refers to an event in the queue. It is stored apart from the event, so that moving an event touches
// little memory.
type place struct {
	at   int64
	next uint32 // the next place in the slot, unless this place is the last one
}

const (
	digitBits = 6
	levels    = (64 + digitBits - 1) / digitBits
)

func newQueue() queue {
	return queue{places: make([]place, 1), events: make([]event, 1)} // the first element counts as taken
}

func (q *queue) empty() bool { return q.levels == 0 }

// each calls do for each event, in any order. do may add events, for which it is not called.
func (q *queue) each(do func(*event)) {
	free := make([]bool, len(q.events))
	for _, i := range append([]uint32{q.taken}, q.free...) {
		free[i] = true
	}
	for i := range free {
		if !free[i] {
			e := q.events[i]
			do(&e)
			q.events[i] = e
		}
	}
}

// add returns a new event at a time, for the caller to fill in.
func (q *queue) add(at int64) *event {
	q.size++
	var i uint32
	if n := len(q.free); n > 0 {
		i, q.free = q.free[n-1], q.free[:n-1]
	} else {
		i = uint32(len(q.events))
		q.events = append(q.events, event{})
		q.places = append(q.places, place{})
	}
	q.places[i].at = at
	q.put(i, uint64(at))
	return &q.events[i]
}

// put appends a place to the slot of its time.
func (q *queue) put(i uint32, at uint64) {
	level := uint(bits.Len64((at^uint64(q.now))|1)-1) / digitBits
	digit := at >> (level * digitBits % 64) % (1 << digitBits) // % 64: tells the compiler that the shift fits
	s := &q.slots[level][digit]
	if q.used[level]>>digit&1 != 0 {
		q.places[s.last].next = i
	} else {
		q.levels |= 1 << level
		q.used[level] |= 1 << digit
		s.first = i
	}
	s.last = i
}

// take removes the earliest event and returns its time and the event, which is valid until the next take.
func (q *queue) take() (int64, *event) {
	q.events[q.taken].input.Message = nil
	q.free = append(q.free, q.taken)
	level := bits.TrailingZeros16(q.levels)
	digit := bits.TrailingZeros64(q.used[level])
	s := &q.slots[level][digit]
	i := s.first
	switch {
	case i == s.last:
		q.clear(level, digit)
	case level == 0: // all events of a slot of level 0 have the same time
		s.first = q.places[i].next
	default:
		q.clear(level, digit)
		i = q.spread(*s)
	}
	q.now = q.places[i].at
	q.size--
	q.taken = i
	return q.now, &q.events[i]
}

// clear marks a slot as empty.
func (q *queue) clear(level, digit int) {
	q.used[level] &^= 1 << digit
	if q.used[level] == 0 {
		q.levels &^= 1 << level
	}
}

// spread sets now to the earliest time in a slot that was cleared. It returns the first place with that time
// and moves all other places to lower levels.
func (q *queue) spread(s slot) (earliest uint32) {
	earliest = s.first
	least := q.places[earliest].at
	for i := s.first; i != s.last; {
		i = q.places[i].next
		if at := q.places[i].at; at < least {
			earliest, least = i, at
		}
	}
	q.now = least
	for i, more := s.first, true; more; {
		p := q.places[i] // a copy, since put may change the place
		more = i != s.last
		if i != earliest {
			q.put(i, uint64(p.at))
		}
		i = p.next
	}
	return earliest
}
