package section

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Fold follows every client through its requests, and every resource through its clients. Its fields are
// complete when the history is over; most are up to date while it is read. It takes memory for open requests
// and for nodes, not for each event.
type Fold struct {
	Codec *nodes.Codec // of the messages; nil: it is not known which are heartbeats

	Marks  [history.Stalled + 1]Mark
	Window Window          // what is measured: see mark
	End    int64           // of the history
	Broken []history.Event // when assumptions about the system were broken, in order
	Pauses []Pause         // of processes, in the order of their beginnings
	Faults []Fault         // that were asked for, in the order of their beginnings

	Entries         uint64 // of the whole run
	EntriesInWindow uint64
	Due, Issued     uint64      // arrivals due in the window, and those of them that became requests
	Queued, Late    int64       // for how long clients were behind with these, in all; and while they were free
	Unregistered    uint64      // entries that did not raise the register
	Resources       []*Resource // by instance; nil for those without clients

	Irregular uint64   // events that no client causes
	Says      []string // what the first few of them are

	stampError int64
	capacity   func(instance uint16) int
	observers  []Observer
	lap        lap
	broken     nodes.Assumption
	down       map[nodes.ID]int64 // the nodes that are down, and since when
	spare      []*Section
}

// few is how many irregularities are kept.
const few = 20

// New returns a fold of a history. stampError bounds the error of comparing any two stamps.
// capacity tells how many units the resource of an instance has; nil: one each.
func New(stampError int64, capacity func(instance uint16) int) *Fold {
	if capacity == nil {
		capacity = func(uint16) int { return 1 }
	}
	return &Fold{Window: unseen, stampError: stampError, capacity: capacity, down: map[nodes.ID]int64{}}
}

// StampError bounds the error of comparing any two stamps.
func (f *Fold) StampError() int64 { return f.stampError }

// Observe adds an observer, which is told of all that follows, events included.
func (f *Fold) Observe(o Observer) { f.observers = append(f.observers, o) }

// Add implements history.Fold. It gives the event to the observers too.
func (f *Fold) Add(e history.Event) {
	f.add(&e)
	for _, o := range f.observers {
		o.Add(e)
	}
}

func (f *Fold) add(e *history.Event) {
	f.End = max(f.End, e.At)
	switch e.Kind {
	case history.Requested, history.Entered, history.Exited, history.Revoked, history.Unissued:
		if e.Node < 0 {
			f.blame(e, "is a client without a node")
			return
		}
		r := f.resource(e.Instance)
		f.follow(e, r, r.client(e.Node))
	case history.Crashed:
		f.crash(e)
	case history.Restarted:
		delete(f.down, e.Node)
	case history.Sent:
		if e.Count < history.MaxKinds {
			f.lap.since[e.Count]++
		}
	case history.Marked:
		f.mark(e)
	case history.AssumptionBroken:
		f.breaks(nodes.Assumption(e.Value), e)
	case history.FaultBegan, history.FaultHealed:
		f.fault(e)
		if e.Kind == history.FaultBegan {
			f.breaks(nodes.Assumption(e.Value), e)
		}
	case history.Paused, history.Resumed:
		f.pause(e)
		f.breaks(nodes.NoPause|nodes.Timing, e)
	}
}

// breaks takes an event by which some assumptions do not hold any more.
func (f *Fold) breaks(needs nodes.Assumption, e *history.Event) {
	if broken := f.broken | needs; broken != f.broken {
		f.broken = broken
		f.Broken = append(f.Broken, *e)
		f.Broken[len(f.Broken)-1].Value = int64(broken)
	}
}

// follow takes an event of a client of a resource.
func (f *Fold) follow(e *history.Event, r *Resource, c *Client) {
	switch e.Kind {
	case history.Requested:
		f.ask(e, r, c)
	case history.Entered:
		f.enter(e, r, c)
	case history.Unissued:
		f.unissued(e, r, c)
	default:
		f.leave(e, r, c)
	}
}

// Close implements history.Fold. It ends the sections that have not ended, and closes the observers.
func (f *Fold) Close(logs []*history.NodeLog) {
	for i := range f.Pauses {
		f.Pauses[i].To = min(f.Pauses[i].To, f.End)
	}
	for i := range f.Faults {
		f.Faults[i].To = min(f.Faults[i].To, f.End)
	}
	for _, r := range f.Resources {
		if r == nil {
			continue
		}
		for id := range r.Clients {
			f.cut(r.Clients[id].open, f.End, Unended, Unserved)
		}
		r.settle()
	}
	if !f.Marks[history.Measuring].Seen {
		f.Window = Window{}
	}
	f.Window.To = min(f.Window.To, f.End)
	for _, o := range f.observers {
		o.Close(logs)
	}
}

func (f *Fold) resource(instance uint16) *Resource {
	if have := len(f.Resources); int(instance) >= have {
		f.Resources = append(f.Resources, make([]*Resource, int(instance)+1-have)...)
	}
	if f.Resources[instance] == nil {
		f.Resources[instance] = newResource(instance, uint32(f.capacity(instance)))
	}
	return f.Resources[instance]
}

// fresh returns a section to fill in.
func (f *Fold) fresh() *Section {
	if last := len(f.spare) - 1; last >= 0 {
		s := f.spare[last]
		f.spare = f.spare[:last]
		return s
	}
	return &Section{}
}

func (f *Fold) ask(e *history.Event, r *Resource, c *Client) {
	c.Asked++
	if c.open != nil {
		f.blame(e, "asks before its last request is over")
		f.cut(c.open, e.At, Crashed, Abandoned)
	}
	s := f.fresh()
	*s = Section{Resource: r, Node: e.Node, Entry: e.Entry, Units: max(1, e.Count), State: Waiting,
		Due: e.Value, Asked: e.At, Alone: r.line.count+len(r.inside) == 0}
	r.Requests++
	c.open = s
	r.line.join(s)
	if f.Window.Has(s.Due) {
		f.Due++
		f.Issued++
		f.queued(c, s.Due, e.At, true)
	}
	c.next = e.At
	for _, o := range f.observers {
		o.Asked(s)
	}
}

func (f *Fold) enter(e *history.Event, r *Resource, c *Client) {
	f.Entries++
	c.Entered++
	f.throughFaults()
	if f.Window.Has(e.At) {
		f.EntriesInWindow++
		c.InWindow++
		f.lap.enter()
	}
	if e.Count == 0 {
		f.Unregistered++
	}
	if e.Count > r.Deepest.Count {
		r.Deepest = *e
	}
	s := c.open
	if s == nil || s.State != Waiting || s.Entry != e.Entry {
		f.blame(e, "enters without a request")
	}
	switch {
	case s == nil:
		s = f.fresh()
		*s = Section{Resource: r, Node: e.Node, Units: 1, Due: e.At, Asked: e.At}
		c.open = s
	case s.State == Inside:
		return
	default:
		r.line.leave(s, true)
	}
	s.State, s.Entry, s.Entered = Inside, e.Entry, e.At
	s.Taken, s.Fence, s.Read = e.Count, e.Fence, e.Value
	r.read(s)
	r.enter(s)
	for _, o := range f.observers {
		o.Entered(s)
	}
}

func (f *Fold) leave(e *history.Event, r *Resource, c *Client) {
	c.Left++
	state := Revoked
	if e.Kind == history.Exited {
		state = Exited
		r.Exits++
	}
	s := c.open
	if s == nil || s.State != Inside || s.Entry != e.Entry {
		f.blame(e, "leaves without an entry")
	}
	if s == nil || s.State != Inside {
		return
	}
	if state == Exited && e.Value != s.Read+1 {
		f.blame(e, "does not add one to the account")
	}
	if s.Written = e.Value; state == Exited {
		r.write(s, e.At, f.stampError)
	}
	f.end(s, e.At, state)
}

// unissued counts an arrival that never became a request. It waited until issuing ended, or until its node
// crashed. Arrivals that fell due while the node was down are left out, since there was no client.
func (f *Fold) unissued(e *history.Event, r *Resource, c *Client) {
	until := e.At
	if since, down := f.down[e.Node]; down {
		if until = since; e.Value >= since {
			return
		}
	}
	c.Unissued++
	if f.Window.Has(e.Value) {
		f.Due++
		f.queued(c, e.Value, until, c.open == nil)
		c.next = until
	}
	s := Section{Resource: r, Node: e.Node, State: Unissued, Due: e.Value, Ended: until}
	for _, o := range f.observers {
		o.Ended(&s)
	}
}

// queued accounts for the time from when an arrival was the next one of its client and due, until it became a
// request or issuing stopped. While its client was free, which it may have been since its last section ended,
// that was not for want of service.
func (f *Fold) queued(c *Client, due, until int64, free bool) {
	f.Queued += max(0, until-max(due, c.next))
	if free {
		f.Late += max(0, until-max(due, c.next, c.left))
	}
}

// crash ends the open sections of a node.
func (f *Fold) crash(e *history.Event) {
	f.down[e.Node] = e.At
	for _, r := range f.Resources {
		if r != nil && e.Node >= 0 {
			f.cut(r.client(e.Node).open, e.At, Crashed, Abandoned)
		}
	}
}

// cut ends a section, if there is one, that its client did not end. Its state depends on whether it was
// inside.
func (f *Fold) cut(s *Section, at int64, inside, waited State) {
	switch {
	case s == nil:
	case s.State == Inside:
		f.end(s, at, inside)
	default:
		f.end(s, at, waited)
	}
}

// end ends a section.
func (f *Fold) end(s *Section, at int64, state State) {
	r, inside := s.Resource, s.State == Inside
	s.State, s.Ended = state, at
	r.Clients[s.Node].open, r.Clients[s.Node].left = nil, at
	if inside {
		r.leave(s, f.stampError, f.Window)
	} else {
		r.line.leave(s, false)
	}
	for _, o := range f.observers {
		o.Ended(s)
	}
	if !s.Violates { // otherwise a witness may need it
		f.spare = append(f.spare, s)
	}
}

// blame records an event that no client causes.
func (f *Fold) blame(e *history.Event, does string) {
	if f.Irregular++; len(f.Says) < few {
		f.Says = append(f.Says, fmt.Sprintf("node %d %s (entry %d, at %.1f us)", e.Node, does, e.Entry,
			float64(e.At)/1e3))
	}
}
