package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
	"turnstile/nodes/port"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// A Played is the result of playing a schedule.
type Played struct {
	Stack     *algorithm.Stack // the stack of every node
	History   *history.History
	Story     []string     // for people, one or two lines per step
	Violation *Violation   // nil: there is no violation
	Status    stall.Report // status of the nodes at the end
	Cuts      Cuts         // all cuts: the first is fault 1 of the history
}

// Cuts are cuts between nodes: the sides of each.
type Cuts [][]nodes.Group

// Fault describes a cut, given its number, from 1.
func (c Cuts) Fault(number uint32) string { return "cut " + sayCut(c[number-1]) }

// Sides returns the nodes on each side of a cut, given its number, from 1.
func (c Cuts) Sides(number uint32, _ nodes.ID) (sides [][]nodes.ID) {
	for _, side := range c[number-1] {
		sides = append(sides, side)
	}
	return sides
}

// stepTime is how long a step takes in the history.
const stepTime = int64(time.Millisecond)

// Play plays a schedule until there is a violation. The error names the step that does not apply.
func Play(s *Schedule) (*Played, error) {
	if s.Config.N > mostStaged {
		return nil, fmt.Errorf("%d nodes: a schedule takes up to %d", s.Config.N, mostStaged)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: s.Spec, Config: s.Config})
	if err != nil {
		return nil, err
	}
	g := NewStage(stack, s, func(string) bool { return true })
	for i, step := range s.Steps {
		if step.What != StepStart {
			g.Start()
		}
		if g.found != nil {
			break
		}
		if err := g.Play(step); err != nil {
			where := fmt.Sprintf("step %d", i+1)
			if step.Line > 0 {
				where = fmt.Sprintf("line %d", step.Line)
			}
			return nil, fmt.Errorf("%s, %v: %w", where, step, err)
		}
	}
	g.Start()
	return g.End(), nil
}

// mostStaged bounds the nodes of a schedule, so a typing error does not take all memory.
const mostStaged = 1000

// A Stage is a cluster on which a schedule is played, with its history and story.
type Stage struct {
	cluster
	record
	script
	clock    time.Duration // time that has passed in ticks
	found    *Violation
	looksFor func(check string) bool
	rules    Rules  // rules of the election, if the stack has an elector
	together uint32 // number of ticks for which several nodes have led

	Handled []Handled // the inputs of the current step, or of the latest

	// Of the current input.
	sent    []string  // sent messages, in words
	stopped []stopped // messages lost as they were sent
	entered []nodes.Effect
	elected []nodes.Effect
	set     []RunningTimer
}

// A Handled is an input that a node has handled. Number is that of the message, if it is one.
type Handled struct {
	Node   nodes.ID
	Number uint32
	Input  nodes.Input
}

// stopped is a message that was lost as it was sent.
type stopped struct {
	Flight
	why string // a clause of the story
}

// NewStage returns a stage for a schedule, before any step. looksFor reports whether a check is made.
func NewStage(stack *algorithm.Stack, s *Schedule, looksFor func(check string) bool) *Stage {
	g := &Stage{looksFor: looksFor, rules: RulesOf(stack), cluster: cluster{stack: stack, schedule: s,
		Nodes: make([]stagedNode, stack.Total()), due: map[dueTimer]time.Duration{}}}
	g.Lab = lab.New(stack, workload.Account, g.add)
	rt := nodes.NewRuntime(stack.Stack, g, g.choose)
	rt.TellBetween(g.between)
	for id := range g.Nodes {
		a := &g.Nodes[id]
		rt.Process(&a.Process, nodes.ID(id))
		a.Belief.Crash()
	}
	g.Lab.Mark(history.Began, 0)
	g.Lab.Mark(history.Measuring, 0)
	if s.Reordering {
		g.Lab.Break(nodes.FIFO)
	}
	g.Lab.Break(s.Timing.Breaks())
	if s.NoDetector {
		g.Lab.Break(nodes.EventualDetector)
	}
	return g
}

// Start starts the nodes that no step has started.
func (g *Stage) Start() {
	for id := range g.Nodes {
		if !g.Nodes[id].started {
			g.tell("%s starts", g.name(nodes.ID(id)))
			before := len(g.Flying)
			g.boot(nodes.ID(id))
			if len(g.Flying) == before && g.found == nil {
				g.untell() // there is nothing to tell
			}
		}
	}
}

func (g *Stage) boot(id nodes.ID) {
	g.Nodes[id].started = true
	g.Handled = append(g.Handled, Handled{Node: id, Input: nodes.Input{Kind: nodes.Start}})
	g.have(id, func(p *nodes.Process) { p.Boot() })
}

// Play performs a step. The error says why it does not apply.
func (g *Stage) Play(s Step) error {
	g.now += stepTime
	g.Handled = nil
	g.answers, g.refused, g.after = s.Choosing, false, s.Crashing
	if err := g.check(s); err != nil {
		return err
	}
	switch err := g.do(s); {
	case err != nil && s.Try:
		return nil
	case err != nil:
		return err
	case g.refused || len(g.answers) > 0:
		return fmt.Errorf("the machine does not choose so: check the answers after choosing")
	case g.after > 0 && g.found == nil:
		return fmt.Errorf("the node saves or sends at most %d times in this step: choose an earlier crash", g.after)
	}
	return nil
}

func (g *Stage) do(s Step) error {
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate:
		return g.transmit(s)
	case StepTick:
		return g.tick()
	case StepCut:
		g.part(s.Sides)
		return nil
	case StepHeal:
		return g.heal()
	case stepIn:
		return g.in(s)
	case stepNone:
		return g.none(s)
	case stepLeads:
		return g.leads(s)
	case stepBelieves:
		return g.believes(s)
	case StepRest:
		return g.rest()
	}
	return g.act(s)
}

// transmit performs a step about a message.
func (g *Stage) transmit(s Step) error {
	at, first := g.find(s)
	link := fmt.Sprintf("from node %d to node %d", s.From, s.To)
	switch {
	case at < 0 && first == "":
		return fmt.Errorf("no message is on its way %s", link)
	case at < 0:
		return fmt.Errorf("no such %s is on its way %s; the next message is a %s", s.Kind, link, first)
	case s.What == StepDeliver && !g.schedule.Reordering && (first != s.Kind || s.Nth > 1):
		return fmt.Errorf("the next message %s is a %s, and messages of a link arrive in order", link, first)
	}
	switch f := g.Flying[at]; {
	case s.What == StepDuplicate:
		g.tell("the network copies %s", g.describe(f))
		g.Flying = slices.Insert(g.Flying, at+1, f)
		g.Lab.Copy(f.To, f.Instance, 1)
		g.Lab.Break(nodes.NoDuplication)
	case s.What == StepDrop:
		g.tell("the network loses %s", g.describe(f))
		g.Flying = slices.Delete(g.Flying, at, at+1)
		g.lose(f)
		g.Lab.Break(nodes.NoLoss)
		g.look()
		g.checkLeaders()
	case g.paused(f.To):
		return errPaused
	case !f.Open():
		return fmt.Errorf("it is not due yet: the earliest is %s later", ticks(f.Opens))
	default:
		g.deliver(at)
	}
	return nil
}

// deliver delivers a message.
func (g *Stage) deliver(at int) {
	f := g.Flying[at]
	g.Flying = slices.Delete(g.Flying, at, at+1)
	g.note(f, history.MessageRecord{Node: f.To, Peer: f.From})
	g.Lab.Deliver(f.To, f.Instance, f.Kind)
	g.tell("%s gets %s from %s", g.name(f.To), g.kind(f), g.name(f.From))
	g.feed(f.To, nodes.Input{Kind: nodes.Receive, Instance: f.Instance, From: f.From, Message: f.Message})
	g.Handled[len(g.Handled)-1].Number = f.Number
}

// act performs a step about a node.
func (g *Stage) act(s Step) error {
	a := &g.Nodes[s.Node]
	switch s.What {
	case StepStart:
		if a.started {
			return fmt.Errorf("it has started already")
		}
		g.tell("%s starts", g.name(s.Node))
		g.boot(s.Node)
		return nil
	case StepRestart, StepAmnesia:
		if a.Process.Up() {
			return fmt.Errorf("it is not down")
		}
		g.restart(s.Node, s.What == StepAmnesia)
		return nil
	}
	switch {
	case !a.Process.Up():
		return fmt.Errorf("it is down")
	case s.What == StepCrash:
		g.crash(s.Node)
		return nil
	case s.What == StepPause || s.What == StepResume:
		return g.stand(s.Node, s.What == StepPause)
	case a.Paused:
		return errPaused
	case s.What == StepTimeout:
		return g.timeout(s)
	case s.What == StepSuspect || s.What == StepTrust:
		return g.hear(s)
	case int(s.Node) >= g.stack.N():
		return fmt.Errorf("it is a server, and has no client")
	case int(s.Instance) >= len(g.stack.Instances()):
		return fmt.Errorf("there is no instance %d", s.Instance)
	case s.What == StepCampaign:
		return g.campaign(s)
	case !slices.Contains(g.stack.Mutexes(), s.Instance):
		return fmt.Errorf("instance %d has no client", s.Instance)
	case s.What == StepRequest:
		return g.request(s)
	}
	return g.release(s)
}

// errPaused says that a step needs a node that is paused.
var errPaused = errors.New("it is paused: resume it first")

// stand pauses a node, or has it go on.
func (g *Stage) stand(id nodes.ID, pauses bool) error {
	a := &g.Nodes[id]
	switch {
	case pauses && a.Paused:
		return errors.New("it is paused already")
	case !pauses && !a.Paused:
		return errors.New("it is not paused")
	}
	a.Paused = pauses
	what := history.Event{Kind: history.Resumed, Count: uint32(id), Node: nodes.None}
	if pauses {
		what.Kind = history.Paused
		g.Lab.Break(nodes.NoPause | nodes.Timing)
		g.tell("%s is paused", g.name(id))
	} else {
		g.tell("%s goes on", g.name(id))
	}
	g.add(what)
	g.checkLeaders()
	return nil
}

// part begins a cut, and ends the one in force. In the history a cut is a fault.
func (g *Stage) part(sides []nodes.Group) {
	if g.Cut != nil {
		g.heal() // it has no error, since a cut is in force
	}
	g.tell("messages between the sides %s are lost from here on", sayCut(sides))
	g.Cut, g.Cuts = sides, append(slices.Clip(g.Cuts), sides)
	g.add(history.FaultEvent(port.FaultEvent{Number: len(g.Cuts), Victim: nodes.None}))
}

// heal ends the cut in force.
func (g *Stage) heal() error {
	if g.Cut == nil {
		return errors.New("no cut is in force")
	}
	g.tell("the cut is over")
	g.Cut = nil
	g.add(history.FaultEvent(port.FaultEvent{Number: len(g.Cuts), Healed: true}))
	return nil
}

func (g *Stage) request(s Step) error {
	if state := g.Nodes[s.Node].Process.Client(s.Instance); state != nodes.Idle {
		return fmt.Errorf("its client is %v, and asks only when idle", state)
	}
	units := max(1, s.Units)
	if capacity := g.stack.Instances()[s.Instance].Config.Capacity(); units > capacity {
		return fmt.Errorf("it asks for %d units, and the resource has %d", units, capacity)
	}
	g.Lab.Request(s.Node, s.Instance, g.now, int32(units))
	g.tell("%s asks", g.name(s.Node))
	noted := len(g.trace)
	g.feed(s.Node, nodes.Input{Kind: nodes.Request, Instance: s.Instance, Units: int32(units)})
	g.noteAsks(s, noted)
	return nil
}

func (g *Stage) release(s Step) error {
	a := &g.Nodes[s.Node]
	if c := a.Process.Client(s.Instance); c != nodes.Inside {
		return fmt.Errorf("its client is %v, and leaves only when inside", c)
	}
	now, read := g.Lab.Account(s.Node, s.Instance)
	refused := g.Lab.Exit(&a.Process, s.Instance)
	says := ""
	switch {
	case refused:
		says = ", and what it wrote is refused"
	case g.schedule.UntilLost:
		says = fmt.Sprintf(" and writes %d", read+1)
	}
	g.tell("%s leaves%s", g.name(s.Node), says)
	g.feed(s.Node, nodes.Input{Kind: nodes.Release, Instance: s.Instance})
	if g.schedule.UntilLost && !refused && now != read {
		g.violate(CheckExclusion, fmt.Sprintf("AN UPDATE IS LOST: node %d had read %d, and wrote %d over %d",
			s.Node, read, read+1, now))
	}
	return nil
}

// A script has the choices and the crash that the current step prescribes.
type script struct {
	answers []int // answers for Choose, not used yet
	refused bool  // an answer was out of range
	chose   bool  // Choose was called
	after   int   // the node crashes after so many saves and messages of the step; 0: no crash is left
}

// choose answers Choose with the next answer of the step, or 0.
func (s *script) choose(_ nodes.ID, _ int32, n int) int {
	s.chose = true
	if len(s.answers) == 0 {
		return 0
	}
	x := s.answers[0]
	s.answers = s.answers[1:]
	if x < 0 || x >= n {
		s.refused = true
		return 0
	}
	return x
}

// between crashes a node in the middle of a step, as the step prescribes.
func (s *script) between(p *nodes.Process, done int) {
	if done == s.after {
		s.after = 0
		p.Crash()
	}
}

// crash takes a node down. Messages on their way to it are lost.
func (g *Stage) crash(id nodes.ID) {
	a := &g.Nodes[id]
	if a.Process.Up() {
		g.tell("%s crashes", g.name(id))
	} else {
		g.tell("%s crashes before it has done the rest", g.name(id))
	}
	g.Lab.Crash(&a.Process)
	a.Process.Crash()
	a.Timers, a.Suspects, a.heard, a.Paused = nil, nodes.Set{}, 0, false
	a.Belief.Crash()
	g.Flying = slices.DeleteFunc(g.Flying, func(f Flight) bool {
		if f.To == id {
			g.lose(f)
		}
		return f.To == id
	})
	g.look()
	g.checkLeaders()
}

// restart brings a node up again.
func (g *Stage) restart(id nodes.ID, amnesia bool) {
	p := &g.Nodes[id].Process
	if g.Lab.Restart(p, amnesia) {
		g.tell("%s comes up again, having forgotten everything", g.name(id))
	} else {
		g.tell("%s comes up again", g.name(id))
	}
	g.Handled = append(g.Handled, Handled{Node: id, Input: nodes.Input{Kind: nodes.Recover}})
	g.have(id, func(p *nodes.Process) { p.Restart(amnesia) })
}

// inputs reports whether a step is an input of a node, which may crash in the middle of it.
func (k StepKind) inputs() bool {
	switch k {
	case StepRequest, StepRelease, StepDeliver, StepTimeout, StepRestart, StepAmnesia, StepSuspect, StepTrust,
		StepCampaign:
		return true
	}
	return false
}

// campaign tells a node to campaign.
func (g *Stage) campaign(s Step) error {
	p := &g.Nodes[s.Node].Process
	if _, elects := p.Machine(s.Instance).(nodes.Elector); !elects {
		return fmt.Errorf("%s elects no leaders", g.stack.Instances()[s.Instance].Name)
	}
	g.Lab.Campaign(s.Node, s.Instance)
	g.tell("%s is to campaign", g.name(s.Node))
	if s.Instance == 0 {
		g.Nodes[s.Node].Belief.TakesPart = true
	}
	g.feed(s.Node, nodes.Input{Kind: nodes.Campaign, Instance: s.Instance})
	return nil
}

// checkLeaders checks that not too many nodes lead.
func (g *Stage) checkLeaders() {
	if !g.rules.Elects {
		return
	}
	e := g.electorate()
	if e.Leading() < 2 {
		g.together = 0
		return
	}
	if says := g.rules.TooMany(e, g.silent(), g.schedule.Timing, g.together); says != "" {
		g.Lab.Observe(nodes.None, history.Together)
		g.violate(CheckLeaders, says)
	}
}

// settle checks that nodes agree when no event is left.
func (g *Stage) settle() {
	if e := g.electorate(); g.rules.Elects && e.Disagree() && g.found == nil {
		g.Lab.Observe(nodes.None, history.Endless)
		g.violate(CheckAgreement, "nothing is left to happen, and not all agree: "+saysBeliefs(e))
	}
}

// violate records a violation of a check, if the stage makes that check.
func (g *Stage) violate(check, says string) {
	if g.found == nil && g.looksFor(check) {
		g.found = &Violation{Check: check, Says: says}
		g.tell("%s", says)
	}
}

// hear performs a step of a failure detector. The error says why it does not apply.
func (g *Stage) hear(s Step) error {
	a, peer := &g.Nodes[s.Node], &g.Nodes[s.Peer].Process
	suspects := s.What == StepSuspect
	switch {
	case !a.Process.Listens():
		return fmt.Errorf("%s listens to no failure detector", g.name(s.Node))
	case s.Node == s.Peer:
		return fmt.Errorf("no node suspects itself")
	case suspects && a.Suspects.Has(s.Peer):
		return fmt.Errorf("%s suspects %s already", g.name(s.Node), g.name(s.Peer))
	case !suspects && !a.Suspects.Has(s.Peer):
		return fmt.Errorf("%s does not suspect %s", g.name(s.Node), g.name(s.Peer))
	case !suspects && !peer.Up():
		return fmt.Errorf("%s is down, and stays suspected", g.name(s.Peer))
	}
	in := nodes.Input{Kind: nodes.Trust, From: s.Peer}
	if suspects {
		in.Kind = nodes.Suspect
		a.Suspects.Add(s.Peer)
	} else {
		a.Suspects.Remove(s.Peer)
	}
	g.suspect(s.Node, s.Peer, 0, suspects)
	g.feed(s.Node, in)
	return nil
}

// suspect records, also in the story, that the failure detector of a node suspects or trusts another.
func (g *Stage) suspect(by, of nodes.ID, instance int32, suspects bool) {
	says := fmt.Sprintf("%s trusts %s again", g.name(by), g.name(of))
	if suspects {
		says = fmt.Sprintf("%s suspects %s", g.name(by), g.name(of))
		if of >= 0 && int(of) < len(g.Nodes) && g.Nodes[of].Process.Up() {
			g.Lab.Break(nodes.PerfectDetector)
			says += ", which is up"
		}
	}
	g.Lab.Suspect(by, of, instance, suspects)
	g.tell("%s", says)
}

// mayPass says what must happen before a tick can pass; nil: nothing.
func (g *Stage) mayPass() error {
	if g.schedule.Timing == nil {
		return errors.New("time does not count here: " +
			"add a line such as timing 1ms uniform:1ms,2ms above the steps")
	}
	for i := range g.Flying {
		if f := &g.Flying[i]; f.Due() && !g.paused(f.To) {
			return fmt.Errorf("%s has to arrive first", g.describe(*f))
		}
	}
	for id := range g.Nodes {
		for _, a := range g.Nodes[id].Timers {
			if a.Due() && !g.Nodes[id].Paused {
				return fmt.Errorf("timer %s of %s has to run out first", g.SayTimer(nodes.ID(id), a),
					g.name(nodes.ID(id)))
			}
		}
	}
	return nil
}

// tick lets a tick pass. The error says what must happen first.
func (g *Stage) tick() error {
	if err := g.mayPass(); err != nil {
		return err
	}
	for i := range g.Flying {
		g.Flying[i].Window = g.Flying[i].Later()
	}
	for id := range g.Nodes {
		g.Nodes[id].Timers = g.schedule.Timing.Later(g.Nodes[id].Timers)
	}
	const passing = "time goes on to "
	if last := len(g.Story) - 1; last >= 0 && strings.HasPrefix(g.Story[last], passing) {
		g.untell()
	}
	g.clock += g.schedule.Timing.Tick
	g.together++
	g.tell(passing+"%v", g.clock)
	g.checkLeaders()
	return nil
}

// timeout has a timer run out.
func (g *Stage) timeout(s Step) error {
	for _, a := range g.Nodes[s.Node].Timers {
		if a.Timer != s.Timer || a.Instance != s.Instance {
			continue
		}
		if !a.Open() {
			return fmt.Errorf("it does not run out yet: the earliest is %s later", ticks(a.Opens))
		}
		g.runOut(s.Node, a)
		return nil
	}
	return fmt.Errorf("that timer does not run")
}

func (g *Stage) runOut(id nodes.ID, t RunningTimer) {
	g.tell("%s: timer %s runs out", g.name(id), g.SayTimer(id, t))
	g.feed(id, nodes.Input{Kind: nodes.Timeout, Instance: t.Instance, Timer: t.Timer, Gen: t.Gen})
}

func ticks(n int64) string {
	if n == 1 {
		return "1 tick"
	}
	return fmt.Sprintf("%d ticks", n)
}

// mostRest is how many moves a rest takes at most.
const mostRest = 10_000

// rest runs the cluster until no event is left: messages arrive in the order in which they were sent; without
// messages, clients that are inside leave; without those, failure detectors correct their suspicions; and
// then timers run out, in the order of the least times that they were set for, as if all else took no time.
// An election is over when all agree.
//
// If a rest comes back to a state by forced moves alone, it would go on for ever: nodes that do not agree
// then never will.
func (g *Stage) rest() error {
	since := map[string]bool{} // the states since the last move that was not forced
	for range mostRest {
		if g.found != nil || g.resting() {
			return nil
		}
		if g.chose || !g.forced() {
			clear(since)
		}
		state := g.state()
		if since[state] && g.rules.Elects {
			g.Lab.Observe(nodes.None, history.Endless)
			g.violate(CheckAgreement, "one message goes round for ever, and not all agree: "+
				saysBeliefs(g.electorate()))
			return nil
		}
		since[state], g.chose = true, false
		if !g.advance() {
			return nil
		}
	}
	return fmt.Errorf("nothing comes to rest within %d moves", mostRest)
}

// advance makes the next move of a rest, and reports whether there was one.
func (g *Stage) advance() bool {
	g.now += stepTime
	if at := slices.IndexFunc(g.Flying, func(f Flight) bool { return f.Open() && !g.paused(f.To) }); at >= 0 {
		g.deliver(at)
		return true
	}
	for _, instance := range g.stack.Mutexes() {
		for _, id := range slices.DeleteFunc(g.clients(instance, nodes.Inside), g.paused) {
			return g.release(Step{Node: id, Instance: instance}) == nil
		}
	}
	if s, left := g.untold(); left {
		return g.hear(s) == nil
	}
	if id, t, left := g.nextTimer(); left {
		g.rested = max(g.rested, g.due[dueTimer{id, t.Instance, t.Gen}])
		g.runOut(id, t)
		return true
	}
	return g.schedule.Timing != nil && !g.stuck() && g.tick() == nil
}

// Status returns the status of the nodes, and who waits for whom.
func (g *Stage) Status() stall.Report {
	status := make([]*nodes.NodeStatus, len(g.Nodes))
	for id := range g.Nodes {
		if p := &g.Nodes[id].Process; p.Up() {
			status[id] = p.Status(0)
		}
	}
	return stall.Of(status, g.stack.N())
}

// End ends the play, and returns its result.
func (g *Stage) End() *Played {
	r := &Played{Stack: g.stack, Story: g.Story, Violation: g.found, Status: g.Status(), Cuts: g.Cuts}
	waiting := g.anywhere(nodes.Waiting)
	g.now += stepTime
	g.Lab.Mark(history.Stopped, 0)
	switch {
	case g.stuck() && len(waiting) > 0:
		g.Lab.Mark(history.Stalled, 0)
		if r.Violation == nil {
			r.Violation = &Violation{Check: CheckDeadlock, Stall: r.Status.String(),
				Says: "nothing is left to happen, and " + who(waiting, "waits", "wait")}
			r.Story = append(r.Story, r.Violation.Says)
		}
	case g.stuck():
		g.Lab.Mark(history.Rested, 0)
		before := len(g.Story)
		g.settle()
		r.Story, r.Violation = append(r.Story, g.Story[before:]...), g.found
	default:
		g.Lab.Mark(history.Interrupted, 0)
	}
	r.History = &history.History{Events: g.Events, Logs: g.Lab.Logs(slices.Values(g.trace))}
	return r
}
