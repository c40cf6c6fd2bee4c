package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullyFourPhaseAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-four-phase", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return newFourPhase(c) },
		Messages: fourPhaseMessages,
		Timers:   fourPhaseTimers,
		Options:  []nodes.Option{answerOption, pollOption, phasesOption},
		// A live node that seems down is left out of an election.
		Safe:       nodes.Timing | nodes.NoPause | nodes.NoLoss,
		Circulates: true, // the coordinator polls
		// The highest node notices that the coordinator is down, and elects twice if others elected meanwhile.
		Grace: func(c nodes.Config) time.Duration { return 2*fourPatience(c) + 8*fourPhaseTime(c) },
	},
	Aliases: []string{"four-phase"}, Family: "complete network",
	Source: "H. Garcia-Molina, Elections in a distributed computing system, IEEE TC C-31(1), 1982, as Temple " +
		"University, CIS 307, Mutual Exclusion and Elections in Distributed Systems (lecture notes) gives it",
	Summary: "A node that no higher one answers halts all lower ones, announces itself to the ones that " +
		"answered, and resumes them; it starts over if other nodes answer than before, and later polls all.",
	// Each coordinator gives way before the next one leads, so leaders do not overlap.
	Elector:   &algorithm.Leadership{Wins: algorithm.HighestWins, Partitions: fourPhasePartitions},
	Published: fourPhaseClaims,
	Faults:    fourPhaseFaults,
}

var phasesOption = nodes.Option{Name: "phases", Default: "sequential",
	Usage:  "whether a node asks the others one after the other, or all at once",
	Values: []string{"sequential", "parallel"},
	Shows: []nodes.Shown{{Value: "parallel", Than: "sequential", Figure: "first leader", Least: 0.2, Most: 0.8,
		Load: "all", For: 6 * time.Second, Faults: []string{"kill: 2-4"}}}}

// fourPhaseTime bounds a phase: in sequence, each dead node costs a wait for its answer.
func fourPhaseTime(c nodes.Config) time.Duration {
	if c.Value(phasesOption) == "parallel" {
		return c.Duration(answerOption)
	}
	return time.Duration(c.N) * c.Duration(answerOption)
}

// fourPhase is Garcia-Molina's bully algorithm as the lecture notes of Temple University give it, with their
// names, and corrected.
//
// Phase 1: a node sends STATUS_POLL to the higher nodes, and gives up if one answers. Phase 2: it sends
// ELECTION to the lower nodes, which stop what they do; ACTIVE is the set of nodes that answer. Phase 3: it
// sends COORDINATOR to the lower nodes. Phase 4: it sends NEW_STATE to the nodes in ACTIVE, which go on. If
// the nodes that answer in phase 3 or 4 are not exactly ACTIVE, it begins again. The coordinator polls all
// nodes, and elects if anything has changed; so a node that comes up again, DOWN, is taken in.
//
// Two never lead at once if every live node answers in time. A leader has asked all higher nodes, and none
// was up. A higher node that comes up later stops the leader in phase 2, and waits for its answer, before it
// leads itself. From then on each election of the lower node ends in phase 1.
//
// The corrections, all needed:
//   - A higher node that answers in phase 1 may not know that the coordinator is down. So each node notices
//     by itself: it elects if it hears nothing of the coordinator for fourPatience. So does a node that
//     waits for the next phase of an election whose elector has died. (Garcia-Molina: Timeout.)
//   - NEW_STATE is answered, or phase 4 would never be complete.
//   - The elector sets its own STATUS and COORDINATOR, or it would never poll.
//   - The poll finds a change if the nodes that answer are not exactly ACTIVE. As printed, it would elect at
//     each poll while any node is down, and overlook a node in ACTIVE that no longer answers.
//   - Poll answers name the coordinator that the sender follows. Otherwise, after a cut too short for the
//     higher coordinator to notice, it finds all in ACTIVE and NORMAL for ever, though some follow another.
//   - Answers name the phase and the election or poll, and COORDINATOR and NEW_STATE name the election: late
//     messages are ignored.
type fourPhase struct {
	wait, period, patience time.Duration
	parallel               bool
	unwatchful             bool // it does not elect when it hears nothing: see bully-four-phase-printed
	printed                bool // it follows the rules as printed: see bully-four-phase-printed

	status      status
	coordinator nodes.ID // in ELECTION: the candidate
	epoch       uint64   // the number of the coordinator's election
	doing       fourStep
	count       uint64 // the number of its latest election or poll, over all its lives
	todo        nodes.Set
	asked       nodes.Set // nodes whose answer is missing
	answers     nodes.Set // nodes that have answered in this phase
	active      nodes.Set // nodes that have answered in phase 2
}

func newFourPhase(c nodes.Config) *fourPhase {
	return &fourPhase{wait: c.Duration(answerOption), period: c.Duration(pollOption), patience: fourPatience(c),
		parallel: c.Value(phasesOption) == "parallel", coordinator: nodes.None}
}

// A fourStep is what a node does on its own: a phase of an election, the poll, or nothing.
type fourStep uint8

const (
	fourIdle fourStep = iota
	fourPhase1
	fourPhase2
	fourPhase3
	fourPhase4
	fourPolls
)

type (
	fourStatusPoll  struct{ Epoch uint64 } // phase 1: are you there?
	fourElection    struct{ Epoch uint64 } // phase 2: stop
	fourCoordinator struct{ Epoch uint64 } // phase 3: the sender coordinates
	fourNewState    struct{ Epoch uint64 } // phase 4: go on
	fourAnswer      struct {
		Epoch  uint64
		Phase  uint8
		Status uint8
	}
	// The coordinator's STATUS_POLL and its answer are kinds of their own, to be counted apart.
	fourPoll       struct{ Epoch uint64 }
	fourPollAnswer struct {
		Epoch       uint64
		Status      uint8
		Coordinator nodes.ID
	}
)

var fourPhaseMessages = []nodes.MessageKind{{Zero: fourStatusPoll{}}, {Zero: fourElection{}},
	{Zero: fourCoordinator{}}, {Zero: fourNewState{}}, {Zero: fourAnswer{}},
	{Zero: fourPoll{}, Heartbeat: true}, {Zero: fourPollAnswer{}, Heartbeat: true}}

// The timers.
var (
	fourDeadline = nodes.Timer{Kind: 0} // answers are due by then
	fourNext     = nodes.Timer{Kind: 1} // the coordinator polls, any other node elects
)

// Start implements nodes.Starter.
func (f *fourPhase) Start(env *nodes.Env) { f.rest(env) }

// Recover implements nodes.Recoverer: the node is DOWN, and elects. It needs no saved state: its elections
// have higher numbers than in its earlier lives.
func (f *fourPhase) Recover(env *nodes.Env, _ nodes.Message) {
	f.count = uint64(env.Incarnation()) << 32
	f.elect(env)
}

// Campaign elects, such as when a request to the coordinator has timed out.
func (f *fourPhase) Campaign(env *nodes.Env) {
	if f.doing == fourIdle || f.doing == fourPolls {
		f.elect(env)
	}
}

// Suspect implements nodes.Suspecter.
func (f *fourPhase) Suspect(env *nodes.Env, peer nodes.ID) {
	if peer == f.coordinator {
		f.Campaign(env)
	}
}

// elect begins phase 1.
func (f *fourPhase) elect(env *nodes.Env) {
	f.count++
	f.begin(env, fourPhase1, between(env.Self()+1, nodes.ID(env.N())))
}

// between returns the nodes whose IDs are at least from and less than to.
func between(from, to nodes.ID) (s nodes.Set) {
	for id := from; id < to; id++ {
		s.Add(id)
	}
	return s
}

// begin starts a step: this node asks each node of others.
func (f *fourPhase) begin(env *nodes.Env, step fourStep, others nodes.Set) {
	f.doing, f.todo = step, others
	f.asked.Clear()
	f.answers.Clear()
	env.StopTimer(fourNext)
	f.ask(env)
}

// ask asks the next node, or in parallel all. If no node is left, the step is over.
func (f *fourPhase) ask(env *nodes.Env) {
	if f.todo.Empty() {
		env.StopTimer(fourDeadline)
		f.finish(env)
		return
	}
	for id := range f.todo.All() {
		f.todo.Remove(id)
		f.asked.Add(id)
		env.Send(id, f.question())
		if !f.parallel {
			break
		}
	}
	if f.printed && f.doing == fourPhase4 { // as printed, phase 4 waits for no answer
		f.asked.Clear()
		f.ask(env)
		return
	}
	env.SetTimer(fourDeadline, f.wait, f.wait)
}

// question returns the message of this step.
func (f *fourPhase) question() nodes.Message {
	switch f.doing {
	case fourPhase1:
		return fourStatusPoll{f.count}
	case fourPhase2:
		return fourElection{f.count}
	case fourPhase3:
		return fourCoordinator{f.count}
	case fourPhase4:
		return fourNewState{f.count}
	}
	return fourPoll{f.count}
}

// finish ends a step, after every node has answered or its time has run out.
func (f *fourPhase) finish(env *nodes.Env) {
	lower := func() nodes.Set { return between(0, env.Self()) }
	switch step := f.doing; {
	case step == fourPhase1:
		f.become(env, statusElection)
		f.begin(env, fourPhase2, lower())
	case step == fourPhase2:
		f.active = f.answers.Clone()
		f.become(env, statusReorganization)
		f.begin(env, fourPhase3, lower())
	case !equal(f.answers, f.active):
		f.elect(env)
	case step == fourPhase3:
		f.begin(env, fourPhase4, f.active.Clone())
	case step == fourPhase4:
		f.become(env, statusNormal)
		f.rest(env)
	default:
		f.rest(env)
	}
}

// equal reports whether two sets have the same members.
func equal(a, b nodes.Set) bool {
	for id := range a.All() {
		if !b.Has(id) {
			return false
		}
	}
	return a.Len() == b.Len()
}

// become sets the status of an elector, which is its own coordinator.
func (f *fourPhase) become(env *nodes.Env, to status) {
	if f.printed {
		return
	}
	f.coordinator, f.epoch = env.Self(), f.count
	f.turn(env, to)
}

// turn sets the status. It reports the leader on entering NORMAL, and no leader on leaving it.
func (f *fourPhase) turn(env *nodes.Env, to status) {
	was := f.status
	f.status = to
	switch {
	case to == was:
	case to == statusNormal:
		env.Elect(f.coordinator, 0)
	case was == statusNormal:
		env.Elect(nodes.None, 0)
	}
}

// rest ends the current step, and sets the timer of the next poll or election.
func (f *fourPhase) rest(env *nodes.Env) {
	f.doing = fourIdle
	env.StopTimer(fourDeadline)
	env.StopTimer(fourNext)
	switch {
	case f.leads(env):
		env.SetTimer(fourNext, f.period, f.period)
	case !f.unwatchful:
		env.SetTimer(fourNext, f.patience, f.patience)
	}
}

func (f *fourPhase) leads(env *nodes.Env) bool {
	return f.status == statusNormal && f.coordinator == env.Self()
}

func (f *fourPhase) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case fourStatusPoll:
		f.answer(env, from, m.Epoch, fourPhase1)
	case fourElection:
		if from == f.coordinator && m.Epoch <= f.epoch {
			return // a late copy
		}
		f.coordinator, f.epoch = from, m.Epoch
		f.heed(env, from, statusElection, fourPhase2)
	case fourCoordinator:
		if f.status == statusElection && f.follows(from, m.Epoch) {
			f.heed(env, from, statusReorganization, fourPhase3)
		}
	case fourNewState:
		if f.status == statusReorganization && f.follows(from, m.Epoch) {
			f.heed(env, from, statusNormal, fourPhase4)
		}
	case fourAnswer:
		if m.Epoch == f.count && fourStep(m.Phase) == f.doing && f.asked.Has(from) {
			f.hear(env, from)
		}
	case fourPoll:
		if from == f.coordinator && f.doing == fourIdle {
			f.rest(env)
		}
		env.Send(from, fourPollAnswer{m.Epoch, uint8(f.status), f.coordinator})
	case fourPollAnswer:
		if m.Epoch == f.count && f.doing == fourPolls && f.asked.Has(from) {
			f.polled(env, from, m)
		}
	default:
		nodes.Unexpected(f, m)
	}
}

// follows reports whether the node takes part in this election.
func (f *fourPhase) follows(elector nodes.ID, epoch uint64) bool {
	return f.coordinator == elector && f.epoch == epoch
}

// heed takes part in a phase of another node's election: it ends this node's own election, and answers.
func (f *fourPhase) heed(env *nodes.Env, elector nodes.ID, to status, phase fourStep) {
	f.turn(env, to)
	f.rest(env)
	if !f.printed || phase != fourPhase4 {
		f.answer(env, elector, f.epoch, phase)
	}
}

func (f *fourPhase) answer(env *nodes.Env, to nodes.ID, epoch uint64, phase fourStep) {
	env.Send(to, fourAnswer{epoch, uint8(phase), uint8(f.status)})
}

// hear takes an answer that was missing.
func (f *fourPhase) hear(env *nodes.Env, from nodes.ID) {
	if f.doing == fourPhase1 {
		f.rest(env) // this node cannot be the coordinator
		return
	}
	f.asked.Remove(from)
	f.answers.Add(from)
	if f.asked.Empty() {
		f.ask(env)
	}
}

// polled takes an answer to the poll.
func (f *fourPhase) polled(env *nodes.Env, from nodes.ID, m fourPollAnswer) {
	if !f.active.Has(from) || status(m.Status) != statusNormal || m.Coordinator != env.Self() {
		f.elect(env)
		return
	}
	f.hear(env, from)
}

// Timeout implements nodes.Timed.
func (f *fourPhase) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t == fourDeadline:
		f.asked.Clear()
		f.ask(env)
	case f.leads(env):
		f.count++
		f.begin(env, fourPolls, env.Peers())
	default:
		f.elect(env)
	}
}

// Standing implements nodes.Standing.
func (f *fourPhase) Standing() string {
	text := f.status.String()
	switch {
	case f.coordinator == nodes.None:
	case f.status == statusElection:
		text += fmt.Sprintf(", for node %d", f.coordinator)
	default:
		text += fmt.Sprintf(", under node %d", f.coordinator)
	}
	if f.doing >= fourPhase1 && f.doing <= fourPhase4 {
		text += fmt.Sprintf("; in phase %d of its own election", f.doing)
	}
	return text
}
