package explore

import (
	"fmt"
	"slices"

	"turnstile/nodes"
)

// result returns the result of the search.
func (s *search) result() (*Result, error) {
	if s.parts.err != nil {
		return nil, s.parts.err
	}
	x := &s.x
	x.States, x.Bytes = uint64(s.seen.count), s.bytes()
	x.NodeStates = len(s.parts.parts)
	var err error
	if s.worst != nil {
		if x.Violation, err = s.tell(s.worst); err != nil {
			return nil, err
		}
		x.Violation.Shortest = !s.cut
	}
	if s.excused != nil {
		x.FirstExcused, err = s.tell(s.excused)
	}
	return x, err
}

// tell returns the violation of a lead, with its story.
func (s *search) tell(l *lead) (*Violation, error) {
	schedule, err := s.schedule(l)
	if err != nil {
		return nil, err
	}
	r, err := replay(s.parts.stack, schedule, &s.o)
	if err != nil {
		return nil, err
	}
	v := r.Violation
	if l.check == CheckStarvation {
		v = &Violation{Check: l.check, Stall: r.Status,
			Says: fmt.Sprintf("node %d waits, and whatever happens it is never let in", l.waiter)}
		r.Story = append(r.Story, fmt.Sprintf("from here on, node %d cannot enter any more", l.waiter))
	}
	if l.waiter == forEver {
		v = &Violation{Check: l.check, Says: "not all agree, and whatever happens they never do"}
		r.Story = append(r.Story, "from here on, not all can agree any more")
	}
	if v == nil || v.Check != l.check {
		return nil, fmt.Errorf("replaying does not show the %s that exploring has found: "+
			"the machines of %s do not depend on their input alone:\n%v", l.check, s.o.Spec.Name, schedule)
	}
	v.Schedule, v.Story, v.OutsideModel = schedule, r.Story, l.needs
	return v, nil
}

// schedule returns the steps that lead to a lead. It plays them on real nodes as well, since only those tell
// equal messages apart.
func (s *search) schedule(l *lead) (*Schedule, error) {
	var moves []move
	switch l.check {
	case CheckExclusion, CheckPanic, CheckFairness, CheckMinority, CheckLeaders, CheckTerms:
		moves = append(moves, l.move)
	}
	at := l.state
	for ; s.parents.at(int(at)) != unknown; at = s.parents.at(int(at)) {
		moves = append(moves, s.moves.at(int(at)))
	}
	slices.Reverse(moves)
	from := s.roots[s.moves.at(int(at)).which]
	out := &Schedule{Spec: s.o.Spec, Config: s.o.Config, Reordering: s.o.Reordering, Timing: s.o.Timing,
		Copies: s.workers[0].copies}
	stage := newStage(s.parts.stack, out)
	state, w := from.state, s.workers[0]
	for _, step := range from.steps {
		if err := stage.play(step); err != nil {
			return nil, err
		}
		out.Steps = append(out.Steps, step)
	}
	stage.start()
	for i, m := range moves {
		var o *outcome
		step := Step{What: m.what, Node: nodes.ID(m.node)}
		switch m.what {
		case StepDrop, StepDuplicate, StepTick:
		default:
			o = &w.react(state[m.node], w.stimulus(m))[m.outcome]
			step.Choosing, step.Crashing = o.choices, o.after
		}
		switch m.what {
		case StepDeliver, StepDrop, StepDuplicate:
			p := w.flights[m.which&flightMask]
			step.From, step.To, step.Instance = p.from, p.to, p.instance
			step.Kind = s.parts.stack.Codec().Name(int(p.kind))
			step.Nth = stage.place(&p.flight)
		case StepTimeout:
			t := w.known[state[m.node]].timers[m.which]
			step.Timer, step.Instance = t.timer, t.instance
			if t.instance == 0 { // the only one whose row a schedule names
				step.Named = out.Spec.TimerName(out.Config, step.Node, t.timer.Kind)
			}
		case StepRequest:
			r := int(stimulus(m.which)-onRequest) % mostExplored
			step.Instance = s.parts.stack.Mutexes()[r]
			if stimulus(m.which) >= onRequest+mostExplored {
				step.Units = s.parts.capacity(r)
			}
		case StepSuspect, StepTrust:
			step.Peer = nodes.ID(m.which)
		case StepRelease:
			step.Instance = s.parts.stack.Mutexes()[stimulus(m.which)-onRelease]
		}
		out.Steps = append(out.Steps, step)
		if err := stage.play(step); err != nil {
			return nil, fmt.Errorf("step %d, %v: %w", i+1, step, err)
		}
		if i < len(moves)-1 || o != nil && o.panics == "" {
			state = w.successor(nil, state, m, o)
		}
	}
	return out, nil
}
