package check

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A model tells which assumptions of an algorithm were broken when, by faults, pauses, crashes and wrong
// suspicions. It knows the planned and the actual faults, and nothing about what the algorithm did.
type model struct {
	Setting
	sections *section.Fold
	clocks   []history.Event // events of kind ClockSet
}

// A span is the time of a failure, both ends included. A failure is outside the model if an assumption was
// broken in its span, or no more than span.after nanoseconds before it. If span.after is negative,
// consequences of healed faults, such as late messages, do not count. Of the faults that hit nodes alone, and
// of pauses of nodes, only those of the nodes in of count; nil: of all nodes.
type span struct {
	from, to, after int64
	of              []nodes.ID
}

// concerns reports whether what happened to a node alone counts in the span.
func (in span) concerns(id nodes.ID) bool { return in.of == nil || slices.Contains(in.of, id) }

// concernedBy reports whether a fault counts in the span: it hits more than nodes, or a node that counts.
func (in span) concernedBy(asked *Fault, victim nodes.ID) bool {
	return in.of == nil || !asked.Spares ||
		slices.ContainsFunc(in.of, func(id nodes.ID) bool { return asked.hits(id, victim) })
}

// at returns the span of a failure at one time.
func (m *model) at(time int64) span { return span{time, time, int64(m.Grace), nil} }

// covers reports whether something that lasted from one time to another counts in the span. Its consequences
// go on for the duration in the parameter leaves.
func (in span) covers(from, to int64, leaves time.Duration) bool {
	if from > in.to {
		return false
	}
	if in.after >= 0 {
		to = later(later(to, int64(leaves)), in.after)
	}
	return to >= in.from
}

// slack returns how much longer than promised something may take between two times, since processes were
// late: for as long as the run measured that, of these nodes or of all, and in each of so many steps for as
// long as a message or a timer usually takes.
func (m *model) slack(from, to int64, steps int, of ...nodes.ID) time.Duration {
	if !m.Measured {
		return m.Slack
	}
	return m.sections.LateIn(from, to, of...) + time.Duration(steps)*m.sections.Usual() + m.Slack
}

// covered reports whether the timeouts of the algorithm allow for a process that was so late. If the timeouts
// are not known, they are taken to be a small part of the time to recover, which lasts for several of them.
func (m *model) covered(late time.Duration) bool {
	if m.Covers != nil {
		return m.Covers(late)
	}
	return late < max(m.Grace/rounds, history.LateFrom)
}

// later returns time+by, or the latest time if that overflows.
func later(time, by int64) int64 {
	if time > math.MaxInt64-by {
		return math.MaxInt64
	}
	return time + by
}

// brokenIn returns the needs that were broken in a span.
func (m *model) brokenIn(in span, needs nodes.Assumption) (broken nodes.Assumption) {
	broken = m.NeverHolds
	if d := m.sections.Deaths; m.Unheard && len(d) > 0 && d[0].From <= in.to { // no detector reports the crash
		broken |= nodes.PerfectDetector | nodes.EventualDetector
	}
	for i := range m.sections.Broken {
		if b := &m.sections.Broken[i]; b.At <= in.to {
			broken |= nodes.Assumption(b.Value)
		}
	}
	if d := m.forgot(in); d != nil && !in.concerns(d.Node) && int(d.Node) < m.Config.N {
		broken &^= nodes.NoAmnesia
	}
	for i := range m.sections.Faults {
		broken |= m.brokenByFault(in, &m.sections.Faults[i])
	}
	for i := range m.sections.Pauses {
		if p := &m.sections.Pauses[i]; in.covers(p.From, p.To, 0) &&
			(int64(p.Process) >= int64(m.Config.N) || in.concerns(nodes.ID(p.Process))) {
			broken |= nodes.NoPause | nodes.Timing
		}
	}
	for _, w := range m.sections.Wrongs {
		if in.covers(w.From, w.To, 0) {
			broken |= nodes.PerfectDetector | nodes.EventualDetector
		}
	}
	for _, w := range m.sections.Minorities(m.Config.N) {
		if in.covers(w.From, w.To, 0) {
			broken |= nodes.Majority
		}
	}
	for i := range m.sections.Deaths {
		d := &m.sections.Deaths[i]
		if int(d.Node) >= m.Config.N && in.covers(d.From, d.Back, 0) {
			broken |= nodes.ServersUp
		}
	}
	return broken & needs
}

// brokenBy returns the needs that were broken at a time, or within the grace before.
func (m *model) brokenBy(at int64, needs nodes.Assumption) nodes.Assumption {
	return m.brokenIn(m.at(at), needs)
}

// brokenByFault returns the assumptions that a fault broke in a span; 0 if the fault is known to have hit
// nothing.
func (m *model) brokenByFault(in span, f *section.Fault) (broken nodes.Assumption) {
	asked := m.asked(f)
	from, to, leaves := m.acts(asked, f)
	if from > in.to || asked.OfLinks && f.Healed && f.Hits == 0 || m.timeless(asked, f) != "" ||
		!in.concernedBy(asked, f.Victim) {
		return 0
	}
	broken = f.Breaks &^ nodes.Transient
	if in.covers(from, to, leaves) {
		broken = f.Breaks
	}
	if f.Nodes == 0 && len(f.Servers) == 0 && !asked.OfLinks {
		broken &^= nodes.NoCrash | nodes.NoAmnesia | nodes.ServersUp | nodes.ServerMajority
	}
	return broken
}

// acts returns from when to when a fault acts, and for how long it may have consequences after that. A fault
// of messages acts from its first hit on; the history has that to the microsecond. A fault of one message
// acts until that arrives or is lost; a permanent fault acts only when it begins, unless servers stay down;
// all others act until they are healed.
func (m *model) acts(asked *Fault, f *section.Fault) (from, to int64, leaves time.Duration) {
	from = max(f.From, f.HitAt-int64(time.Microsecond)-m.sections.StampError())
	to, leaves = f.To, asked.Leaves
	switch {
	case asked.ForGood && !f.Healed && f.Breaks&nodes.ServersUp == 0:
		to = from
	case asked.ForGood && f.Healed && f.Until > 0:
		to, leaves = f.Until, 0
	case f.Until > 0: // all that it delayed has arrived by then
		leaves = time.Duration(max(0, f.Until-to))
	}
	return from, to, leaves
}

// asked returns the plan of a fault that took place.
func (m *model) asked(f *section.Fault) *Fault { return askedOf(m.Faults, f) }

func askedOf(all []Fault, f *section.Fault) *Fault {
	if f.Number < 1 || int(f.Number) > len(all) {
		return &Fault{Text: fmt.Sprintf("fault %d", f.Number)}
	}
	return &all[f.Number-1]
}

// outsideIf marks a finding as outside the model if one of the needs was broken in a span.
func (m *model) outsideIf(f Finding, in span, needs nodes.Assumption) Finding {
	return m.outsideModel(f, "outside its model", in, needs)
}

// expect marks a stall as outside the model, and so expected, if one of the needs was broken in a span.
func (m *model) expect(f Finding, in span, needs nodes.Assumption) Finding {
	words := "blocked"
	switch {
	case m.Replayed:
		words = "outside its model"
	case m.livelocked():
		words = "a livelock"
	}
	f = m.outsideModel(f, words, in, needs)
	f.Expected = f.OutsideModel
	return f
}

// outsideModel marks a finding as outside the model, in these words, if one of the needs was broken in a
// span.
func (m *model) outsideModel(f Finding, words string, in span, needs nodes.Assumption) Finding {
	if broken := m.brokenIn(in, needs); broken != 0 {
		f.Says += fmt.Sprintf(" (%s: %s%s)", words, broken.Broken(m.known(in, broken)), m.cause(in, broken))
		f.OutsideModel, f.Broken = true, broken
	}
	return f
}

// known reports whether a need was certainly broken in a span: for good, or by a fault that hit a message.
func (m *model) known(in span, broken nodes.Assumption) bool {
	for i := range m.sections.Broken {
		if b := &m.sections.Broken[i]; b.At <= in.to && nodes.Assumption(b.Value)&broken != 0 {
			return true
		}
	}
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if m.brokenByFault(in, f)&broken != 0 && f.Hits > 0 && m.asked(f).OfLinks { // others hit no messages
			return true
		}
	}
	return false
}

// cause describes the first fault that broke one of the needs in a span, and its victim; without a fault,
// the first wrong suspicion.
func (m *model) cause(in span, broken nodes.Assumption) string {
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if (m.brokenByFault(in, f)|m.brokenByDeathsOf(in, i))&broken == 0 ||
			int(f.Number) > len(m.Faults) || f.Number == 0 {
			continue
		}
		says := "; " + m.Faults[f.Number-1].Text
		if f.Victim >= 0 {
			says += ", which hit " + name(f.Victim)
		}
		return says
	}
	for _, w := range m.sections.Wrongs {
		if broken&(nodes.PerfectDetector|nodes.EventualDetector) != 0 && in.covers(w.From, w.To, 0) {
			at := time.Duration(w.From - m.sections.Marks[history.Began].At).Round(time.Microsecond)
			return fmt.Sprintf("; at %v, %s suspected %s, which was up", at, name(w.By), name(w.Of))
		}
	}
	if broken&m.NeverHolds != 0 {
		return "; its timeouts are too short for the delays of the run"
	}
	return ""
}

// brokenByDeathsOf returns the assumptions that the deaths of a fault broke in a span, except NoCrash: that
// restarted nodes remember, that servers and a majority are up, and that a detector reports crashes.
func (m *model) brokenByDeathsOf(in span, fault int) (broken nodes.Assumption) {
	forgot := m.forgot(in)
	for i := range m.sections.Deaths {
		d := &m.sections.Deaths[i]
		if m.killer(d) != fault {
			continue
		}
		if d == forgot {
			broken |= nodes.NoAmnesia
		}
		if int(d.Node) >= m.Config.N && in.covers(d.From, d.Back, 0) {
			broken |= nodes.ServersUp
		}
		if m.Unheard && i == 0 && d.From <= in.to {
			broken |= nodes.PerfectDetector | nodes.EventualDetector
		}
		for _, w := range m.sections.Minorities(m.Config.N) {
			if w.From == d.From && in.covers(w.From, w.To, 0) {
				broken |= nodes.Majority
			}
		}
	}
	return broken
}

// killer returns the index of the latest fault that killed the node of a death, or -1.
func (m *model) killer(d *section.Death) int {
	last := -1
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if f.Breaks&nodes.NoCrash != 0 && f.From <= d.At && m.asked(f).hits(d.Node, f.Victim) {
			last = i
		}
	}
	return last
}

// forgot returns the first death, up to the end of a span, after which a node restarted without its state, or
// nil. The history records the amnesia when the node restarts, or right after. For servers that the run does
// not own, one event may record both amnesia and that they are down.
func (m *model) forgot(in span) (d *section.Death) {
	const forgets = int64(nodes.NoAmnesia)
	before := int64(0)
	for i := range m.sections.Broken {
		b := &m.sections.Broken[i]
		if b.At > in.to {
			return nil
		}
		if b.Value&^before == forgets {
			for j := range m.sections.Deaths {
				if one := &m.sections.Deaths[j]; one.Back <= b.At && (d == nil || one.Back >= d.Back) {
					d = one
				}
			}
			return d
		}
		before = b.Value
	}
	return nil
}

// beside returns the span of an overlap: from the entry of the client inside first to a time of the overlap.
// If the clients were spared, what happened to others does not count.
func (m *model) beside(entered, time int64, spared bool) span {
	in := span{entered, time, int64(m.Grace), nil}
	if spared {
		in.of = []nodes.ID{}
	}
	return in
}

// outside reports whether an overlap is outside the model of safety, given what beside takes.
func (m *model) outside(entered, at int64, spared bool) bool {
	return m.brokenIn(m.beside(entered, at, spared), m.Safe) != 0
}

// stalledIn returns the span of a stall. If nothing was left to happen, more time would not have helped and
// no message was late: then only faults that are still in force count.
func (m *model) stalledIn() span {
	mark := m.sections.Marks[history.Stalled]
	if mark.Value == 0 {
		return span{mark.At, mark.At, -1, nil}
	}
	return m.at(mark.At)
}

// An away knows which nodes cannot enter at present: they stand still, have lost their connection, or are cut
// off. While a broker or a proxy stands still, no node can enter.
type away struct {
	asked   []Fault
	still   map[uint32]bool   // nodes that stand still
	carrier map[uint32]bool   // brokers and proxies that stand still, as in history.Paused
	offline map[nodes.ID]bool // nodes without a connection
	cut     map[uint32]cutter // which nodes each fault cuts off, by its number
}

// A cutter reports whether a fault that is in force cuts a node off.
type cutter func(id nodes.ID) bool

func awayBy(asked []Fault) away {
	return away{asked, map[uint32]bool{}, map[uint32]bool{}, map[nodes.ID]bool{}, map[uint32]cutter{}}
}

// add takes an event. The result changed means that the event may have taken a node away, or brought it back.
// The result one is that node; if it equals None, it may be any node.
func (a *away) add(e *history.Event) (one nodes.ID, changed bool) {
	switch e.Kind {
	case history.Paused:
		if int32(e.Count) < 0 {
			if e.Count != history.Orchestrator {
				a.carrier[e.Count] = true
			}
			return nodes.None, false
		}
		a.still[e.Count] = true
		return nodes.ID(e.Count), true
	case history.Resumed:
		delete(a.still, e.Count)
		delete(a.carrier, e.Count)
		return nodes.ID(e.Count), int32(e.Count) >= 0
	case history.Disconnected:
		a.offline[e.Node] = true
		return e.Node, true
	case history.Reconnected, history.Crashed: // its next process makes a new connection
		delete(a.offline, e.Node)
		if e.Kind == history.Crashed {
			delete(a.still, uint32(e.Node))
		}
		return e.Node, true
	case history.FaultBegan:
		if n := int(e.Count) - 1; n >= 0 && n < len(a.asked) && a.asked[n].Cuts {
			asked, victim := &a.asked[n], nodes.ID(e.Entry)-1
			a.cut[e.Count] = func(id nodes.ID) bool { return asked.hits(id, victim) }
			return nodes.None, true
		}
	case history.FaultHealed:
		_, cut := a.cut[e.Count]
		delete(a.cut, e.Count)
		return nodes.None, cut
	}
	return nodes.None, false
}

// all reports whether all nodes are away, since a broker or proxy stands still.
func (a *away) all() bool { return len(a.carrier) > 0 }

// has reports whether a node itself is away. It ignores brokers and proxies that stand still: see all.
func (a *away) has(id nodes.ID) bool {
	if a.still[uint32(id)] || a.offline[id] {
		return true
	}
	for _, cuts := range a.cut {
		if cuts(id) {
			return true
		}
	}
	return false
}

// minorityOf returns the stretches between two times in which a node reached no majority.
func (m *model) minorityOf(id nodes.ID, since, until int64) (all []span) {
	turns := []int64{since, until}
	for at := range m.turns() {
		if at > since && at < until {
			turns = append(turns, at)
		}
	}
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := turns[i], turns[i+1]
		if from == to || 2*m.reached(id, from) > m.Config.N {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].to == from {
			all[last].to = to
			continue
		}
		all = append(all, span{from: from, to: to})
	}
	return all
}

// turns yields the times at which reachability between nodes changed, unsorted.
func (m *model) turns() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range m.sections.Faults {
			f := &m.sections.Faults[i]
			if m.asked(f).Separates != nil && !(yield(f.From) && yield(f.To)) {
				return
			}
		}
		for i := range m.sections.Deaths {
			if d := &m.sections.Deaths[i]; !(yield(d.From) && yield(d.Back)) {
				return
			}
		}
	}
}

// reached returns how many clients a node could exchange messages with at a time, itself included.
func (m *model) reached(from nodes.ID, at int64) (n int) {
	for id := range nodes.ID(m.Config.N) {
		if id == from || m.wasUp(id, at) && !m.separated(from, id, at) {
			n++
		}
	}
	return n
}

func (m *model) wasUp(id nodes.ID, at int64) bool {
	for i := range m.sections.Deaths {
		if d := &m.sections.Deaths[i]; d.Node == id && d.From <= at && at < d.Back {
			return false
		}
	}
	return true
}

func (m *model) separated(a, b nodes.ID, at int64) bool {
	for i := range m.sections.Faults {
		f := &m.sections.Faults[i]
		if cut := m.asked(f).Separates; cut != nil && f.From <= at && at < f.To && cut(a, b, f.Victim) {
			return true
		}
	}
	return false
}

// timeless returns why a fault of clocks hit nothing, or "" if it hit something or that is unknown. A foreign
// program has clocks of its own: the fault hits only timers that the testbed runs for the program, and the
// clock of its node if the program reads it. If there was no such timer, the fault hit nothing.
func (m *model) timeless(asked *Fault, f *section.Fault) string {
	if !asked.Sets {
		return ""
	}
	var ids []nodes.ID
	never := true // the nodes in ids have set no timer
	for id := range nodes.ID(m.Config.N) {
		if !asked.hits(id, f.Victim) {
			continue
		}
		began, over := m.clockSet(id, f.From), m.clockSet(id, f.To)
		switch {
		case began == nil:
			continue
		case began.Count > 0, !asked.ForGood && (over == nil || over.Value > began.Value):
			return ""
		}
		ids, never = append(ids, id), never && began.Value == 0
	}
	switch {
	case uint64(len(ids)) < uint64(f.Nodes) || len(ids) == 0:
		return ""
	case never:
		return fmt.Sprintf("%s set no timer, and read no clock", nodesDo(ids, "has", "have"))
	}
	return fmt.Sprintf("no timer that %s set ran", nodesDo(ids, "has", "have"))
}

// clockSet returns the first event from a time on that sets the clock of a node, or nil.
func (m *model) clockSet(id nodes.ID, from int64) *history.Event {
	for i := range m.clocks {
		if e := &m.clocks[i]; e.Node == id && e.At >= from && from < math.MaxInt64 {
			return e
		}
	}
	return nil
}

// sides tell which clients could reach each other, as far as the history has been read.
type sides struct {
	*model
	known []*parting // cached, until the history changes it
}

// A parting is the reachability between clients from one change of it until the next.
type parting struct {
	from, until int64
	n           int // number of clients
	up          int // number of clients that are up
	down        map[nodes.ID]bool
	cuts        []func(a, b nodes.ID) bool // each reports whether one cut separates two nodes
	of          []int32                    // the part of each client; nil: no cuts
	parts       []part
}

// A part is a set of clients that reach each other and the same others, or a single client.
type part struct {
	any  nodes.ID // any client of the part
	up   int      // how many clients of the part are up
	size int      // clients up that it reaches, counted up to a majority: see parting.side; 0: not known yet
}

// changed clears the cache.
func (s *sides) changed() { s.known = nil }

// when returns the reachability at a time.
func (s *sides) when(at int64) *parting {
	for _, p := range s.known {
		if p.from <= at && at < p.until {
			return p
		}
	}
	p := s.parting(at)
	s.known = append(s.known, p)
	return p
}

func (s *sides) parting(at int64) *parting {
	n := s.Config.N
	p := &parting{from: math.MinInt64, until: math.MaxInt64, n: n, up: n, down: map[nodes.ID]bool{}}
	for turn := range s.turns() {
		if turn <= at {
			p.from = max(p.from, turn)
		} else {
			p.until = min(p.until, turn)
		}
	}
	for i := range s.sections.Deaths {
		if d := &s.sections.Deaths[i]; d.From <= at && at < d.Back && d.Node >= 0 && int(d.Node) < n &&
			!p.down[d.Node] {
			p.down[d.Node] = true
			p.up--
		}
	}
	for i := range s.sections.Faults {
		f := &s.sections.Faults[i]
		if asked := s.asked(f); f.From <= at && at < f.To && asked.Separates != nil {
			p.cut(asked, f.Victim)
		}
	}
	for id, of := range p.of {
		if int(of) == len(p.parts) {
			p.parts = append(p.parts, part{any: nodes.ID(id)})
		}
		if !p.down[nodes.ID(id)] {
			p.parts[of].up++
		}
	}
	return p
}

// cut adds a cut, and splits the parts along it. Parts are numbered in the order of their first clients.
func (p *parting) cut(asked *Fault, victim nodes.ID) {
	p.cuts = append(p.cuts, func(a, b nodes.ID) bool { return asked.Separates(a, b, victim) })
	if p.of == nil {
		p.of = make([]int32, p.n)
	}
	finer, last, its := map[[2]int]int32{}, [2]int{-1, -1}, int32(0)
	for id := range p.of {
		parts := [2]int{int(p.of[id]), id}
		if asked.Part != nil {
			parts[1] = asked.Part(nodes.ID(id), victim)
		}
		if parts != last {
			known := false
			if its, known = finer[parts]; !known {
				its = int32(len(finer))
				finer[parts] = its
			}
			last = parts
		}
		p.of[id] = its
	}
}

func (p *parting) separated(a, b nodes.ID) bool {
	return slices.ContainsFunc(p.cuts, func(cut func(a, b nodes.ID) bool) bool { return cut(a, b) })
}

// side returns how many clients a node can reach directly or through others, itself included: the coordinator
// or token that it needs may be at any of them. It stops counting at a majority.
func (p *parting) side(from nodes.ID) int {
	alone := 0 // 1 if the node is down, since parts count only nodes that are up
	if p.down[from] {
		alone = 1
	}
	if p.of == nil { // no cut: all nodes that are up reach each other
		return p.up + alone
	}
	its := &p.parts[p.of[from]]
	if its.size > 0 {
		return its.size + alone
	}
	reached, rest, size := []*part{its}, p.others(its), its.up
	for i := 0; i < len(reached) && 2*size <= p.n; i++ {
		beyond := rest[:0]
		for _, other := range rest {
			if p.separated(reached[i].any, other.any) {
				beyond = append(beyond, other)
				continue
			}
			reached = append(reached, other)
			size += other.up
		}
		rest = beyond
	}
	size = min(size, p.n/2+1)
	if its.up > 0 { // otherwise the parts that it reaches may not reach each other
		for _, one := range reached {
			one.size = size
		}
	}
	return size + alone
}

// others returns the other parts in which a client is up.
func (p *parting) others(than *part) (all []*part) {
	for i := range p.parts {
		if one := &p.parts[i]; one != than && one.up > 0 {
			all = append(all, one)
		}
	}
	return all
}

// minoritySince returns since when a node that is in a minority at a time has been in one.
func (s *sides) minoritySince(id nodes.ID, at, began int64) int64 {
	for {
		p := s.when(at)
		if p.from <= began {
			return began
		}
		if at = p.from - 1; 2*s.when(at).side(id) > p.n {
			return p.from
		}
	}
}
