package explore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
)

// A Space is what is explored: every order of deliveries, timers, choices, requests and releases, and every
// placement of the allowed faults.
type Space struct {
	Spec    *algorithm.Algorithm
	Config  nodes.Config
	Beside  []algorithm.Instance // further instances on every node, numbered from 1
	Entries int                  // requests of each client; for an elector, campaigns of each node
	Take    workload.Take        // numbers of units that a request may take: all are tried

	// Campaigns is how often nodes are told to campaign in all; zero: limited by Entries only.
	Campaigns int

	Crashes, Losses, Duplicates int  // how often each may happen at most
	Restarts                    bool // a crashed node may come up again, with what it saved
	Amnesia                     bool // a crashed node may come up again without what it saved
	Suspicions                  int  // how often, in all, nodes may suspect a node that is up
	Reordering                  bool // messages of one link arrive in any order

	// WholeInputs has nodes crash only between inputs. Otherwise they also crash between the effects of one
	// input: earlier saves and messages are done, later ones are not.
	WholeInputs bool

	// Copies is how many equal messages may be on one link, if the algorithm has timers and no Timing is given.
	// A timer may then run out any number of times, so retries would pile up without end. A further message is
	// lost, which breaks NoLoss for an algorithm that needs it. If a message was lost in this way, the search is
	// not exhausted, but bounded by copies. Zero: one, or any number if the algorithm needs NoLoss.
	Copies int

	// Timeouts is how often timers may run out in all, for an algorithm whose timers or terms have no end. If a
	// timer would run out once more, the search is not exhausted, but bounded by timeouts. Zero: any number.
	Timeouts int

	// Timing bounds how long messages and timers take. Nil: a message may arrive and a timer run out at any
	// moment.
	Timing *replay.Timing

	// Checks names the checks; nil: all but fairness and minority, which take more states. Other violations
	// are ignored, but a panic still ends its path.
	Checks []string

	// Demand counts violations outside the model of the algorithm like all others.
	Demand bool

	// Bounds of the search; zero: unbounded.
	Depth  int    // steps from the beginning
	States uint64 // states seen
	Memory uint64 // bytes in use

	Workers int // goroutines; zero: one. The result is the same for any number.

	Interrupt <-chan struct{} // closed to end the exploration at once; nil: never
	Progress  func(Progress)  // called often during the exploration; may be nil
}

// A Progress is the progress of an exploration.
type Progress struct {
	States uint64
	Depth  int
	Bytes  uint64 // memory in use
	Last   bool   // all states are seen; the search for starvation goes on
}

// Limits of an exploration.
const (
	mostExplored = 8 // nodes, servers included
	mostTries    = 100
)

// Validate returns what is wrong with the space, and what would be right.
func (o *Space) Validate() error {
	stack, err := o.stack()
	if err != nil {
		return err
	}
	if err := o.Take.Check(&o.Spec.Spec, o.Config); err != nil {
		return err
	}
	switch {
	case o.Config.Capacity() > mostExplored:
		return fmt.Errorf("%d units: an exploration takes up to %d", o.Config.Capacity(), mostExplored)
	case stack.Total() > mostExplored:
		return fmt.Errorf("%d nodes, servers included: an exploration takes up to %d, and makes sense for up to 4",
			stack.Total(), mostExplored)
	case o.Config.N*len(stack.Mutexes()) > mostExplored:
		return fmt.Errorf("%d clients of %d resources: an exploration takes up to %d in all",
			o.Config.N, len(stack.Mutexes()), mostExplored)
	case o.Entries < 1 || o.Entries > mostTries:
		return fmt.Errorf("%d entries: each client makes 1 to %d", o.Entries, mostTries)
	case (o.Restarts || o.Amnesia) && o.Crashes == 0:
		return errors.New("nodes are to restart, but none may crash: allow at least one crash")
	case o.WholeInputs && o.Crashes == 0:
		return errors.New("nodes are to crash only between inputs, but none may crash: allow at least one crash")
	case o.Depth < 0:
		return fmt.Errorf("a depth of %d: it is at least 1 step; leave it out to go to the end", o.Depth)
	case o.Workers < 0:
		return fmt.Errorf("%d workers: there is at least 1, and 0 is for the default", o.Workers)
	}
	for _, fault := range []struct {
		name string
		most int
	}{{"losses", o.Losses}, {"duplicates", o.Duplicates}, {"crashes", o.Crashes},
		{"suspicions", o.Suspicions}, {"copies", o.Copies}, {"campaigns", o.Campaigns},
		{"timeouts", o.Timeouts}} {
		if fault.most < 0 || fault.most > mostTries {
			return fmt.Errorf("%d %s: there can be 0 to %d", fault.most, fault.name, mostTries)
		}
	}
	if err := o.validateSuspicions(stack); err != nil {
		return err
	}
	if err := o.validateCopies(stack); err != nil {
		return err
	}
	if err := o.validateElection(stack); err != nil {
		return err
	}
	if err := refuseDetectors(stack); err != nil {
		return err
	}
	if err := o.validateChecks(stack); err != nil {
		return err
	}
	if o.Timing != nil {
		return o.Timing.Validate()
	}
	return nil
}

// refuseDetectors returns an error if a failure detector is among the instances. The space would have no
// end, and since timers always run, no state would be a deadlock.
func refuseDetectors(s *algorithm.Stack) error {
	for _, in := range s.Instances() {
		if in.Kind == nodes.Detection {
			return fmt.Errorf("%s sends without end, so an exploration would not end, and find no deadlock: leave it "+
				"out, since an exploration plays the failure detector itself, or simulate the algorithm with it", in.Name)
		}
	}
	return nil
}

// stack returns the stack of every node.
func (o *Space) stack() (*algorithm.Stack, error) {
	return algorithm.Assemble(algorithm.Instance{Algorithm: o.Spec, Config: o.Config}, o.Beside...)
}

// A Violation is a failed check, with a schedule that leads to it.
type Violation struct {
	replay.Violation
	OutsideModel nodes.Assumption // broken assumptions that put it outside the model; 0: inside
	Schedule     *replay.Schedule
	Shortest     bool     // it is proved that no violation has fewer steps
	Story        []string // the story of the schedule, for people
}

// A Result is what an exploration found.
type Result struct {
	Exhausted   bool   // all reachable states were seen
	Bound       string // what ended it otherwise: depth, states, memory, interrupt, violation, copies, timeouts
	States      uint64 // distinct states
	Transitions uint64
	Depth       int    // steps to the state farthest from the beginning
	Entries     uint64 // transitions by which a client enters, or a node becomes leader
	MostTaken   int    // most units of the first resource taken at once, if it has several
	Bytes       uint64 // memory in use
	NodeStates  int    // distinct states of single nodes

	// Progress says that in every state, all waiting clients could still enter. It is known only if the space
	// is exhausted, or bounded by copies only.
	Progress bool

	Violation *Violation // nil: no violation was found
	// Violations outside the model of the algorithm: how many, and the first.
	Outside      uint64
	FirstOutside *Violation
}

// BytesPerState returns how much memory a state took.
func (e *Result) BytesPerState() float64 { return float64(e.Bytes) / float64(max(1, e.States)) }

// Run visits every reachable state, breadth first, and stops at the first violation, which it returns in the
// Result, not as an error.
func Run(o Space) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := newSearch(o)
	if err != nil {
		return nil, err
	}
	s.run()
	return s.result()
}

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
		if x.Violation, err = s.explain(s.worst); err != nil {
			return nil, err
		}
		x.Violation.Shortest = !s.cut
	}
	if s.outside != nil {
		x.FirstOutside, err = s.explain(s.outside)
	}
	return x, err
}

// explain replays a lead, and returns its violation with the story.
func (s *search) explain(l *lead) (*Violation, error) {
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
		v = &replay.Violation{Check: l.check, Stall: r.Status.String(),
			Says: fmt.Sprintf("node %d waits, and can never enter", l.waiter)}
		r.Story = append(r.Story, fmt.Sprintf("from here on, node %d cannot enter any more", l.waiter))
	}
	if l.waiter == forEver {
		v = &replay.Violation{Check: l.check, Says: "not all agree, and they never can"}
		r.Story = append(r.Story, "from here on, not all can agree any more")
	}
	if v == nil || v.Check != l.check || l.check != replay.CheckPanic && !s.same(stage, state) {
		return nil, fmt.Errorf("replaying does not show the %s that exploring has found: "+
			"the machines of %s do not depend on their input alone:\n%v", l.check, s.o.Spec.Name, schedule)
	}
	return &Violation{Violation: *v, OutsideModel: l.needs, Schedule: schedule, Story: r.Story}, nil
}

// same reports whether the nodes of a stage are as in a state, and as many messages are on their way.
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

// play returns the schedule of a lead, the stage on which it was played, and the last state; for a panic, the
// state before. It plays while it makes the schedule, since only the stage tells equal messages apart.
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
			if t.Instance == 0 { // a schedule names only the algorithm of instance 0
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
