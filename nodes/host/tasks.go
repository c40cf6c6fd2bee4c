package host

import (
	"time"

	"turnstile/internal/heap"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A task is something that a host will do at a time.
type task struct {
	at      int64 // in the run's nanoseconds
	local   int64 // what the node's clock shows then, of a timer
	order   uint64
	what    what
	pends   bool    // it was added by pend
	client  *client // whose request or critical section it is about
	entry   uint64  // which of its critical sections
	input   nodes.Input
	arrival arrival
}

// what a task is about.
type what uint8

const (
	toBegin    what = iota // issuing begins
	toCampaign             // the node brings an election about
	toEnd                  // issuing ends
	toRequest              // a client's next request is due
	toRelease              // its critical section is over
	toTimeout              // a machine's timer runs out
	toDeliver              // a delayed message arrives
	toReceive              // the application receives what has arrived
	toRest                 // a foreign program may have come to rest
	toHear                 // what it has written is taken again
)

// tasks are the tasks to come: the earliest first, and of equal times the one that was added first.
type tasks struct {
	heap.Heap[task]
	made uint64
}

func newTasks() tasks {
	return tasks{Heap: heap.New(func(a, b *task) bool {
		return a.at < b.at || a.at == b.at && a.order < b.order
	})}
}

func (t *tasks) add(x task) {
	t.made++
	x.order = t.made
	t.Push(x)
}

// pend adds a task that something waits for. As long as there is one, the run is not at rest.
func (h *host) pend(x task) {
	x.pends = true
	h.log.Pending.Add(1)
	h.tasks.add(x)
}

// pendFor is pend for a task of an instance. Nothing waits for a failure detector, which never rests, until
// it is hushed: from then on its messages are to arrive.
func (h *host) pendFor(instance int32, x task) {
	if h.detects(instance) && !(h.hushed && x.what == toDeliver) {
		h.tasks.add(x)
		return
	}
	h.pend(x)
}

// hush has the failure detectors do nothing more.
func (h *host) hush() {
	h.hushed = true
	if h.detectors == nil {
		return
	}
	for t := range h.tasks.All() {
		if t.what == toDeliver && !t.pends {
			t.pends = true
			h.log.Pending.Add(1)
		}
	}
}

// detects reports whether an instance is a failure detector.
func (h *host) detects(instance int32) bool { return h.detectors != nil && h.detectors[instance] }

// early is how long before the end of a critical section the loop wakes up: about as long as an idle
// processor takes to wake up. The loop spins for the rest. It does so for no other tasks: there may be very
// many, and their lateness changes no duration that was asked for.
const early = int64(15 * time.Microsecond)

// wake returns when to wake up for a task.
func (t *task) wake() int64 {
	if t.what == toRelease {
		return t.at - early
	}
	return t.at
}

// setAlarm sets the alarm for the earliest task, unless it is set for no later.
func (h *host) setAlarm() {
	if h.tasks.Len() == 0 {
		return
	}
	if at := h.tasks.First().wake(); at < h.alarm || h.alarm <= h.clock.Now() {
		h.alarm = at
		h.clock.SetAlarm(at)
	}
}

// runDue does the tasks that are due.
func (h *host) runDue() {
	for h.tasks.Len() > 0 && h.err == nil {
		now := h.clock.Now()
		if h.tasks.First().wake() > now {
			return
		}
		t := h.tasks.Pop()
		for now < t.at {
			now = h.clock.Now()
		}
		h.now = now
		h.log.Late[history.LatenessBucket(now-t.at)].Add(1)
		h.run(&t)
		if t.pends {
			h.log.Pending.Add(-1)
		}
	}
}

func (h *host) run(t *task) {
	if h.parked && t.what != toEnd && t.what != toDeliver {
		return
	}
	switch t.what {
	case toBegin:
		h.start()
		h.begin(t.at)
	case toCampaign:
		h.campaign()
	case toEnd:
		h.end(t.at)
	case toRequest:
		t.client.fall()
	case toRelease:
		t.client.finish(t.entry)
	case toTimeout:
		if h.hushed && h.detects(t.input.Instance) {
			return
		}
		h.log.Instance(t.input.Instance).Timeouts.Add(1)
		h.handle(t.input)
		h.act()
	case toDeliver:
		h.deliver(&t.arrival)
	case toReceive:
		h.attend()
	case toRest:
		h.bridge.rest()
	case toHear:
		h.bridge.resume()
	}
}
