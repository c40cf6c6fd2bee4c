package sim

import "turnstile/nodes"

// An event is something that will happen.
type event struct {
	what        what
	kind        uint8    // of message
	amnesia     bool     // of a restart
	from, to    nodes.ID // to is where it happens
	incarnation uint32   // of to, when this was planned: to one that has come up anew it does not happen
	gen         uint32   // of a timer
	timer       nodes.Timer
	message     nodes.Message
}

// what an event is.
type what uint8

const (
	toDeliver what = iota // a message arrives
	toRequest             // a client's next request is due
	toRelease             // a critical section is over
	toTimeout             // a machine's timer runs out
	toCrash
	toRestart
	toMeasure // the warm-up is over
	toStop    // issuing ends
)

// A queue holds events until their time: the earliest first, and of those at one time the first that
// was added. What lies in its heap is small, and the events themselves stay where they are.
type queue struct {
	heap  []entry
	slots []event
	free  []uint32
	added uint64
}

// An entry's order holds a count of all events before it and, in its lowest bits, a slot.
type entry struct {
	at    int64
	order uint64
}

const (
	slotBits = 26 // some 67 million events at a time
	slotMask = 1<<slotBits - 1
	fanOut   = 4 // a wide heap is shallow, and its children lie together in memory
)

func (e entry) before(f entry) bool { return e.at < f.at || e.at == f.at && e.order < f.order }

func (q *queue) empty() bool { return len(q.heap) == 0 }

// add returns the place for an event that happens at a time, for the caller to fill in.
func (q *queue) add(at int64) *event {
	var slot uint32
	if n := len(q.free); n > 0 {
		slot, q.free = q.free[n-1], q.free[:n-1]
	} else {
		slot = uint32(len(q.slots))
		if slot > slotMask {
			panic("the simulation has more than 67 million events at a time")
		}
		q.slots = append(q.slots, event{})
	}
	q.added++
	e := entry{at, q.added<<slotBits | uint64(slot)}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / fanOut
		if !e.before(q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
	return &q.slots[slot]
}

// take removes the earliest event and returns it and its time.
func (q *queue) take() (int64, event) {
	first := q.heap[0]
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; last > 0; {
		child := fanOut*i + 1
		if child >= last {
			q.heap[i] = e
			break
		}
		least := child
		for c := child + 1; c < min(child+fanOut, last); c++ {
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(e) {
			q.heap[i] = e
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	slot := uint32(first.order & slotMask)
	happens := q.slots[slot]
	q.slots[slot].message = nil
	q.free = append(q.free, slot)
	return first.at, happens
}
