package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Recorder writes what happens in another host as a schedule, so that a stage ends in the same states. The
// host calls it for each input of a node, for each message, and for each fault. Failure detectors that send
// messages are not part of a schedule: only what they say becomes steps. A nil Recorder does nothing.
type Recorder struct {
	schedule Schedule
	stack    *algorithm.Stack // of the host
	alone    *algorithm.Stack // of the schedule: without failure detectors
	flying   []recorded       // messages on their way, in the order of Stage.Flying
	down     nodes.Set
	step     *Step    // the step of the current input; nil: it has no step
	after    []Step   // losses and copies of messages that the current step has sent
	answers  []int    // of Choose, by the machines of the current input, if they belong to no step yet
	done     int      // how many saves and messages of the current step are done
	states   [][]byte // of the nodes at the end; nil: the node was down
	err      error
}

// A recorded is a message on its way.
type recorded struct {
	from, to nodes.ID
	instance int32
	kind     string
	number   uint32
}

// NewRecorder returns a recorder for runs of a stack, or an error if a schedule cannot have its instances.
func NewRecorder(stack *algorithm.Stack) (*Recorder, error) {
	for _, in := range stack.Instances()[1:] {
		if in.Kind != nodes.Detection {
			return nil, fmt.Errorf("a schedule has one algorithm, and %s runs beside it: leave it out", in.Name)
		}
	}
	first := stack.Instances()[0]
	alone, err := algorithm.Assemble(first)
	return &Recorder{stack: stack, alone: alone,
		schedule: Schedule{Spec: first.Algorithm, Config: first.Config}}, err
}

// Close records that nothing happens any more: it takes the states in which the processes are.
func (r *Recorder) Close(processes []nodes.Process) {
	if r == nil {
		return
	}
	for id := range processes {
		r.states = append(r.states, stateOf(&processes[id]))
	}
}

// stateOf returns the state of a process, without its failure detectors.
func stateOf(p *nodes.Process) []byte {
	if !p.Up() {
		return nil
	}
	return p.AppendInstance(nil, 0)
}

// Schedule returns the schedule of all that has happened. The error says what a schedule cannot tell.
func (r *Recorder) Schedule() (*Schedule, error) { return &r.schedule, r.err }

// Check plays the schedule, and returns an error unless it ends in the states in which the processes are.
func (r *Recorder) Check() error {
	s := &r.schedule
	g := NewStage(r.alone, s, func(string) bool { return false })
	for i, step := range s.Steps {
		if err := g.Play(step); err != nil {
			return fmt.Errorf("step %d of the schedule, %v: %w", i+1, step, err)
		}
	}
	for id := range r.states {
		if !bytes.Equal(r.states[id], stateOf(&g.Nodes[id].Process)) {
			return fmt.Errorf("played as a schedule, node %d ends in another state", id)
		}
	}
	return nil
}

// detects reports whether an instance is a failure detector.
func (r *Recorder) detects(instance int32) bool {
	return r.stack.Instances()[instance].Kind == nodes.Detection
}

// Begin records that a node is about to handle an input; number is the number of the message, if it is one.
// forgets says that a node which recovers has lost what it saved.
func (r *Recorder) Begin(p *nodes.Process, in *nodes.Input, number uint32, forgets bool) {
	if r == nil {
		return
	}
	r.step, r.after, r.answers, r.done = nil, nil, nil, 0
	step := Step{Node: p.ID(), Instance: in.Instance}
	switch in.Kind {
	case nodes.Start:
		step.What = StepStart
	case nodes.Recover:
		step.What = StepRestart
		if forgets {
			step.What = StepAmnesia
		}
		r.down.Remove(p.ID())
	case nodes.Suspect, nodes.Trust:
		if !listens(p) {
			return
		}
		step = suspicion(p.ID(), in.From, in.Kind == nodes.Suspect)
	case nodes.Campaign:
		step.What = StepCampaign
	case nodes.Request:
		step.What, step.Units = StepRequest, int(in.Units)
	case nodes.Release:
		step.What = StepRelease
	case nodes.Timeout:
		if !runs(p, in) {
			return // the node ignores a timer that was stopped or set again
		}
		step.What, step.Timer = StepTimeout, in.Timer
		step.Named = r.schedule.Spec.TimerName(r.schedule.Config, step.Node, in.Timer.Kind)
	case nodes.Receive:
		if r.detects(in.Instance) {
			return
		}
		step = r.take(p.ID(), number)
	}
	if !r.detects(in.Instance) {
		r.step = &step
	}
}

// runs reports whether the timer of an input still runs.
func runs(p *nodes.Process, in *nodes.Input) bool {
	for timer, gen := range p.Timers(in.Instance) {
		if timer == in.Timer && gen == in.Gen {
			return true
		}
	}
	return false
}

// listens reports whether the algorithm hears of suspicions.
func listens(p *nodes.Process) bool {
	_, is := p.Machine(0).(nodes.Suspecter)
	return is
}

// suspicion returns the step in which a node suspects or trusts another.
func suspicion(by, of nodes.ID, suspects bool) Step {
	if suspects {
		return Step{What: StepSuspect, Node: by, Peer: of}
	}
	return Step{What: StepTrust, Node: by, Peer: of}
}

// take takes a message off its way, and returns the step in which it arrives.
func (r *Recorder) take(to nodes.ID, number uint32) Step {
	at := slices.IndexFunc(r.flying, func(m recorded) bool { return m.number == number && m.to == to })
	if at < 0 {
		r.fail(fmt.Errorf("message %d came to node %d, and was never sent", number, to))
		return Step{}
	}
	m := r.flying[at]
	step := r.about(StepDeliver, m, r.place(at))
	first := slices.IndexFunc(r.flying, func(o recorded) bool { return o.from == m.from && o.to == m.to })
	r.schedule.Reordering = r.schedule.Reordering || first < at
	r.flying = slices.Delete(r.flying, at, at+1)
	return step
}

// place returns the place of a message among those of its kind on its link, from 1.
func (r *Recorder) place(at int) (nth int) {
	of := r.flying[at]
	for _, m := range r.flying[:at+1] {
		if m.from == of.from && m.to == of.to && m.instance == of.instance && m.kind == of.kind {
			nth++
		}
	}
	return nth
}

// about returns a step about a message.
func (r *Recorder) about(what StepKind, m recorded, nth int) Step {
	return Step{What: what, Node: m.to, From: m.from, To: m.to, Kind: m.kind, Instance: m.instance, Nth: nth}
}

// Choose records an answer of Env.Choose.
func (r *Recorder) Choose(instance int32, answer int) {
	if r != nil && !r.detects(instance) {
		r.answers = append(r.answers, answer)
	}
}

// Send records that a message was sent to a node, of which some copies will arrive; 0: it is lost.
func (r *Recorder) Send(from, to nodes.ID, e *nodes.Effect, number uint32, copies int) {
	if r == nil || r.detects(e.Instance) || r.down.Has(to) {
		return
	}
	codec := r.alone.Codec()
	m := recorded{from, to, e.Instance, codec.Name(codec.KindOf(e.Message)), number}
	r.flying = append(r.flying, m)
	at := len(r.flying) - 1
	if copies == 0 {
		r.after = append(r.after, r.about(StepDrop, m, r.place(at)))
		r.flying = r.flying[:at]
	}
	for range copies - 1 {
		r.after = append(r.after, r.about(StepDuplicate, m, r.place(at)))
		r.flying = append(r.flying, m)
	}
}

// Did records that a save, or a message to one or many nodes, of the current step is done.
func (r *Recorder) Did(instance int32) {
	if r != nil && !r.detects(instance) {
		r.done++
	}
}

// Suspect records what a failure detector that sends messages says in the current input.
func (r *Recorder) Suspect(p *nodes.Process, of nodes.ID, suspects bool) {
	if r == nil || !listens(p) {
		return
	}
	r.flush()
	step := suspicion(p.ID(), of, suspects)
	r.step = &step
}

// End records that the current input is handled.
func (r *Recorder) End() {
	if r != nil {
		r.flush()
	}
}

// flush ends the current step.
func (r *Recorder) flush() {
	if r.step != nil {
		r.step.Choosing, r.answers = r.answers, nil
		r.schedule.Steps = append(r.schedule.Steps, *r.step)
	}
	r.schedule.Steps = append(r.schedule.Steps, r.after...)
	r.step, r.after = nil, nil
}

// Fault records that a node is paused, goes on, or crashes. left says that it crashes in the middle of an
// input, whose other effects are not carried out.
func (r *Recorder) Fault(what StepKind, id nodes.ID, left bool) {
	if r == nil {
		return
	}
	fault := Step{What: what, Node: id}
	if what == StepCrash {
		r.flying = slices.DeleteFunc(r.flying, func(m recorded) bool { return m.to == id })
		r.down.Add(id)
	}
	switch {
	case r.step == nil:
		r.schedule.Steps = append(r.schedule.Steps, fault)
	case !left || what != StepCrash:
		r.after = append(r.after, fault)
	case r.done == 0:
		r.fail(errors.New("a node crashed in the middle of a step before its first message, which a schedule " +
			"cannot say"))
	default:
		r.step.Crashing = r.done
	}
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
