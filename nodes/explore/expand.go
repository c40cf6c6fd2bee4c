package explore

import (
	"fmt"
	"slices"
	"sync/atomic"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/leading"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
)

// A move is a transition between states.
type move struct {
	what    replay.StepKind
	node    uint8
	outcome uint16
	which   uint32 // its subject: the word of a message, the index of a timer in the part, a peer or a stimulus
}

// stimulus returns the stimulus of a move for its node.
func (w *worker) stimulus(m move) stimulus {
	switch m.what {
	case replay.StepRequest, replay.StepRelease:
		return stimulus(m.which)
	case replay.StepCrash:
		return onCrash
	case replay.StepRestart:
		return onRestart
	case replay.StepAmnesia:
		return onAmnesia
	case replay.StepSuspect:
		return onSuspect + stimulus(m.which)
	case replay.StepTrust:
		return onTrust + stimulus(m.which)
	case replay.StepCampaign:
		return onCampaign
	case replay.StepTimeout:
		return onTimeout + stimulus(m.which)
	}
	return onReceive + stimulus(w.flights[m.which&flightMask].fresh)
}

// A candidate is a state that a move leads to. It may have been seen before.
type candidate struct {
	digest   digest
	known    uint32 // its number, or unknown if it was new to the worker
	move     move
	from, to uint32 // where it is in the data of the batch
	step     bool   // the move makes progress: see progresses
	entered  bool
	taken    uint8 // taken units of the first resource, if it has several and a client has entered
}

const unknown = ^uint32(0)

// A finding is a state or a move that fails a check.
type finding struct {
	check  string
	move   move     // the move that fails the check; unset if the state itself fails it
	waiter nodes.ID // the client that is passed over or can never enter; forEver: nodes can never agree
}

// still reports whether a finding is about a state itself, not about a move.
func (f *finding) still() bool {
	return f.check == replay.CheckDeadlock || f.check == replay.CheckAgreement
}

// An expansion is what a worker found in one state.
type expansion struct {
	candidates, findings int   // where the entries of this state end in the lists of the batch
	waiting              uint8 // a bit for each client that waits; 0 if that is outside the model
	moves                int
}

// A batch is what a worker found in one share of a level.
type batch struct {
	number     int // number of the share in the level
	of         *worker
	data       []uint32 // the states of the candidates
	candidates []candidate
	findings   []finding
	expansions []expansion
}

// A worker expands states.
type worker struct {
	o        *Space
	total    int
	head     int     // the length of a state without the messages on their way
	fair     bool    // the check fairness is made
	bypass   int     // the promised bypass, if fair
	shared   int     // number of resources
	sizes    [][]int // by resource: how many units a request may take
	fenced   []int   // the resources that demand fence numbers
	fences   int     // index in a state of the highest fence numbers
	parts    *parts
	seen     *visited
	countsUp bool             // the algorithms need a majority of clients up, or all servers up
	model    nodes.Assumption // assumptions broken from the beginning
	safe     nodes.Assumption // assumptions needed for safety
	live     nodes.Assumption // assumptions needed for progress
	forgets  []bool           // by node: it forgets everything in a crash, since it does not recover
	listens  []bool           // by node: it hears of suspicions
	copies   int              // how many equal messages a link may hold; 0: any number
	crowded  bool             // messages were lost because of copies
	counts   bool             // losses because of copies count as faults: the algorithms need NoLoss
	rules    replay.Rules     // rules of the election, if the stack has an elector
	timeouts int              // index in a state of the number of timeouts; 0: not bounded
	ticks    int              // index in a state of the ticks for which several nodes lead; 0: not counted
	late     bool             // timers would have run out more often than Space.Timeouts
	voters   leading.Electorate
	known    []*part // all parts, as of the last refresh
	flights  []*keptFlight
	memo     map[uint64][]outcome // reactions that this worker has asked for

	*batch
	free  chan *batch   // its batches that are not in use
	all   [ahead]batch  // its batches
	bytes atomic.Uint64 // memory in use, after the latest share

	state []uint32 // the state that is being expanded
	moves int      // number of moves out of the state
	steps int      // number of these moves that make progress
	cut   bool     // because of a bound, a move out of the state that makes progress was left out
}

func newWorker(o *Space, ps *parts, seen *visited) *worker {
	w := &worker{o: o, total: ps.stack.Total(), shared: len(ps.stack.Mutexes()), parts: ps, seen: seen,
		memo: map[uint64][]outcome{}, safe: ps.stack.Safe(), live: ps.stack.Live(), copies: o.copies(ps.stack)}
	w.head = w.total + 1
	if o.looksFor(replay.CheckFairness) {
		w.fair, w.head, w.bypass = true, w.total+2, o.Spec.Exclusion().Bypass(o.Config)
	}
	for r, instance := range ps.stack.Mutexes() {
		var take workload.Take // requests to further instances take one unit
		if instance == 0 {
			take = o.Take
		}
		w.sizes = append(w.sizes, take.Sizes(ps.capacity(r)))
	}
	w.fenced, w.fences = fenced(ps.stack), w.head
	w.head += fenceWords * len(w.fenced)
	if w.rules = ps.rules; o.Timeouts > 0 {
		w.timeouts = w.head
		w.head++
	}
	if w.rules.Counts(o.Timing) {
		w.ticks = w.head
		w.head++
	}
	needs := w.safe | w.live
	w.countsUp, w.counts = needs&(nodes.Majority|nodes.ServersUp) != 0, needs&nodes.NoLoss != 0
	if o.Reordering {
		w.model |= nodes.FIFO
	}
	w.model |= o.Timing.Breaks()
	for id := range nodes.ID(w.total) {
		var p nodes.Process
		ps.rt.Process(&p, id)
		w.forgets, w.listens = append(w.forgets, p.Forgets(false)), append(w.listens, p.Listens())
	}
	w.refresh()
	w.free = make(chan *batch, ahead)
	for i := range w.all {
		w.all[i].of = w
		w.free <- &w.all[i]
	}
	return w
}

// refresh takes a snapshot of the parts and flights that all workers have found.
func (w *worker) refresh() { w.known, w.flights = w.parts.parts, w.parts.flights }

// react returns the outcomes of a stimulus, from the memo if they are there.
func (w *worker) react(number uint32, s stimulus) []outcome {
	key := uint64(number)<<32 | uint64(s)
	if r := w.memo[key]; r != nil {
		return r
	}
	w.parts.mu.Lock()
	r := w.parts.react(number, s)
	w.refresh()
	w.parts.mu.Unlock()
	w.memo[key] = r
	return r
}

// expand makes all moves out of a state.
func (w *worker) expand(state []uint32) {
	w.state, w.moves, w.steps, w.cut = state, 0, 0, false
	before := len(w.findings)
	w.deliveries()
	var waiting, inside uint8
	for at := range w.total {
		p := w.known[state[at]]
		waiting |= p.waiting << (at * w.shared)
		inside |= p.inside << (at * w.shared)
		w.local(at, p)
	}
	w.tick()
	if w.steps == 0 && waiting != 0 && inside == 0 && w.o.looksFor(replay.CheckDeadlock) {
		w.findings = append(w.findings, finding{check: replay.CheckDeadlock})
		waiting = 0 // the deadlock is reported already
	}
	if w.outside(state, w.safe|w.live) != 0 {
		waiting = 0
	}
	if w.rules.Elects {
		waiting = w.undecided(state, before)
	}
	if w.cut {
		waiting = 0 // the omitted move might let the clients in
	}
	w.expansions = append(w.expansions, expansion{len(w.candidates), len(w.findings), waiting, w.moves})
}

// deliveries makes the moves of messages. On an ordered link only the first message moves: losing or copying
// a later one has the same effect once it is the first.
func (w *worker) deliveries() {
	flights, faults := w.state[w.head:], w.state[w.total]
	for i, word := range flights {
		if i > 0 && (flights[i-1] == word || !w.o.Reordering && flights[i-1]>>linkShift == word>>linkShift) {
			continue
		}
		at := uint8(receiver(word))
		if w.flights[word&flightMask].Open() {
			w.try(move{what: replay.StepDeliver, node: at, which: word})
		}
		if int(faults&(lostBehind-1)) < w.o.Losses {
			w.put(move{what: replay.StepDrop, node: at, which: word}, nil)
		}
		if int(faults>>8&0xff) < w.o.Duplicates {
			w.put(move{what: replay.StepDuplicate, node: at, which: word}, nil)
		}
	}
}

// local makes the other moves of a node.
func (w *worker) local(at int, p *part) {
	node := uint8(at)
	if !p.up {
		if w.o.Restarts || w.o.Amnesia {
			w.try(move{what: replay.StepRestart, node: node})
		}
		if w.o.Amnesia && p.saved() && !w.forgets[at] { // otherwise amnesia equals a restart
			w.try(move{what: replay.StepAmnesia, node: node})
		}
		return
	}
	for i := range p.timers {
		switch {
		case !p.timers[i].Open():
		case w.timeouts > 0 && int(w.state[w.timeouts]) >= w.o.Timeouts:
			w.late, w.cut = true, true
			w.steps++
		default:
			w.try(move{what: replay.StepTimeout, node: node, which: uint32(i)})
		}
	}
	if at < w.o.Config.N {
		for r := range w.shared {
			w.client(node, r, p)
		}
		w.campaign(node, p)
	}
	if w.listens[at] {
		w.detect(node, p)
	}
	if int(w.state[w.total]>>16&0xff) < w.o.Crashes {
		w.try(move{what: replay.StepCrash, node: node})
	}
}

// client makes the moves of the client of a resource.
func (w *worker) client(node uint8, r int, p *part) {
	switch bit := uint8(1) << r; {
	case p.inside&bit != 0:
		w.try(move{what: replay.StepRelease, node: node, which: uint32(onRelease) + uint32(r)})
	case p.waiting&bit == 0 && int(p.asked[r]) < w.o.Entries:
		for _, units := range w.sizes[r] {
			w.try(move{what: replay.StepRequest, node: node, which: uint32(request(r, units))})
		}
	}
}

// try makes a move with each of its outcomes.
func (w *worker) try(m move) {
	outcomes := w.react(w.state[m.node], w.stimulus(m))
	for i := range outcomes {
		if outcomes[i].after > 0 && int(w.state[w.total]>>16&0xff) >= w.o.Crashes {
			continue
		}
		m.outcome = uint16(i)
		w.put(m, &outcomes[i])
	}
}

// put adds the state that a move leads to or, if the move fails a check, a finding.
func (w *worker) put(m move, out *outcome) {
	w.moves++
	step := w.progresses(m) && !crashed(m, out)
	if step {
		w.steps++
	}
	switch {
	case out != nil && out.panics != "": // the path ends, even if the check is not made
		if w.o.looksFor(replay.CheckPanic) {
			w.findings = append(w.findings, finding{check: replay.CheckPanic, move: m})
		}
		return
	case out != nil && out.entered != 0 && out.after == 0 && // the outcome without a crash shows the violation
		w.o.looksFor(replay.CheckExclusion) && w.overfull(int(m.node), out):
		w.findings = append(w.findings, finding{check: replay.CheckExclusion, move: m})
		return
	}
	if out != nil && out.secluded {
		w.findings = append(w.findings, finding{check: replay.CheckMinority, move: m})
		return
	}
	from := len(w.data)
	w.data = w.successor(w.data, w.state, m, out)
	if check, waiter := w.fails(w.data[from:], m, out); check != "" {
		w.data = w.data[:from]
		w.findings = append(w.findings, finding{check: check, move: m, waiter: waiter})
		return
	}
	c := candidate{move: m, step: step, from: uint32(from), to: uint32(len(w.data)),
		entered: out != nil && out.after == 0 && (out.entered != 0 || out.leads)}
	if c.entered && out.entered&1 != 0 && w.parts.capacity(0) > 1 {
		c.taken = uint8(w.taken(int(m.node), 0, w.parts.stack.Mutexes()[0], out))
	}
	c.digest = w.digest(w.data[from:])
	c.known = w.seen.find(c.digest)
	if c.known != unknown {
		w.data = w.data[:from]
	}
	w.candidates = append(w.candidates, c)
}

// fails returns the check that a state fails after a move; empty if none.
func (w *worker) fails(state []uint32, m move, out *outcome) (check string, waiter nodes.ID) {
	if w.rules.Elects {
		return w.failsLeaders(state, m, out), 0
	}
	if id := w.passed(state); id != nodes.None {
		return replay.CheckFairness, id
	}
	return "", 0
}

// overfull reports whether an entry of a client of the node takes more units of a resource than there are, or
// has a wrong fence number.
func (w *worker) overfull(node int, out *outcome) bool {
	for r, instance := range w.parts.stack.Mutexes() {
		if out.entered>>r&1 == 0 {
			continue
		}
		if at := slices.Index(w.fenced, r); at >= 0 {
			if w.rules.Stale(out.fences[r], w.highest(w.state, at)) != "" {
				return true
			}
			continue
		}
		if w.taken(node, r, instance, out) > w.parts.capacity(r) {
			return true
		}
	}
	return false
}

// taken returns how many units of a resource are taken after an entry of a client of the node.
func (w *worker) taken(node, r int, instance int32, out *outcome) int {
	taken := w.known[out.next].process.Units(instance)
	for at, number := range w.state[:w.o.Config.N] {
		if p := w.known[number]; at != node && p.inside>>r&1 != 0 {
			taken += p.process.Units(instance)
		}
	}
	return taken
}

// A state is a list of numbers: the part of each node; the faults so far; how often each client was passed
// over, for the check fairness; the highest fence numbers, if the resource demands them; the number of
// timeouts, if bounded; for how many ticks several nodes lead, if bounded; and a word for each message on its
// way. Words are ordered by link, and on a link as they were sent or, with Reordering, by their digests.

// All faults are counted in one number.
const (
	oneLoss      = 1
	lostBehind   = 1 << 7 // a flag: a message was lost because of copies, and the algorithms need NoLoss
	oneDuplicate = 1 << 8
	oneCrash     = 1 << 16
	oneAmnesia   = 1 << 24 // a flag: a node has restarted without what it saved
	oneSuspicion = 1 << 25 // suspicions of nodes that are up: all bits from here on
)

// successor appends the state that a move leads to from a state.
func (w *worker) successor(b, state []uint32, m move, out *outcome) []uint32 {
	if m.what == replay.StepTick {
		return w.later(b, state)
	}
	head := len(b)
	b = append(b, state[:w.head]...)
	faults := &b[head+w.total]
	flights := state[w.head:]
	at := -1
	switch m.what {
	case replay.StepDeliver, replay.StepDrop, replay.StepDuplicate:
		at = slices.Index(flights, m.which)
		*faults += [...]uint32{replay.StepDeliver: 0, replay.StepDrop: oneLoss,
			replay.StepDuplicate: oneDuplicate}[m.what]
	case replay.StepRestart, replay.StepAmnesia:
		if m.what == replay.StepAmnesia || w.forgets[m.node] {
			*faults |= oneAmnesia
		}
	case replay.StepSuspect:
		if w.known[state[m.which]].up {
			*faults += oneSuspicion
		}
	}
	crashes := crashed(m, out)
	if crashes {
		*faults += oneCrash
	}
	for i, word := range flights {
		switch {
		case crashes && receiver(word) == uint32(m.node):
			continue // it is lost with its receiver
		case i == at && m.what == replay.StepDuplicate:
			b = append(b, word)
		case i == at:
			continue
		}
		b = append(b, word)
	}
	if m.what == replay.StepTimeout && w.timeouts > 0 {
		b[head+w.timeouts]++
	}
	if out == nil {
		w.passOver(b[head:], m, out)
		return b
	}
	b[head+int(m.node)] = out.next
	if out.entered != 0 {
		w.raise(b[head:], out)
	}
	for _, word := range out.sends {
		b = w.post(b, head, word)
	}
	w.passOver(b[head:], m, out)
	if w.ticks > 0 && w.electorate(b[head:]).Leading() < 2 {
		b[head+w.ticks] = 0
	}
	return b
}

// digest returns the digest of a state. It uses the digests of parts and flights, not their numbers, which
// depend on which worker found them first.
func (w *worker) digest(state []uint32) digest {
	d := digest{}.addNumbers(state[w.total], uint32(len(state)))
	for _, word := range state[w.total+1 : w.head] {
		d = d.addNumbers(word, 0)
	}
	for _, number := range state[:w.total] {
		d = d.add(w.known[number].digest)
	}
	for _, word := range state[w.head:] {
		d = d.add(w.flights[word&flightMask].digest)
	}
	return d
}

// One word of the state has four bits for each client. They are 0 if it does not wait, or if its request is
// not known yet to all nodes that must see it. Otherwise they are 1 plus twice the number of times that it
// was passed over, plus 1 if others have entered since the last quiet state, which has no messages on their
// way. The first quiet state makes a request known. Each later one after entries of others counts as passing
// it over once more. So the count does not depend on message delays.
const (
	fairBits   = 4
	passedOver = 1<<fairBits - 1 // passed over more often than promised
)

// passOver updates the word for the check fairness, in a state after a move.
func (w *worker) passOver(state []uint32, m move, out *outcome) {
	if !w.fair {
		return
	}
	entered, quiet := out != nil && out.entered != 0, len(state) == w.head
	old, word := state[w.total+1], uint32(0)
	for at, number := range state[:w.o.Config.N] {
		if w.known[number].waiting == 0 {
			continue
		}
		times := old >> (fairBits * at) & passedOver
		if entered && times != 0 {
			times = (times - 1 | 1) + 1
		}
		switch {
		case quiet && times == 0:
			times = 1
		case quiet && times%2 == 0:
			times = min(times+1, passedOver)
			if int(times)/2 > w.bypass {
				times = passedOver
			}
		}
		word |= times << (fairBits * at)
	}
	state[w.total+1] = word
}

// passed returns a client that was passed over more often than promised, or None.
func (w *worker) passed(state []uint32) nodes.ID {
	if !w.fair {
		return nodes.None
	}
	for id := range w.o.Config.N {
		if state[w.total+1]>>(fairBits*id)&passedOver == passedOver {
			return nodes.ID(id)
		}
	}
	return nodes.None
}

// detect makes the moves of the failure detector of a node.
func (w *worker) detect(node uint8, p *part) {
	for peer := range uint32(w.total) {
		up, suspected := w.known[w.state[peer]].up, p.suspects>>peer&1 != 0
		switch {
		case peer == uint32(node):
		case up && suspected:
			w.try(move{what: replay.StepTrust, node: node, which: peer})
		case !suspected && (!up || int(w.state[w.total]/oneSuspicion) < w.o.Suspicions):
			w.try(move{what: replay.StepSuspect, node: node, which: peer})
		}
	}
}

// progresses reports whether a move makes progress by itself: it is not a fault, request or restart.
func (w *worker) progresses(m move) bool {
	return m.what.Progresses() || m.what == replay.StepSuspect && !w.known[w.state[m.which]].up
}

// validateSuspicions returns what is wrong with Space.Suspicions.
func (o *Space) validateSuspicions(stack *algorithm.Stack) error {
	if o.Suspicions == 0 {
		return nil
	}
	rt := nodes.NewRuntime(stack.Stack, nil, nil)
	for id := range nodes.ID(stack.Total()) {
		var p nodes.Process
		if rt.Process(&p, id); p.Listens() {
			return nil
		}
	}
	return fmt.Errorf("nodes are to be suspected, but %s listens to no failure detector: allow no suspicions",
		o.Spec.Name)
}

// tick makes the move of a tick, if there is a message or timer and none is due now.
func (w *worker) tick() {
	if w.o.Timing == nil {
		return
	}
	due, passing := false, false
	look := func(at replay.Window) { due, passing = due || at.Due(), true }
	for _, word := range w.state[w.head:] {
		look(w.flights[word&flightMask].Window)
	}
	for _, number := range w.state[:w.total] {
		for _, a := range w.known[number].timers {
			look(a.Window)
		}
	}
	if passing && !due {
		w.put(move{what: replay.StepTick}, nil)
	}
}

// later appends the state after a tick.
func (w *worker) later(b, state []uint32) []uint32 {
	head := len(b)
	b = append(b, state[:w.head]...)
	for at, number := range state[:w.total] {
		if len(w.known[number].timers) > 0 {
			b[head+at] = w.react(number, onTick)[0].next
		}
	}
	if w.ticks > 0 && w.electorate(state).Leading() > 1 {
		b[head+w.ticks]++
	}
	for _, word := range state[w.head:] {
		b = w.send(b, head+w.head, word+1) // ageing may change the order of flights
	}
	return b
}
