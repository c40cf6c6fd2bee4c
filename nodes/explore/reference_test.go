package explore

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// A plain search goes through the states that Explore goes through. It is what Explore is compared with,
// and is there to be obviously right: it shares, remembers and fingerprints nothing.
type plain struct {
	o      *Space
	stack  *algorithm.Stack
	script []int // what Choose answers
	at     int   // how many of these answers were given

	// Messages that are not the first of their link can be lost and copied, too. That makes for more
	// states, and for no other violation.
	anywhere bool

	copies  int  // how many equal messages a link may hold; zero: any number
	crowded bool // messages were lost because of copies

	after  int  // the node crashes after so many saves and messages of an input; zero: no crash
	halted bool // the node has crashed at this place

	badFence bool // a client has just entered under a wrong fence number
	back     bool // a node has just gone back to a lower term
}

// A plain state is a whole cluster of its own. Times are in ticks from the beginning.
type plainState struct {
	nodes                 []plainNode
	flying                []plainFlight // in the order sent, but copies behind their originals
	now                   int
	lost, copied, crashes int
	wrong                 int    // suspicions
	behind                bool   // a message was lost because of copies, and the algorithm needs NoLoss
	fence                 uint64 // the highest under which anybody has entered
	forgot                bool
	passed                []plainPassed // by client
	together              int           // ticks for which several nodes have led, if these count
}

// A plainPassed tells how often a request was passed over.
type plainPassed struct {
	known   bool // at some time since the request, no message was on its way
	times   int
	between bool // others have entered since the last state without messages
}

type plainNode struct {
	up          *nodes.Node // nil while it is down
	incarnation uint32
	asked       int
	saved       nodes.Message
	timers      []plainTimer // by kind and peer
	suspects    [mostExplored]bool
	lead        plainLead
}

type plainTimer struct {
	nodes.Timer
	gen             uint32
	earliest, limit int
}

type plainFlight struct {
	from, to        nodes.ID
	kind            uint8
	message         nodes.Message
	earliest, limit int
}

func (s *plainState) clone() *plainState {
	c := *s
	c.nodes, c.flying, c.passed = slices.Clone(s.nodes), slices.Clone(s.flying), slices.Clone(s.passed)
	for i := range c.nodes {
		if c.nodes[i].up != nil {
			c.nodes[i].up = c.nodes[i].up.Clone()
		}
		c.nodes[i].timers = slices.Clone(c.nodes[i].timers)
		c.nodes[i].lead.led = slices.Clone(c.nodes[i].lead.led)
	}
	return &c
}

func (s *plainState) clients(o *Space, in nodes.ClientState) (all []int) {
	for id, n := range s.nodes[:o.Config.N] {
		if n.up != nil && n.up.Client(0) == in {
			all = append(all, id)
		}
	}
	return all
}

// A fork is what Choose panics with when the script has ended. All is played again then, with each answer.
type fork int

func (p *plain) choose(_ nodes.ID, _ int32, n int) int {
	if p.at == len(p.script) {
		panic(fork(n))
	}
	p.at++
	return p.script[p.at-1]
}

func caught(do func()) (text any) {
	defer func() { text = recover() }()
	do()
	return nil
}

// A plain move is what may follow a state.
type plainMove struct {
	to      *plainState      // nil if the move breaks a promise
	check   string           // the check that the move fails
	broken  nodes.Assumption // assumptions that hold no more, after the move
	step    bool             // the move makes progress
	entered bool
}

// ways returns what may follow if something happens: one move for each way in which machines may choose.
func (p *plain) ways(from *plainState, step bool, happen func(*plainState), script ...int) (all []plainMove) {
	to := from.clone()
	p.script, p.at, p.badFence, p.back, p.halted = script, 0, false, false, false
	m := plainMove{to: to, step: step}
	failure := caught(func() { happen(to) })
	if p.after > 0 && failure == nil && !p.halted {
		return nil // the input has no such place for a crash
	}
	switch failure := failure.(type) {
	case fork:
		for answer := range int(failure) {
			all = append(all, p.ways(from, step, happen, append(slices.Clone(script), answer)...)...)
		}
		return all
	case nil:
		before, after := from.clients(p.o, nodes.Inside), to.clients(p.o, nodes.Inside)
		m.entered = len(after) > len(before)
		switch {
		case p.after == 0 && p.wrongEntry(len(before), len(after)) && p.o.looksFor(replay.CheckExclusion):
			m.check = replay.CheckExclusion
		case p.o.looksFor(replay.CheckFairness) && p.passOver(to, m.entered):
			m.check = replay.CheckFairness
		case p.stack.Elects():
			m.entered, m.check = p.led(from, to), p.quarrel(to)
		}
	default:
		if p.after > 0 {
			return nil // it panics without a crash as well
		}
		m.check = replay.CheckPanic
	}
	m.broken = p.broken(to)
	if m.check != "" {
		m.to, m.entered = nil, false
	}
	return []plainMove{m}
}

// passOver counts passed-over requests, and reports whether one was passed over more often than promised.
func (p *plain) passOver(s *plainState, entered bool) (unfair bool) {
	waiting := s.clients(p.o, nodes.Waiting)
	for id := range s.passed {
		at := &s.passed[id]
		if !slices.Contains(waiting, id) {
			*at = plainPassed{}
			continue
		}
		at.between = at.known && (at.between || entered)
		if len(s.flying) > 0 {
			continue
		}
		if at.between {
			at.times++
		}
		at.known, at.between = true, false
		unfair = unfair || at.times > p.o.Spec.Exclusion().Bypass(p.o.Config)
	}
	return unfair
}

func (p *plain) broken(s *plainState) (all nodes.Assumption) {
	for need, is := range map[nodes.Assumption]bool{nodes.FIFO: p.o.Reordering,
		nodes.Timing | nodes.NoPause: p.o.Timing == nil,
		nodes.NoLoss:                 s.lost > 0 || s.behind,
		nodes.NoDuplication:          s.copied > 0,
		nodes.NoCrash:                s.crashes > 0,
		nodes.NoAmnesia:              s.forgot,
		nodes.PerfectDetector:        s.wrong > 0,
		nodes.Majority:               p.minority(s),
		nodes.ServersUp:              p.serverDown(s),
	} {
		if is {
			all |= need
		}
	}
	return all
}

// feed hands a node an input and does what it asks for.
func (p *plain) feed(s *plainState, id nodes.ID, in nodes.Input) {
	n := &s.nodes[id]
	effects := n.up.Handle(in)
	n.timers = slices.DeleteFunc(n.timers, func(t plainTimer) bool { return !n.runs(t.Timer, t.gen) })
	done := 0
	for i, e := range effects {
		if p.after > 0 && done == p.after && slices.ContainsFunc(effects[i:], outlives) {
			p.crash(s, id)
			p.halted = true
			return
		}
		if outlives(e) {
			done++
		}
		switch e.Op {
		case nodes.OpSend:
			p.send(s, id, e.To, e)
		case nodes.OpBroadcast:
			for to := range nodes.ID(p.o.Config.N) {
				if to != id {
					p.send(s, id, to, e)
				}
			}
		case nodes.OpGrant:
			p.badFence = p.badFence || e.Number == 0 || e.Number == s.fence
			s.fence = max(s.fence, e.Number)
		case nodes.OpElect:
			p.elect(n, id, e)
		case nodes.OpSave:
			n.saved = e.Message
		case nodes.OpSetTimer:
			if !n.runs(e.Timer, e.Gen) {
				continue // it was stopped, or set again
			}
			t := plainTimer{Timer: e.Timer, gen: e.Gen}
			if tick := p.o.Timing; tick != nil {
				t.earliest = s.now + int(e.Min/tick.Tick)
				t.limit = s.now + int((e.Max+tick.Tick-1)/tick.Tick)
			}
			n.timers = append(n.timers, t)
			slices.SortFunc(n.timers, func(a, b plainTimer) int {
				return 1000*(int(a.Kind)-int(b.Kind)) + int(a.Peer-b.Peer)
			})
		}
	}
}

// runs reports whether the node still runs a timer.
func (n *plainNode) runs(t nodes.Timer, gen uint32) bool {
	for timer, running := range n.up.Timers(0) {
		if timer == t && running == gen {
			return true
		}
	}
	return false
}

func (n *plainNode) stop(t nodes.Timer) {
	n.timers = slices.DeleteFunc(n.timers, func(u plainTimer) bool { return u.Timer == t })
}

func (p *plain) send(s *plainState, from, to nodes.ID, e nodes.Effect) {
	if s.nodes[to].up == nil && s.crashes > 0 {
		return // it is down
	}
	f := plainFlight{from: from, to: to, kind: e.Kind, message: e.Message}
	if p.crowds(s, &f) {
		p.crowded = true
		s.behind = (p.o.Spec.SafeIn(p.o.Config)|p.o.Spec.Live)&nodes.NoLoss != 0
		return
	}
	if tick := p.o.Timing; tick != nil {
		least, most := tick.Latency.Least, tick.Latency.Most
		f.earliest, f.limit = s.now+int(least/tick.Tick), s.now+int(most/tick.Tick)
	}
	s.flying = append(s.flying, f)
}

// start starts a node: for the first time, or again.
func (p *plain) start(s *plainState, id nodes.ID, what nodes.InputKind) {
	n := &s.nodes[id]
	n.up = nodes.NewNode(p.stack.Stack, id, n.incarnation, p.choose)
	in := nodes.Input{Kind: what}
	if n.saved != nil {
		in.Message = nodes.Saved{n.saved}
	}
	p.feed(s, id, in)
}

// next returns all moves out of a state.
func (p *plain) next(s *plainState) (all []plainMove) {
	may := func(step bool, happen func(to *plainState)) {
		p.after = 0
		all = append(all, p.ways(s, step, happen)...)
		for !p.o.WholeInputs && s.crashes < p.o.Crashes && p.after < 20 {
			p.after++
			all = append(all, p.ways(s, false, happen)...)
		}
		p.after = 0
	}
	for i, f := range s.flying {
		hidden := p.hidden(s, i)
		if hidden && !p.anywhere {
			continue
		}
		if f.earliest <= s.now && !hidden {
			may(true, func(to *plainState) {
				to.flying = slices.Delete(to.flying, i, i+1)
				p.feed(to, f.to, nodes.Input{Kind: nodes.Receive, From: f.from, Message: f.message})
			})
		}
		if s.lost < p.o.Losses {
			may(false, func(to *plainState) { to.flying, to.lost = slices.Delete(to.flying, i, i+1), s.lost+1 })
		}
		if s.copied < p.o.Duplicates {
			may(false, func(to *plainState) { to.flying, to.copied = slices.Insert(to.flying, i, f), s.copied+1 })
		}
	}
	for id, n := range s.nodes {
		if n.up == nil {
			p.down(s, nodes.ID(id), may)
		} else {
			p.up(s, nodes.ID(id), may)
		}
	}
	if p.ticks(s) {
		may(true, func(to *plainState) {
			if to.now++; p.stack.Elects() {
				to.together++
			}
		})
	}
	return all
}

// hidden reports whether a message has to wait for another, or is like one before it.
func (p *plain) hidden(s *plainState, i int) bool {
	f := s.flying[i]
	return slices.ContainsFunc(s.flying[:i], func(g plainFlight) bool {
		return f.from == g.from && f.to == g.to && (!p.o.Reordering || f.write(s) == g.write(s))
	})
}

// up tries what can happen to a node that is up, and down to one that is down.
func (p *plain) up(s *plainState, id nodes.ID, may func(bool, func(*plainState))) {
	feed := func(in nodes.Input) func(*plainState) {
		return func(to *plainState) { p.feed(to, id, in) }
	}
	n := s.nodes[id]
	for _, t := range n.timers {
		if t.earliest <= s.now {
			may(true, func(to *plainState) {
				to.nodes[id].stop(t.Timer)
				p.feed(to, id, nodes.Input{Kind: nodes.Timeout, Timer: t.Timer, Gen: t.gen})
			})
		}
	}
	p.campaigns(s, id, may)
	client := int(id) < p.o.Config.N && !p.stack.Elects()
	if client && n.up.Client(0) == nodes.Idle && n.asked < p.o.Entries {
		may(false, func(to *plainState) {
			to.nodes[id].asked++
			p.feed(to, id, nodes.Input{Kind: nodes.Request})
		})
	}
	if client && n.up.Client(0) == nodes.Inside {
		may(true, feed(nodes.Input{Kind: nodes.Release}))
	}
	p.suspicions(s, id, may)
	if s.crashes < p.o.Crashes {
		may(false, func(to *plainState) { p.crash(to, id) })
	}
}

func (p *plain) down(s *plainState, id nodes.ID, may func(bool, func(*plainState))) {
	_, recovers := p.o.Spec.Machine(p.o.Config, id).(nodes.Recoverer)
	restart := func(amnesia bool) func(to *plainState) {
		return func(to *plainState) {
			to.nodes[id].incarnation++
			if forgets := amnesia || !recovers; forgets {
				to.forgot, to.nodes[id].saved = true, nil
			}
			p.start(to, id, nodes.Recover)
		}
	}
	if p.o.Restarts || p.o.Amnesia {
		may(false, restart(false))
	}
	if p.o.Amnesia && s.nodes[id].saved != nil && recovers { // else it comes to the same
		may(false, restart(true))
	}
}
