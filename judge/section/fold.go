package section

import (
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A Fold follows every client through its requests, and every resource through its clients. Its fields are
// complete when the history is over; most are up to date while it is read. It takes memory for open requests
// and for nodes, not for each event.
type Fold struct {
	Codec   *nodes.Codec  // codec of the messages; nil: heartbeats are unknown
	Detects bool          // a failure detector runs beside the algorithm
	Informs bool          // machines say what clients hear of the lock
	Demands bool          // resources demand fence numbers
	Asked   bool          // clients ask a process, which lets them in some time before their stamps
	Work    workload.Work // the work that clients do inside
	// Touches reports whether a fault hits a client, in a run whose clients use a service and do not depend on
	// each other; nil: clients depend on each other.
	Touches func(fault *Fault, id nodes.ID) bool
	// Slows reports whether a fault makes timers or messages of a node late; nil: no fault does.
	Slows func(fault *Fault, id nodes.ID) bool
	Named int // how many resources there are, numbered like their instances; 0: one resource

	Marks  [history.Stalled + 1]Mark
	Window Window          // what is measured: see mark
	End    int64           // time of the latest event of the history
	Broken []history.Event // events that broke assumptions for good, except faults, in order
	Pauses []Pause         // pauses of processes, in the order of their beginnings
	Faults []Fault         // faults that took place, in the order of their beginnings
	Wrongs []Wrong         // the times in which a failure detector suspected a node that was up, in order
	Detection
	Deaths []Death // deaths of nodes, in order

	Entries, EntriesInWindow uint64 // entries of the whole run, and of the window
	Refused, RefusedInWindow uint64 // entries whose write the resource refused
	Due, Issued              uint64 // arrivals due in the window, and how many of these became requests
	// Queued is how long due arrivals waited to become requests, in all, and Late the part of that time in
	// which their client was free.
	Queued, Late int64
	Unregistered uint64      // entries that did not raise the register
	Resources    []*Resource // by instance; nil: the instance has no clients

	Irregular      uint64   // events that no correct client causes
	Irregularities []string // describes the first few of them
	// Misordered is the first of them if it is an entry without a request, or an exit without an entry.
	Misordered *history.Event

	lags        lags
	clocks      clocks
	capacity    func(instance uint16) int
	observers   []Observer
	circulation circulation
	broken      nodes.Assumption
	turns       []int64 // when assumptions began or ceased to hold
	spare       []*Section
	within      int  // how many clients are inside, over all resources
	any         busy // for several resources: time with any of them in use

	dead         map[nodes.ID]dead   // the nodes that are down, or about to be
	incarnations map[nodes.ID]uint32 // incarnation of each node that has restarted
}

// few is how many irregularities are kept.
const few = 20

// New returns a fold of a history. stampError bounds the error of comparing any two stamps. capacity returns
// how many units the resource of an instance has; nil: one unit each.
func New(stampError int64, capacity func(instance uint16) int) *Fold {
	if capacity == nil {
		capacity = func(uint16) int { return 1 }
	}
	return &Fold{Window: unseen, clocks: clocks{all: stampError}, capacity: capacity, dead: map[nodes.ID]dead{},
		incarnations: map[nodes.ID]uint32{}, Detection: newDetection()}
}

// InOrder tells the fold that stamps do not err, and that events of equal stamps happened in their order.
func (f *Fold) InOrder() { f.clocks.ordered = true }

// Observe adds an observer of all that follows, events included.
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
	case history.Requested, history.Entered, history.Exited, history.Revoked, history.Unissued,
		history.ToldLost, history.TryRefused, history.GaveUp:
		if e.Node < 0 {
			f.irregular(e, "is a client without a node")
			return
		}
		r := f.resource(e.Instance)
		if c := r.client(e.Node); f.Marks[history.Interrupted].Seen {
			f.counted(e, c)
		} else {
			f.follow(e, r, c)
		}
	case history.Killed, history.Crashed:
		f.crashed(e)
	case history.Restarted:
		f.restarted(e)
	case history.Suspected, history.Trusted:
		f.suspect(e)
	case history.Sent:
		if e.Count < nodes.MaxKinds && int(e.Instance) < max(1, f.Named) { // not a message of an elector
			f.circulation.send(e.Count)
		}
	case history.ClockBound:
		f.bounded(e)
	case history.Marked:
		f.mark(e)
	case history.AssumptionBroken:
		f.breaks(nodes.Assumption(e.Value), e)
	case history.FaultBegan, history.FaultHealed:
		f.fault(e)
		f.turn(e)
	case history.Paused, history.Resumed:
		f.pause(e)
		f.turn(e)
	case history.Lagged:
		f.lags.add(e)
	}
}

// counted counts an event of a client after the run was interrupted. Then processes end one after another,
// and a service frees the locks of clients that were inside, so such events violate nothing.
func (f *Fold) counted(e *history.Event, c *Client) {
	switch e.Kind {
	case history.Requested:
		c.Asked++
	case history.Entered:
		c.Entered++
		f.Entries++
	case history.Exited, history.Revoked:
		c.Left++
	}
}

// breaks takes an event that breaks some assumptions for good.
func (f *Fold) breaks(needs nodes.Assumption, e *history.Event) {
	if broken := f.broken | needs; broken != f.broken {
		f.broken = broken
		f.Broken = append(f.Broken, *e)
		f.Broken[len(f.Broken)-1].Value = int64(broken)
		f.turn(e)
	}
}

// turn notes the time of an event at which assumptions begin or cease to hold.
func (f *Fold) turn(e *history.Event) {
	if last := len(f.turns) - 1; last < 0 || f.turns[last] < e.At {
		f.turns = append(f.turns, e.At)
	}
}

// stretch returns how many turns there were up to a time.
func (f *Fold) stretch(at int64) int {
	after, _ := slices.BinarySearch(f.turns, at+1)
	return after
}

// follow takes an event of a client of a resource.
func (f *Fold) follow(e *history.Event, r *Resource, c *Client) {
	if e.Kind == history.ToldLost || e.Kind == history.TryRefused {
		f.hear(e, r, c)
		return
	}
	if len(f.dead) > 0 && e.Kind != history.Unissued {
		if d, dead := f.dead[e.Node]; dead {
			f.afterKill(e, d, r, c)
			return
		}
	}
	switch e.Kind {
	case history.Requested:
		f.ask(e, r, c)
	case history.Entered:
		f.enter(e, r, c)
	case history.Unissued:
		f.unissued(e, r, c)
	case history.GaveUp:
		if s := c.open; s == nil || s.State != waiting || s.Entry != e.Entry {
			f.irregular(e, "gives up without a request")
			return
		}
		f.end(c.open, e.At, GaveUp)
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
	for i := range f.Wrongs {
		f.Wrongs[i].To = min(f.Wrongs[i].To, f.End)
	}
	f.Detection.close(f.End, f.dead, logs)
	f.lags.close(f, logs)
	for _, r := range f.Resources {
		if r == nil {
			continue
		}
		for id := range r.Clients {
			f.cut(r.Clients[id].open, f.End, Unended, Unserved)
		}
		r.settle(f.Asked && len(f.Deaths) > 0)
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

// fresh returns a section to fill in, perhaps one that is reused.
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
	c.updated = false
	if c.open != nil {
		f.irregular(e, "asks before its last request is over")
		f.cut(c.open, e.At, Crashed, Abandoned)
	}
	s := f.fresh()
	*s = Section{Resource: r, Node: e.Node, Entry: e.Entry, Units: max(1, e.Count), State: waiting,
		Due: e.Value, Asked: e.At, Alone: r.line.count+len(r.inside) == 0, takenOut: r.takenOut}
	r.ask(s, f.clocks.all)
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
	f.throughFaults(e.At)
	if f.Window.Has(e.At) {
		f.EntriesInWindow++
		c.InWindow++
		f.circulation.enter()
	}
	if e.Count == 0 {
		f.Unregistered++
	}
	s := c.open
	over := e.Count > r.Capacity && s != nil
	r.count(e, s, f.stretch(e.At), over && f.spared(e.At, slices.Concat(r.inside, []*Section{s})...))
	if s == nil || s.State != waiting || s.Entry != e.Entry {
		f.misordered(e, "enters without a request")
	}
	switch {
	case s == nil:
		s = f.fresh()
		*s = Section{Resource: r, Node: e.Node, Units: 1, Due: e.At, Asked: e.At}
		c.open = s
	case s.State == inside:
		return
	default:
		r.line.leave(s, true)
	}
	s.State, s.Entry, s.Entered = inside, e.Entry, e.At
	s.Taken, s.Fence, s.Read = e.Count, e.Fence, e.Value
	s.clock = f.clocks.clock(s)
	r.read(s)
	r.fence(s, f.clocks.all, f.Asked)
	r.enter(s)
	f.within++
	for _, o := range f.observers {
		o.Entered(s)
	}
}

func (f *Fold) leave(e *history.Event, r *Resource, c *Client) {
	c.Left++
	r.step(e)
	state := Revoked
	if e.Kind == history.Exited {
		state = Exited
	}
	s := c.open
	if s == nil || s.State != inside || s.Entry != e.Entry {
		f.misordered(e, "leaves without an entry")
	}
	if done, _ := e.Worked(); state == Exited && int(done) != f.Work.Steps() {
		f.irregular(e, "leaves with its work undone")
	}
	if state == Exited && !e.Refused() {
		r.updated(c, false)
	}
	if s == nil || s.State != inside {
		return
	}
	s.Written, s.Refused = e.Value, e.Refused()
	switch {
	case state == Revoked:
		s.informLost(e.At)
	case s.Refused:
		f.refuse(r, s, e.At)
	case state == Exited:
		if e.Value != s.Read+1 {
			f.irregular(e, "does not add one to the account")
		}
		f.accept(r, s, e.At)
		r.write(s, e.At, f.clocks.all)
	}
	f.end(s, e.At, state)
}

// unissued counts an arrival that never became a request. It waited until issuing ended, or until its node
// crashed. Arrivals that fell due while the node was down do not count: it had no client.
func (f *Fold) unissued(e *history.Event, r *Resource, c *Client) {
	until := e.At
	if d, dead := f.dead[e.Node]; dead {
		if until = min(d.at, e.At); e.Value >= until {
			return
		}
	}
	c.Unissued++
	if f.Window.Has(e.Value) {
		f.Due++
		f.queued(c, e.Value, until, c.open == nil)
		c.next = until
	}
	s := Section{Resource: r, Node: e.Node, Units: e.Count, State: Unissued, Due: e.Value, Ended: until}
	for _, o := range f.observers {
		o.Ended(&s)
	}
}

// queued adds the time for which a due arrival was the next of its client, until it became a request or
// issuing stopped. If the client is free, the time since its last section ended is Late: the process is slow,
// not the service.
func (f *Fold) queued(c *Client, due, until int64, free bool) {
	f.Queued += max(0, until-max(due, c.next))
	if free {
		f.Late += max(0, until-max(due, c.next, c.left))
	}
}

// cut ends a section, if any, that its client did not end. Its state depends on whether it was inside.
func (f *Fold) cut(s *Section, at int64, ifInside, ifWaiting State) {
	switch {
	case s == nil:
	case s.State == inside:
		f.end(s, at, ifInside)
	default:
		f.end(s, at, ifWaiting)
	}
}

// end ends a section.
func (f *Fold) end(s *Section, at int64, state State) {
	r, entered := s.Resource, s.State == inside
	s.State, s.Ended = state, at
	r.Clients[s.Node].open, r.Clients[s.Node].left = nil, at
	if entered {
		if over := r.leave(s, &f.clocks, f.Window); over != nil {
			r.Overlaps.keep(f.stretch(over.From), over.since, over.From, f.spared(at, over.A, over.B), *over)
		}
		f.left(s)
		f.unguarded(r, s)
	} else {
		r.line.leave(s, false)
	}
	r.gaveBack(s, at, f.clocks.all)
	for _, o := range f.observers {
		o.Ended(s)
	}
	f.tellOverlaps(r)
	if !s.Violates { // a witness may refer to a section that violates
		f.spare = append(f.spare, s)
	}
}

// tellOverlaps passes the overlaps of a resource that are over to the observers.
func (f *Fold) tellOverlaps(r *Resource) {
	for _, w := range r.over {
		for _, o := range f.observers {
			if o, wants := o.(OverlapObserver); wants {
				o.Overlapped(r, w)
			}
		}
	}
	r.over = r.over[:0]
}

// misordered records an entry without a request, or an exit without an entry.
func (f *Fold) misordered(e *history.Event, does string) {
	if f.Irregular == 0 {
		f.Misordered = new(*e)
	}
	f.irregular(e, does)
}

// Open returns how many requests have been made and are not over.
func (f *Fold) Open() int {
	open := f.within
	for _, r := range f.Resources {
		if r != nil {
			open += r.line.count
		}
	}
	return open
}

// irregular records an event that no correct client causes.
func (f *Fold) irregular(e *history.Event, does string) {
	if f.Irregular++; len(f.Irregularities) < few {
		f.Irregularities = append(f.Irregularities, fmt.Sprintf("node %d %s (entry %d, at %.1f us)", e.Node,
			does, e.Entry, float64(e.At)/1e3))
	}
}

// A busy adds up the time of the window in which clients were inside, unless their write was refused.
type busy struct {
	Busy  int64    // in nanoseconds, up to the last time at which no client was inside
	stays []Window // stays of clients inside since then, in order
}

// left takes sections that are over, in the order of their ends. empty means that no client is inside now.
func (b *busy) left(s *Section, empty bool, w Window) {
	if !s.Refused {
		stay, last := Window{s.Entered, s.Ended}, len(b.stays)
		for ; last > 0 && b.stays[last-1].To >= stay.From; last-- {
			stay.From = min(stay.From, b.stays[last-1].From)
		}
		b.stays = append(b.stays[:last], stay)
	}
	if empty {
		for _, stay := range b.stays {
			b.Busy += w.Overlap(stay.From, stay.To)
		}
		b.stays = b.stays[:0]
	}
}

// Busy returns for how many nanoseconds of the window clients were inside any resource, unless their write
// was refused.
func (f *Fold) Busy() (ns int64) {
	if f.Named > 1 {
		return f.any.Busy
	}
	for _, r := range f.Resources {
		if r != nil {
			ns += r.Busy
		}
	}
	return ns
}

// left takes a section that is over, of any resource.
func (f *Fold) left(s *Section) {
	if f.within--; f.Named > 1 {
		f.any.left(s, f.within == 0, f.Window)
	}
}

// Heartbeat reports whether messages of a kind are heartbeats. These belong to no entry.
func (f *Fold) Heartbeat(kind int) bool {
	return f.Codec != nil && kind < f.Codec.Kinds() && f.Codec.Kind(kind).Heartbeat
}

// A circulation counts the messages from the first to the last entry in the window, if messages circulate.
type circulation struct {
	entries uint64
	sent    [nodes.MaxKinds]uint64 // messages from the first to the latest entry
	since   [nodes.MaxKinds]uint64 // messages since the latest entry
	kinds   []uint32               // kinds of messages with since > 0
}

func (l *circulation) send(kind uint32) {
	if l.since[kind]++; l.since[kind] == 1 {
		l.kinds = append(l.kinds, kind)
	}
}

func (l *circulation) enter() {
	l.entries++
	for _, kind := range l.kinds {
		if l.entries > 1 {
			l.sent[kind] += l.since[kind]
		}
		l.since[kind] = 0
	}
	l.kinds = l.kinds[:0]
}

// MessagesPerEntry returns the messages per entry, in all and by kind: all messages of a run that came to
// rest, divided by its entries; or, if messages circulate, the messages from the first to the last entry in
// the window, divided by the entries after the first. perEntry leaves out heartbeats. Entries that the
// resource refused count only if refused is set. ok is false if the run does not show the numbers.
func (f *Fold) MessagesPerEntry(all *history.InstanceTotals, circulates, refused bool) (
	perEntry float64, byKind []float64, ok bool) {
	var sent [nodes.MaxKinds]uint64
	var entries, left uint64 // left: refused entries that do not count
	switch {
	case circulates && (f.Marks[history.Stopped].Seen || f.Marks[history.Interrupted].Seen):
		sent, entries, left = f.circulation.sent, max(f.circulation.entries, 1)-1, f.RefusedInWindow
	case !circulates && f.Marks[history.Rested].Seen:
		entries, left = all.Entries, f.Refused
		for kind, k := range all.Kinds {
			sent[kind] = k.Sent
		}
	}
	if !refused {
		entries -= min(left, entries)
	}
	if entries == 0 {
		return 0, nil, false
	}
	total := uint64(0)
	for kind, n := range sent {
		if !f.Heartbeat(kind) {
			total += n
		}
		byKind = append(byKind, float64(n)/float64(entries))
	}
	return float64(total) / float64(entries), byKind, true
}

// hear takes what a client has heard of its lock. It ignores what is heard after the node was killed.
func (f *Fold) hear(e *history.Event, r *Resource, c *Client) {
	if _, dead := f.dead[e.Node]; dead {
		return
	}
	s := c.open
	mine := s != nil && s.Entry == e.Entry
	switch {
	case e.Kind == history.TryRefused && mine && s.State == waiting:
		r.refuseTry(e, f.clocks.all)
	case e.Kind == history.TryRefused:
		f.irregular(e, "is refused without a request")
	case mine && s.State == inside:
		s.informLost(e.At)
	default:
		f.irregular(e, "is told that it has lost what it does not hold")
	}
}

// informLost notes the first time that the client of a section was told that it has lost the lock.
func (s *Section) informLost(at int64) {
	if !s.Told {
		s.Told, s.ToldAt = true, at
	}
}

// refuseTry counts a refused try. It counts as free if, by the stamps, no client was inside at any moment of
// the try. The client's own last exit came before its try, however much stamps err.
func (r *Resource) refuseTry(e *history.Event, stampError int64) {
	r.Tries++
	others := r.lastLeft
	if r.lastBy == e.Node {
		others = r.others
	}
	if len(r.inside) == 0 && others < e.Value-stampError {
		r.FreeTries++
	}
}

// Late reports whether a section was in a certain overlap with a later entry, before which its client had not
// been told that it had lost the lock. Both hold under any error of the stamps.
func (s *Section) Late(stampError int64) bool {
	return s.Violates && s.Ended-stampError > s.Followed && (!s.Told || s.ToldAt-stampError > s.Followed)
}
