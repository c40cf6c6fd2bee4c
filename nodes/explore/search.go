package explore

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"turnstile/nodes"
	"turnstile/nodes/replay"
)

// A search visits all states, level by level. Workers expand shares of a level in parallel; one goroutine
// merges their batches, in the order of the shares. So the result does not depend on the number or the speed
// of the workers.
type search struct {
	o       Space
	parts   *parts
	seen    *visited
	workers []*worker
	judge   *worker // judges the findings of the workers while they go on

	roots   []root
	parents column[uint32] // by state: the state that it was first reached from; unknown for a root
	moves   column[move]   // by state: the move that reached it first; for a root, move.which is its number
	waiting column[uint8]  // by expanded state: the clients that wait, unless that is outside the model
	edges   column[uint32] // by state: its successors by moves that make progress
	ends    column[uint32] // by state: where its edges end

	level, next level
	depth       int
	x           Result

	worst   *lead // the violation nearest to the beginning
	cut     bool  // the level of the nearest violation was not swept to the end
	outside *lead // the nearest violation outside the model
}

// A root is an initial state, with steps for the choices of machines when they started.
type root struct {
	state []uint32
	steps []replay.Step
}

// A level holds the states at one distance from the beginning.
type level struct {
	first uint32   // the number of the first state
	data  []uint32 // the states, one after the other
	ends  []int
}

func (l *level) state(i int) []uint32 {
	from := 0
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.data[from:l.ends[i]]
}

// A lead is a finding with its state.
type lead struct {
	finding
	state uint32
	depth int
	needs nodes.Assumption
}

// forEver is the waiter of a lead after which nodes can never agree.
const forEver nodes.ID = -1000

func newSearch(o Space) (*search, error) {
	o.Workers = max(1, o.Workers)
	s := &search{o: o, seen: newVisited()}
	stack, err := s.o.stack()
	if err != nil {
		return nil, err
	}
	s.parts = newParts(&s.o, stack)
	for range o.Workers {
		s.workers = append(s.workers, newWorker(&s.o, s.parts, s.seen))
	}
	s.judge = newWorker(&s.o, s.parts, s.seen)
	return s, s.begin()
}

// begin starts all nodes, with all their choices.
func (s *search) begin() error {
	w := s.workers[0]
	blank := make([]uint32, w.head)
	for id := range nodes.ID(w.total) {
		p := &part{up: true, process: new(nodes.Process), asked: make([]uint8, w.shared)}
		p.Belief.Crash()
		s.parts.rt.Process(p.process, id)
		blank[id] = s.parts.number(p)
	}
	w.refresh()
	s.roots = []root{{state: blank}}
	for id := range nodes.ID(w.total) {
		var after []root
		for _, from := range s.roots {
			for _, out := range w.react(from.state[id], onStart) {
				if out.panics != "" {
					return fmt.Errorf("node %d panics when it starts: %s", id, out.panics)
				}
				m := move{what: replay.StepStart, node: uint8(id)}
				to := root{state: w.successor(nil, from.state, m, &outcome{next: out.next})}
				to.steps = from.steps
				if len(out.choices) > 0 {
					to.steps = append(to.steps[:len(to.steps):len(to.steps)],
						replay.Step{What: replay.StepStart, Node: id, Choosing: out.choices})
				}
				for _, word := range out.sends {
					to.state = w.post(to.state, 0, word)
				}
				after = append(after, to)
			}
		}
		s.roots = after
	}
	for i, from := range s.roots {
		if says := w.together(from.state); says != "" {
			return fmt.Errorf("when all have started, %s", says)
		}
		if _, fresh := s.seen.add(w.digest(from.state)); fresh {
			s.put(from.state, unknown, move{which: uint32(i)})
		}
	}
	return nil
}

// put adds a new state to the next level.
func (s *search) put(state []uint32, parent uint32, m move) {
	s.parents.add(parent)
	s.moves.add(m)
	s.next.data = append(s.next.data, state...)
	s.next.ends = append(s.next.ends, len(s.next.data))
	s.x.Depth = s.depth
}

// run sweeps levels until no state is left, a violation is found, or a bound is reached.
func (s *search) run() {
	for s.x.Bound == "" && len(s.next.ends) > 0 {
		s.level, s.next = s.next, level{data: s.level.data[:0], ends: s.level.ends[:0]}
		s.next.first = s.level.first + uint32(len(s.level.ends))
		s.depth++
		s.sweep()
		if s.worst != nil {
			s.cut = s.x.Bound != "" && s.x.Bound != "depth"
			s.x.Bound = "violation"
		}
	}
	s.x.Exhausted = s.x.Bound == ""
	if s.x.Exhausted && (s.o.looksFor(replay.CheckStarvation) ||
		s.parts.rules.Elects && s.o.looksFor(replay.CheckAgreement)) {
		s.report(s.bytes(), true)
		s.starvation()
		s.x.Exhausted = s.x.Bound == ""
		s.x.Progress = s.x.Exhausted && s.worst == nil
	}
	if s.x.Exhausted {
		s.setBound()
	}
}

// setBound sets the bound of a search that has seen all states within Copies or Timeouts, if one of them left
// anything out.
func (s *search) setBound() {
	for _, w := range s.workers {
		if w.crowded && s.x.Bound == "" {
			s.x.Exhausted, s.x.Bound = false, "copies"
		}
		if w.late {
			s.x.Exhausted, s.x.Progress, s.x.Bound = false, false, "timeouts"
		}
	}
}

// merge adds the results of a batch. It reports false when no more states fit.
func (s *search) merge(b *batch) bool {
	var last expansion
	state := s.level.first + uint32(b.number*share)
	for _, e := range b.expansions {
		for _, f := range b.findings[last.findings:e.findings] {
			s.note(f, state)
		}
		for i := last.candidates; i < e.candidates; i++ {
			c := &b.candidates[i]
			number, fits := s.place(c, b.data[c.from:c.to], state)
			if !fits {
				return false
			}
			if c.entered {
				s.x.Entries++
				s.x.MostTaken = max(s.x.MostTaken, int(c.taken))
			}
			if c.step && number != unknown {
				s.edges.add(number)
			}
		}
		s.x.Transitions += uint64(e.moves)
		s.waiting.add(e.waiting)
		s.ends.add(uint32(s.edges.count))
		last = e
		state++
	}
	return true
}

// place returns the number of a candidate, and adds it if it is new. If the candidate is deeper than the
// bound of depth, its number stays unknown. fits is false if the bound of states is reached.
func (s *search) place(c *candidate, state []uint32, parent uint32) (number uint32, fits bool) {
	if c.known != unknown {
		return c.known, true
	}
	if s.o.Depth > 0 && s.depth > s.o.Depth {
		s.x.Bound = "depth"
		return unknown, true
	}
	if s.o.States > 0 && uint64(s.seen.count) >= s.o.States {
		if number = s.seen.find(c.digest); number == unknown {
			s.x.Bound = "states"
		}
		return number, number != unknown
	}
	number, fresh := s.seen.add(c.digest)
	if fresh {
		s.put(state, parent, c.move)
	}
	return number, true
}

// full reports whether a bound is reached that ends the search at once.
func (s *search) full() bool {
	need := s.bytes()
	s.report(need, false)
	if s.seen.free() < s.seen.count/16 {
		need += 2 * s.seen.bytes() // the table is about to grow: then the old and the new one both take memory
	}
	if s.o.Memory > 0 && need > s.o.Memory || max(s.edges.count, s.parents.count) > lowHalf/2 {
		s.x.Bound = "memory"
	}
	return s.interrupted() || s.parts.failed() || s.x.Bound == "states" || s.x.Bound == "memory"
}

// interrupted reports whether the search was interrupted.
func (s *search) interrupted() bool {
	select {
	case <-s.o.Interrupt:
		s.x.Bound = "interrupt"
		return true
	default:
		return false
	}
}

// report reports progress.
func (s *search) report(bytes uint64, last bool) {
	if s.o.Progress != nil {
		s.o.Progress(Progress{States: uint64(s.seen.count), Depth: s.depth, Bytes: bytes, Last: last})
	}
}

// bytes returns how much memory is in use or allocated.
func (s *search) bytes() uint64 {
	b := s.seen.bytes() + s.parts.used()
	b += 4*(s.parents.capacity()+s.edges.capacity()+s.ends.capacity()) + 8*s.moves.capacity()
	b += s.waiting.capacity()
	for _, l := range []*level{&s.level, &s.next} {
		b += 4*uint64(cap(l.data)) + 8*uint64(cap(l.ends))
	}
	for _, w := range s.workers {
		b += w.bytes.Load()
	}
	return b
}

// note counts a finding, and keeps it if it is the nearest to the beginning so far.
func (s *search) note(f finding, state uint32) {
	if !f.still() && s.o.Depth > 0 && s.depth > s.o.Depth {
		s.x.Bound = "depth"
		return
	}
	w := s.judge
	s.parts.mu.Lock()
	w.refresh()
	s.parts.mu.Unlock()
	l := &lead{finding: f, state: state, depth: s.depth}
	needs := w.needs(f.check)
	if f.still() {
		l.depth--
	}
	row := append([]uint32(nil), s.level.state(int(state-s.level.first))...)
	l.needs = w.outside(row, needs)
	if l.needs == 0 && !f.still() && f.move.what != replay.StepDeliver {
		l.needs = w.outside(w.successor(nil, row, f.move, nil), needs) // a restart may break NoAmnesia
	}
	at := &s.worst
	if l.needs != 0 {
		s.x.Outside++
		at = &s.outside
	}
	if *at == nil || l.depth < (*at).depth {
		*at = l
	}
}

// starvation looks for a state with a waiting client that still waits in all states reachable by moves that
// make progress. A client can be served from a state if it can be from a successor: that is propagated
// backwards until nothing changes. A move that fails a check has no successor; if it makes progress, and
// broken assumptions of Safe or Live put its finding outside the model, waiting is outside, too.
func (s *search) starvation() {
	served := make([]uint8, s.waiting.count) // the clients that do not wait now, or can be served later
	for i := range served {
		served[i] = ^s.waiting.at(i)
	}
	for changed := true; changed; {
		changed = false
		if s.interrupted() {
			return
		}
		for i := len(served) - 1; i >= 0; i-- {
			before, from := served[i], 0
			if i > 0 {
				from = int(s.ends.at(i - 1))
			}
			for edge := from; edge < int(s.ends.at(i)); edge++ {
				served[i] |= served[s.edges.at(edge)]
			}
			changed = changed || served[i] != before
		}
	}
	for i, can := range served {
		if can == 0xff {
			continue
		}
		if s.parts.rules.Elects {
			s.worst = &lead{finding: finding{check: replay.CheckAgreement, waiter: forEver}, state: uint32(i)}
			return
		}
		first := bits.TrailingZeros8(^can)
		s.worst = &lead{state: uint32(i),
			finding: finding{check: replay.CheckStarvation, waiter: nodes.ID(first / s.workers[0].shared)}}
		return
	}
}

const (
	share     = 1 << 9 // states that a worker expands at a time
	memoBytes = 80     // memory of a reaction in a worker, as measured

	ahead = 3 // batches of a worker: the current one, and some that wait to be merged
)

// sweep expands the level.
func (s *search) sweep() {
	shares := (len(s.level.ends) + share - 1) / share
	if len(s.workers) > 1 && shares > 1 {
		s.sweepTogether(shares)
		return
	}
	w := s.workers[0]
	for number := 0; number < shares && !s.full(); number++ {
		b := <-w.free
		w.expandShare(&s.level, number, b)
		s.merge(b)
		w.free <- b
	}
}

// sweepTogether has the workers expand one share after another, and merges their batches by number.
func (s *search) sweepTogether(shares int) {
	var begun atomic.Int64
	var workers sync.WaitGroup
	done := make(chan *batch, ahead*len(s.workers)) // with room for all batches
	for _, w := range s.workers {
		workers.Go(func() {
			for b := range w.free { // a share begins only with a free batch, so the lowest share under way always ends
				number := int(begun.Add(1)) - 1
				if number >= shares {
					w.free <- b
					return
				}
				w.expandShare(&s.level, number, b)
				done <- b
			}
		})
	}
	early := map[int]*batch{} // batches that came before their turn
	for number := 0; number < shares && !s.full(); number++ {
		for early[number] == nil {
			b := <-done
			early[b.number] = b
		}
		s.merge(early[number])
		early[number].of.free <- early[number]
		delete(early, number)
	}
	begun.Store(int64(shares)) // if the search is over, no more shares begin, and those under way are dropped
	for _, b := range early {
		b.of.free <- b
	}
	go func() { workers.Wait(); close(done) }()
	for b := range done {
		b.of.free <- b
	}
}

// expandShare expands one share of the level.
func (w *worker) expandShare(l *level, number int, b *batch) {
	w.batch, b.number = b, number
	b.data, b.candidates = b.data[:0], b.candidates[:0]
	b.findings, b.expansions = b.findings[:0], b.expansions[:0]
	w.parts.mu.Lock()
	w.refresh()
	w.parts.mu.Unlock()
	first := number * share
	for at := first; at < min(first+share, len(l.ends)); at++ {
		w.expand(l.state(at))
	}
	bytes := memoBytes * uint64(len(w.memo))
	for i := range w.all {
		bytes += 4*uint64(cap(w.all[i].data)) + 56*uint64(cap(w.all[i].candidates))
	}
	w.bytes.Store(bytes)
}
