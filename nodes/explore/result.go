package explore

import (
	"bytes"
	"fmt"
	"slices"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/replay"
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
	schedule, stage, state, err := s.play(l)
	if err != nil {
		return nil, err
	}
	r := stage.End()
	v := r.Violation
	switch l.check {
	case replay.CheckMinority:
		v = &replay.Violation{Check: l.check, Says: fmt.Sprintf("node %d enters, suspects half of the clients, "+
			"and has heard from no majority", l.move.node)}
	case replay.CheckFairness:
		v = &replay.Violation{Check: l.check, Says: fmt.Sprintf("node %d was passed over more than %s since its "+
			"request was known to all", l.waiter, english.Count(s.workers[0].bypass, "time", "times"))}
		r.Story = append(r.Story, v.Says)
	case replay.CheckStarvation:
		v = &replay.Violation{Check: l.check, Stall: r.Status,
			Says: fmt.Sprintf("node %d waits, and whatever happens it is never let in", l.waiter)}
		r.Story = append(r.Story, fmt.Sprintf("from here on, node %d cannot enter any more", l.waiter))
	}
	if l.waiter == forEver {
		v = &replay.Violation{Check: l.check, Says: "not all agree, and whatever happens they never do"}
		r.Story = append(r.Story, "from here on, not all can agree any more")
	}
	if v == nil || v.Check != l.check || l.check != replay.CheckPanic && !s.same(stage, state) {
		return nil, fmt.Errorf("replaying does not show the %s that exploring has found: "+
			"the machines of %s do not depend on their input alone:\n%v", l.check, s.o.Spec.Name, schedule)
	}
	return &Violation{Violation: *v, OutsideModel: l.needs, Schedule: schedule, Story: r.Story}, nil
}

// same reports whether the nodes of a stage are in a state, and as many messages on their way.
func (s *search) same(stage *replay.Stage, state []uint32) bool {
	w := s.workers[0]
	for id, number := range state[:w.total] {
		is, want := &stage.Nodes[id].Process, w.known[number].process
		if !bytes.Equal(is.AppendState(nil), want.AppendState(nil)) {
			return false
		}
	}
	return len(stage.Flying) == len(state)-w.head
}

// play returns the steps that lead to a lead, the stage on which they were played, since only real nodes tell
// equal messages apart, and the state to which they lead; of a panic, the one before.
func (s *search) play(l *lead) (out *replay.Schedule, stage *replay.Stage, state []uint32, err error) {
	var moves []move
	switch l.check {
	case replay.CheckExclusion, replay.CheckPanic, replay.CheckFairness, replay.CheckMinority,
		replay.CheckLeaders, replay.CheckTerms:
		moves = append(moves, l.move)
	}
	at := l.state
	for ; s.parents.at(int(at)) != unknown; at = s.parents.at(int(at)) {
		moves = append(moves, s.moves.at(int(at)))
	}
	slices.Reverse(moves)
	from := s.roots[s.moves.at(int(at)).which]
	out = &replay.Schedule{Spec: s.o.Spec, Config: s.o.Config, Reordering: s.o.Reordering, Timing: s.o.Timing,
		Copies: s.workers[0].copies}
	stage = replay.NewStage(s.parts.stack, out, s.o.looksFor)
	w := s.workers[0]
	state = from.state
	for _, step := range from.steps {
		if err := stage.Play(step); err != nil {
			return nil, nil, nil, err
		}
		out.Steps = append(out.Steps, step)
	}
	stage.Start()
	for i, m := range moves {
		var o *outcome
		step := replay.Step{What: m.what, Node: nodes.ID(m.node)}
		switch m.what {
		case replay.StepDrop, replay.StepDuplicate, replay.StepTick:
		default:
			o = &w.react(state[m.node], w.stimulus(m))[m.outcome]
			step.Choosing, step.Crashing = o.choices, o.after
		}
		switch m.what {
		case replay.StepDeliver, replay.StepDrop, replay.StepDuplicate:
			p := w.flights[m.which&flightMask]
			step.From, step.To, step.Instance = p.From, p.To, p.Instance
			step.Kind = s.parts.stack.Codec().Name(int(p.Kind))
			step.Nth = stage.Place(&p.Flight)
		case replay.StepTimeout:
			t := w.known[state[m.node]].timers[m.which]
			step.Timer, step.Instance = t.Timer, t.Instance
			if t.Instance == 0 { // the only one whose row a schedule names
				step.Named = out.Spec.TimerName(out.Config, step.Node, t.Timer.Kind)
			}
		case replay.StepRequest:
			r, units := requested(stimulus(m.which))
			step.Instance = s.parts.stack.Mutexes()[r]
			if units > 1 {
				step.Units = units
			}
		case replay.StepSuspect, replay.StepTrust:
			step.Peer = nodes.ID(m.which)
		case replay.StepRelease:
			step.Instance = s.parts.stack.Mutexes()[stimulus(m.which)-onRelease]
		}
		out.Steps = append(out.Steps, step)
		if err := stage.Play(step); err != nil {
			return nil, nil, nil, fmt.Errorf("step %d, %v: %w", i+1, step, err)
		}
		if o == nil || o.panics == "" {
			state = w.successor(nil, state, m, o)
		}
	}
	return out, stage, state, nil
}
