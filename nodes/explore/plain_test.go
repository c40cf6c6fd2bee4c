package explore

import (
	"slices"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// A plain run is a plain search under way. It counts what a Result counts.
type plainRun struct {
	*plain
	number map[string]int // number of each state, by its text: see write
	seen   []plainSeen    // by number
	ended  int            // how many of these were expanded
	deeper bool           // states beyond Space.Depth were left out

	exhausted bool // there are no more states than these

	states, transitions, entries, outsideCount uint64
	depth                                      int

	worst, outside plainFinding
}

// What a plain run remembers of a state.
type plainSeen struct {
	state   *plainState
	depth   int
	waiting []int // clients that wait, unless waiting is outside the model
	steps   []int // numbers of the successors by moves that make progress
}

// A plainFinding has the checks that fail in the fewest moves.
type plainFinding struct {
	depth  int
	checks []string // checks that fail at this depth; empty: no check fails
}

func (f *plainFinding) note(depth int, check string) {
	if len(f.checks) == 0 || depth < f.depth {
		f.depth, f.checks = depth, nil
	}
	if depth == f.depth {
		f.checks = append(f.checks, check)
	}
}

// run goes through all states, level by level, to the level in which a promise is broken.
func (p *plain) run() *plainRun {
	r := &plainRun{plain: p, number: map[string]int{}}
	for _, s := range p.begin() {
		r.see(s, 0)
	}
	for r.ended < len(r.seen) && len(r.worst.checks) == 0 && !r.deeper {
		for level := len(r.seen); r.ended < level; r.ended++ {
			r.expand(&r.seen[r.ended], p.next(r.seen[r.ended].state))
		}
	}
	r.states = uint64(len(r.seen))
	r.exhausted = !r.deeper && len(r.worst.checks) == 0
	if r.exhausted && r.o.looksFor(r.never()) {
		r.starvation()
	}
	return r
}

// never returns the check that fails if a client can never enter, or if nodes can never agree.
func (p *plain) never() string {
	if p.stack.Elects() {
		return replay.CheckAgreement
	}
	return replay.CheckStarvation
}

// begin returns the states in which all may begin.
func (p *plain) begin() []*plainState {
	all := []*plainState{{nodes: make([]plainNode, p.stack.Total()), passed: make([]plainPassed, p.o.Config.N)}}
	for id := range nodes.ID(p.stack.Total()) {
		var after []*plainState
		for _, s := range all {
			for _, m := range p.ways(s, false, func(to *plainState) { p.start(to, id, nodes.Start) }) {
				after = append(after, m.to)
			}
		}
		all = after
	}
	return all
}

// see returns the number of a state, unless it is new and lies too deep.
func (r *plainRun) see(s *plainState, depth int) (number int, near bool) {
	key := r.write(s)
	number, seen := r.number[key]
	if !seen && r.o.Depth > 0 && depth > r.o.Depth {
		return 0, false
	}
	if !seen {
		number, r.depth = len(r.seen), depth
		r.number[key] = number
		r.seen = append(r.seen, plainSeen{state: s, depth: depth})
	}
	return number, true
}

// expand notes what is wrong with a state and the moves out of it, and sees what follows.
func (r *plainRun) expand(at *plainSeen, moves []plainMove) {
	s, depth := at.state, at.depth
	stuck := true
	var steps []int
	for _, m := range moves {
		r.transitions++
		stuck = stuck && !m.step
		if m.entered {
			r.entries++
		}
		if m.check != "" {
			if m.check == replay.CheckPanic && !r.o.looksFor(replay.CheckPanic) {
				continue
			}
			if r.o.Depth > 0 && depth == r.o.Depth {
				r.deeper = true
			} else {
				r.note(depth+1, m.check, m.broken&r.needs(m.check))
			}
			continue
		}
		to, near := r.see(m.to, depth+1)
		r.deeper = r.deeper || !near
		if m.step && near {
			steps = append(steps, to)
		}
	}
	waiting, outside := s.clients(r.o, nodes.Waiting), r.broken(s)&(r.o.Spec.SafeIn(r.o.Config)|r.o.Spec.Live)
	if stuck && len(waiting) > 0 && r.o.looksFor(replay.CheckDeadlock) {
		r.note(depth, replay.CheckDeadlock, outside)
	}
	if r.stack.Elects() {
		waiting, outside = r.undecided(s, depth, stuck, moves), r.broken(s)&r.o.Spec.Live
	}
	if !r.o.Demand && outside != 0 {
		waiting = nil
	}
	at = &r.seen[r.ended]
	at.steps, at.waiting = steps, waiting
}

// needs returns the assumptions that a check needs.
func (r *plainRun) needs(check string) nodes.Assumption {
	switch check {
	case replay.CheckFairness:
		return r.o.Spec.SafeIn(r.o.Config) | r.o.Spec.Live
	case replay.CheckAgreement:
		return r.o.Spec.Live
	}
	return r.o.Spec.SafeIn(r.o.Config)
}

func (r *plainRun) note(depth int, check string, outside nodes.Assumption) {
	if outside != 0 && !r.o.Demand {
		r.outsideCount++
		r.outside.note(depth, check)
		return
	}
	r.worst.note(depth, check)
}

// starvation notes the states with a client that waits and enters in no state that may follow.
func (r *plainRun) starvation() {
	for client := range r.o.Config.N {
		served := make([]bool, len(r.seen))
		for changed := true; changed; {
			changed = false
			for i, at := range r.seen {
				if !served[i] && (!slices.Contains(at.waiting, client) ||
					slices.ContainsFunc(at.steps, func(to int) bool { return served[to] })) {
					served[i], changed = true, true
				}
			}
		}
		for i, at := range r.seen {
			if !served[i] {
				r.worst.note(at.depth, r.never())
			}
		}
	}
}

// moves returns how many moves lead to a violation.
func (v *Violation) moves() (n int) {
	for _, s := range v.Schedule.Steps {
		if s.What != replay.StepStart {
			n++
		}
	}
	return n
}

func stackOf(t *testing.T, o Space) *algorithm.Stack {
	t.Helper()
	s, err := o.stack()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agree explores twice, with Explore and plainly, and wants the same.
func agree(t *testing.T, o Space) *Result {
	t.Helper()
	x := explore(t, o)
	want := newPlain(t, &o).run()
	if x.States != want.states || x.Transitions != want.transitions || x.Entries != want.entries ||
		x.Outside != want.outsideCount || x.Depth != want.depth ||
		x.Exhausted != (want.exhausted && !want.crowded) ||
		(x.Bound == "copies") != (want.exhausted && want.crowded) ||
		x.Progress != (want.exhausted && len(want.worst.checks) == 0 && o.looksFor(want.never())) {
		want.seen, want.number = nil, nil
		t.Errorf("%+v\nand plainly\n%+v", x, want)
	}
	want.worst.is(t, x.Violation)
	want.outside.is(t, x.FirstOutside)
	if t.Failed() {
		t.Logf("%+v", o)
	}
	return x
}

// is wants what was found to be one of the violations that there are.
func (f *plainFinding) is(t *testing.T, v *Violation) {
	t.Helper()
	switch {
	case (v == nil) != (len(f.checks) == 0):
		t.Errorf("%+v, and plainly %+v", v, f)
	case v != nil && (v.moves() != f.depth || !slices.Contains(f.checks, v.Check)):
		t.Errorf("%s after %d moves, and plainly %+v", v.Check, v.moves(), f)
	}
}

// The explorer stores each part once and remembers reactions, but it sees the same as a plain search.
func TestAlgorithmsAreExploredAsByAPlainSearch(t *testing.T) {
	most := soak.Pick[uint64](100, 300, 1500) // since a plain search is slow
	for _, spec := range mutex.Table {
		t.Run(spec.Name, func(t *testing.T) {
			for i, o := range columns(spec) {
				if i%2 == 1 {
					o.Timing, o.Copies = timing(ms, 2*ms), 0
				}
				if o.States = most; explore(t, o).Bound == "states" {
					continue
				}
				o.States = 0
				agree(t, o)
			}
		})
	}
}
