package explore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Replayed is what came of playing a schedule.
type Replayed struct {
	History   *history.History
	Stall     string     // the report of a stall, if there was one
	Story     []string   // what happened, for people, in one or two lines per step
	Violation *Violation // nil if there is none; it has no schedule and no story of its own
	Status    string     // of the nodes at the end, and who waits for whom
}

// stepTime is how long a step takes, in a history that is made of steps.
const stepTime = int64(time.Millisecond)

// Replay plays a schedule until there is a violation. The error names the step that does not apply.
func Replay(s *Schedule) (*Replayed, error) {
	if s.Config.N > mostStaged {
		return nil, fmt.Errorf("%d nodes: a schedule takes up to %d", s.Config.N, mostStaged)
	}
	stack, err := nodes.NewStack(nodes.Instance{Spec: s.Spec, Config: s.Config})
	if err != nil {
		return nil, err
	}
	return replay(stack, s, &Options{Checks: Checks()})
}

// replay plays a schedule until there is a violation that is looked for.
func replay(stack *nodes.Stack, s *Schedule, o *Options) (*Replayed, error) {
	g := newStage(stack, s)
	g.o = o
	for i, step := range s.Steps {
		if step.What != StepStart {
			g.start()
		}
		if g.found != nil {
			break
		}
		if err := g.play(step); err != nil {
			where := fmt.Sprintf("step %d", i+1)
			if step.Line > 0 {
				where = fmt.Sprintf("line %d", step.Line)
			}
			return nil, fmt.Errorf("%s, %v: %w", where, step, err)
		}
	}
	g.start()
	return g.end(), nil
}

// mostStaged bounds the nodes of a schedule, so that a typing error does not take all memory.
const mostStaged = 1000

// A stage is the cluster on which a schedule is played.
type stage struct {
	stack     *nodes.Stack
	schedule  *Schedule
	staged    []stagedNode
	resources []stagedResource // by instance
	flying    []flight         // in the order sent, each copy after its original
	now       int64
	clock     time.Duration              // by ticks
	rested    time.Duration              // that timers have taken which ran out in rests
	due       map[dueTimer]time.Duration // when timers run out at the earliest, by rested
	broken    nodes.Assumption
	events    []history.Event
	story     []string
	found     *Violation
	o         *Options // say what is looked for
	passed    []passed // by node
	rules     rules    // of the election, if it is one
	together  uint32   // ticks that have passed while several led

	answers []int // of the current step, that Choose has not used yet
	refused bool  // Choose asked for an answer that does not apply
	chose   bool  // Choose was asked
	after   int   // so many saves and messages of the current step its node crashes; 0: it does not, or has

	// Of the current input.
	sent    []string // in words
	crowded []flight // that were lost behind equal ones
	entered []nodes.Effect
	elected []nodes.Effect
	set     []runningTimer
}

// A stagedResource is what the clients of an instance share.
type stagedResource struct {
	taken   int // units
	account int64
	fence   uint64 // the highest that has entered
}

// A stagedNode is a node of the stage.
type stagedNode struct {
	process  nodes.Process
	started  bool
	timers   []runningTimer
	suspects nodes.Set
	heard    uint8 // from which it has heard in this life, as far as they are few
	belief   belief
	clients  []stagedClient // by instance
	log      *history.NodeLog
}

type stagedClient struct {
	entry  uint32
	inside bool
	money  int64
	fence  uint64
}

// A flight is a message on its way.
type flight struct {
	from, to nodes.ID
	instance int32
	kind     uint8
	message  nodes.Message
	window
}

func newStage(stack *nodes.Stack, s *Schedule) *stage {
	instances := len(stack.Instances())
	g := &stage{stack: stack, schedule: s, o: &Options{}, staged: make([]stagedNode, stack.Total()),
		passed: make([]passed, stack.N()), rules: rulesOf(stack), due: map[dueTimer]time.Duration{},
		resources: make([]stagedResource, instances)}
	rt := nodes.NewRuntime(stack, g, g.choose)
	rt.TellBetween(g.between)
	for id := range g.staged {
		a := &g.staged[id]
		rt.Process(&a.process, nodes.ID(id))
		a.belief.crash()
		a.clients = make([]stagedClient, instances)
		a.log = &history.NodeLog{Node: nodes.ID(id), Instances: make([]history.InstanceTotals, instances)}
		for i := range a.log.Instances {
			a.log.Instances[i].Kinds = make([]history.KindTotals, stack.Codec().Kinds())
		}
	}
	g.mark(history.Began)
	g.mark(history.Measuring)
	if s.Reordering {
		g.broke(nodes.FIFO)
	}
	if s.Timing == nil {
		g.broke(unbounded)
	}
	if s.NoDetector {
		g.broke(nodes.EventualDetector)
	}
	return g
}

// counters returns what an instance of a node has counted.
func (g *stage) counters(id nodes.ID, instance int32) *history.InstanceTotals {
	return &g.staged[id].log.Instances[instance]
}

// choose answers Choose by what the step says, or else by zero.
func (g *stage) choose(_ nodes.ID, _ int32, n int) int {
	g.chose = true
	if len(g.answers) == 0 {
		return 0
	}
	x := g.answers[0]
	g.answers = g.answers[1:]
	if x < 0 || x >= n {
		g.refused = true
		return 0
	}
	return x
}

// start starts the nodes that no step has started.
func (g *stage) start() {
	for id := range g.staged {
		if !g.staged[id].started {
			g.tell("%s starts", g.name(nodes.ID(id)))
			before := len(g.flying)
			g.boot(nodes.ID(id))
			if len(g.flying) == before && g.found == nil {
				g.story = g.story[:len(g.story)-1] // nothing to tell
			}
		}
	}
}

func (g *stage) boot(id nodes.ID) {
	g.staged[id].started = true
	g.have(id, func(p *nodes.Process) { p.Boot() })
}

// play performs a step. The error says why it does not apply.
func (g *stage) play(s Step) error {
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

func (g *stage) do(s Step) error {
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate:
		return g.transmit(s)
	case StepTick:
		return g.tick()
	case StepIn:
		return g.in(s)
	case StepNone:
		return g.none(s)
	case StepLeads:
		return g.leads(s)
	case StepBelieves:
		return g.believes(s)
	case StepRest:
		return g.rest()
	}
	return g.act(s)
}

// find returns which message on its way a step is about, or -1, and the kind of the first on its link.
func (g *stage) find(s Step) (at int, first string) {
	count := 0
	for i, f := range g.flying {
		if f.from != s.From || f.to != s.To {
			continue
		}
		kind := g.kind(f)
		first = cmp.Or(first, kind)
		if kind != s.Kind || f.instance != s.Instance {
			continue
		}
		if count++; count == max(1, s.Nth) {
			return i, first
		}
	}
	return -1, first
}

// transmit performs a step about a message.
func (g *stage) transmit(s Step) error {
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
	switch f := g.flying[at]; {
	case s.What == StepDuplicate:
		g.tell("the network copies %s", g.describe(f))
		g.flying = slices.Insert(g.flying, at+1, f)
		g.counters(f.to, f.instance).Copied++
		g.broke(nodes.NoDuplication)
	case s.What == StepDrop:
		g.tell("the network loses %s", g.describe(f))
		g.flying = slices.Delete(g.flying, at, at+1)
		g.counters(f.to, f.instance).Dropped++
		g.broke(nodes.NoLoss)
		g.passOver(false)
		g.follow()
	case !f.open():
		return fmt.Errorf("it is not due yet: the earliest is %s later", ticks(f.opens))
	default:
		g.deliver(at)
	}
	return nil
}

// deliver delivers a message.
func (g *stage) deliver(at int) {
	f := g.flying[at]
	g.flying = slices.Delete(g.flying, at, at+1)
	g.note(f.to, f.from, f.instance, f.kind, false)
	g.counters(f.to, f.instance).Kinds[f.kind].Delivered++
	g.tell("%s gets %s from %s", g.name(f.to), g.kind(f), g.name(f.from))
	g.feed(f.to, nodes.Input{Kind: nodes.Receive, Instance: f.instance, From: f.from, Message: f.message})
}

// kind returns the name of the kind of a message on its way.
func (g *stage) kind(f flight) string { return g.stack.Codec().Name(int(f.kind)) }

// act performs a step about a node.
func (g *stage) act(s Step) error {
	a := &g.staged[s.Node]
	switch s.What {
	case StepStart:
		if a.started {
			return fmt.Errorf("it has started already")
		}
		g.tell("%s starts", g.name(s.Node))
		g.boot(s.Node)
		return nil
	case StepRestart, StepAmnesia:
		if a.process.Up() {
			return fmt.Errorf("it is not down")
		}
		g.restart(s.Node, s.What == StepAmnesia)
		return nil
	}
	switch {
	case !a.process.Up():
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

func (g *stage) request(s Step) error {
	a := &g.staged[s.Node]
	c := &a.clients[s.Instance]
	if state := a.process.Client(s.Instance); state != nodes.Idle {
		return fmt.Errorf("its client is %v, and asks only when idle", state)
	}
	units := max(1, s.Units)
	if capacity := g.stack.Instances()[s.Instance].Config.Capacity(); units > capacity {
		return fmt.Errorf("it asks for %d units, and the resource has %d", units, capacity)
	}
	c.entry++
	g.counters(s.Node, s.Instance).Requests++
	g.record(s.Node, history.Event{Kind: history.Requested, Entry: c.entry, Value: g.now, Count: uint32(units),
		Instance: uint16(s.Instance)})
	g.tell("%s asks", g.name(s.Node))
	g.feed(s.Node, nodes.Input{Kind: nodes.Request, Instance: s.Instance, Units: int32(units)})
	return nil
}

func (g *stage) release(s Step) error {
	a := &g.staged[s.Node]
	if c := a.process.Client(s.Instance); c != nodes.Inside {
		return fmt.Errorf("its client is %v, and leaves only when inside", c)
	}
	res, c := &g.resources[s.Instance], &a.clients[s.Instance]
	exited, leaves := history.Event{Kind: history.Exited}, "leaves"
	if g.stack.Fenced(s.Instance) && c.fence < res.fence {
		exited.Count, leaves = 1, "leaves, and what it wrote is refused"
	} else {
		res.account = c.money + 1
	}
	g.leave(&a.process, s.Instance, exited)
	g.tell("%s %s", g.name(s.Node), leaves)
	g.feed(s.Node, nodes.Input{Kind: nodes.Release, Instance: s.Instance})
	return nil
}

// leave records that a critical section is over, and how.
func (g *stage) leave(p *nodes.Process, instance int32, how history.Event) {
	res := &g.resources[instance]
	res.taken -= p.Units(instance)
	g.staged[p.ID()].clients[instance].inside = false
	g.counters(p.ID(), instance).Exits++
	how.Entry, how.Value = g.staged[p.ID()].clients[instance].entry, res.account
	how.Instance = uint16(instance)
	g.record(p.ID(), how)
}
