package replay

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A Played is what came of playing a schedule.
type Played struct {
	Stack     *row.Stack // of every node
	History   *history.History
	Stall     string     // the report of a stall, if there was one
	Story     []string   // what happened, for people, in one or two lines per step
	Violation *Violation // nil if there is none
	Status    string     // of the nodes at the end, and who waits for whom
}

// stepTime is how long a step takes, in a history that is made of steps.
const stepTime = int64(time.Millisecond)

// Play plays a schedule until there is a violation. The error names the step that does not apply.
func Play(s *Schedule) (*Played, error) {
	if s.Config.N > mostStaged {
		return nil, fmt.Errorf("%d nodes: a schedule takes up to %d", s.Config.N, mostStaged)
	}
	stack, err := row.Assemble(row.Instance{Row: s.Spec, Config: s.Config})
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

// mostStaged bounds the nodes of a schedule, so that a typing error does not take all memory.
const mostStaged = 1000

// A Stage is the cluster on which a schedule is played, and what is told of that.
type Stage struct {
	cluster
	record
	script
	clock    time.Duration // by ticks
	found    *Violation
	looksFor func(check string) bool
	rules    Rules  // of the election, if it is one
	together uint32 // ticks that have passed while several led

	// Of the current input.
	sent    []string // in words
	crowded []Flight // that were lost behind equal ones
	entered []nodes.Effect
	elected []nodes.Effect
	set     []RunningTimer
}

// NewStage returns a stage for a schedule on which nothing has happened yet.
func NewStage(stack *row.Stack, s *Schedule, looksFor func(check string) bool) *Stage {
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
				g.Story = g.Story[:len(g.Story)-1] // nothing to tell
			}
		}
	}
}

func (g *Stage) boot(id nodes.ID) {
	g.Nodes[id].started = true
	g.have(id, func(p *nodes.Process) { p.Boot() })
}

// Play performs a step. The error says why it does not apply.
func (g *Stage) Play(s Step) error {
	g.now += stepTime
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
		return fmt.Errorf("its node does not save or send more than %d times then, so it cannot crash before the "+
			"rest", g.after)
	}
	return nil
}

func (g *Stage) do(s Step) error {
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate:
		return g.transmit(s)
	case StepTick:
		return g.tick()
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
	case !g.schedule.Reordering && (first != s.Kind || s.Nth > 1):
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
		g.follow()
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
	refused := ""
	if g.Lab.Exit(&a.Process, s.Instance) {
		refused = ", and what it wrote is refused"
	}
	g.tell("%s leaves%s", g.name(s.Node), refused)
	g.feed(s.Node, nodes.Input{Kind: nodes.Release, Instance: s.Instance})
	return nil
}
