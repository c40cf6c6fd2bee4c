package explore

import (
	"bytes"
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
	Story     []string   // what happened, for people, a line or two a step
	Violation *Violation // nil if no promise was broken; it has neither schedule nor story of its own
	Standings string     // where the nodes stand at the end, and who waits for whom
}

// stepTime is how long a step takes, in a history that is made of steps.
const stepTime = int64(time.Millisecond)

// Replay plays a schedule on nodes of the algorithm spec. The error names the step that does not apply.
func Replay(spec *nodes.Spec, s *Schedule) (*Replayed, error) {
	if spec.Name != s.Algorithm {
		return nil, fmt.Errorf("the schedule is one of %s, and cannot be played by %s", s.Algorithm, spec.Name)
	}
	if err := spec.Validate(s.Config); err != nil {
		return nil, err
	}
	if total := s.Config.N + spec.ServerCount(s.Config); total > mostStaged {
		return nil, fmt.Errorf("%d nodes: a schedule takes up to %d", total, mostStaged)
	}
	g := newStage(spec, s)
	for i, step := range s.Steps {
		if step.What != StepStart {
			g.start()
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

// mostStaged keeps a slip of the pen from asking for more nodes than there is memory.
const mostStaged = 1000

// A stage is where a schedule is played.
type stage struct {
	spec     *nodes.Spec
	schedule *Schedule
	codec    *nodes.Codec
	n        int
	actors   []actor
	flying   []flight // in the order sent, but copies behind their originals
	now      int64
	clock    time.Duration // how far ticks have come
	account  int64
	broken   nodes.Assumption
	journal  []history.Event
	tale     []string
	found    *Violation

	answers []int // of the step at hand, that Choose has not had yet
	short   bool  // it asked for more, or for others
}

// An actor is a node on the stage.
type actor struct {
	node        *nodes.Node // nil before it starts, and while it is down
	started     bool
	incarnation uint32
	saved       nodes.Message
	alarms      []alarm
	entry       uint32
	money       int64
	log         *history.NodeLog
}

// A flight is a message on its way.
type flight struct {
	from, to nodes.ID
	kind     uint8
	message  nodes.Message
	window
}

func newStage(spec *nodes.Spec, s *Schedule) *stage {
	g := &stage{spec: spec, schedule: s, codec: spec.Codec(), n: s.Config.N}
	g.actors = make([]actor, s.Config.N+spec.ServerCount(s.Config))
	for id := range g.actors {
		g.actors[id].log = &history.NodeLog{Node: nodes.ID(id)}
	}
	g.mark(history.Began)
	g.mark(history.Measuring)
	if s.Reordering {
		g.broke(nodes.FIFO)
	}
	if s.Timing == nil {
		g.broke(nodes.Timing)
	}
	return g
}

// choose answers Choose by what the step says, or else by zero.
func (g *stage) choose(n int) int {
	if len(g.answers) == 0 {
		return 0
	}
	x := g.answers[0]
	g.answers = g.answers[1:]
	if x < 0 || x >= n {
		g.short = true
		return 0
	}
	return x
}

// start starts the nodes that no step has started.
func (g *stage) start() {
	for id := range g.actors {
		if !g.actors[id].started {
			g.tell("%s starts", g.name(nodes.ID(id)))
			before := len(g.flying)
			g.up(nodes.ID(id), nodes.Input{Kind: nodes.Start})
			if len(g.flying) == before && g.found == nil {
				g.tale = g.tale[:len(g.tale)-1] // nothing to tell
			}
		}
	}
}

// up makes a node and gives it its first input.
func (g *stage) up(id nodes.ID, in nodes.Input) {
	a := &g.actors[id]
	a.started = true
	part := nodes.Part{Machine: g.spec.Machine(g.schedule.Config, id), Codec: g.codec}
	a.node = nodes.NewNode(id, g.n, a.incarnation, g.choose, part)
	g.feed(id, in)
}

// play does a step. The error says why it does not apply.
func (g *stage) play(s Step) error {
	if g.found != nil && g.found.Check == CheckPanic {
		return fmt.Errorf("nothing comes after a panic")
	}
	g.now += stepTime
	g.answers, g.short = s.Choosing, false
	var err error
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate:
		err = g.transmit(s)
	case StepTick:
		err = g.tick()
	default:
		if s.Node < 0 || int(s.Node) >= len(g.actors) {
			return fmt.Errorf("there is no node %d: they are 0 to %d", s.Node, len(g.actors)-1)
		}
		err = g.act(s)
	}
	if err == nil && (g.short || len(g.answers) > 0) {
		return fmt.Errorf("the machine does not choose so: check what stands behind choosing")
	}
	return err
}

// transmit does a step about a message.
func (g *stage) transmit(s Step) error {
	at, count, first := -1, 0, ""
	for i, f := range g.flying {
		if f.from != s.From || f.to != s.To {
			continue
		}
		kind := g.codec.Name(int(f.kind))
		if first == "" {
			first = kind
		}
		if kind != s.Kind {
			continue
		}
		if count++; count == max(1, s.Nth) {
			at = i
			break
		}
	}
	link := fmt.Sprintf("from node %d to node %d", s.From, s.To)
	switch {
	case at < 0 && first == "":
		return fmt.Errorf("no message is on its way %s", link)
	case at < 0:
		return fmt.Errorf("no such %s is on its way %s; the next message is a %s", s.Kind, link, first)
	case !g.schedule.Reordering && (first != s.Kind || s.Nth > 1):
		return fmt.Errorf("the next message %s is a %s, and none may overtake another", link, first)
	}
	f := g.flying[at]
	switch s.What {
	case StepDeliver:
		if !f.open() {
			return fmt.Errorf("it is not due yet: the earliest is %s later", ticks(f.opens))
		}
	case StepDuplicate:
		g.tell("the network copies %s", g.describe(f))
		g.flying = slices.Insert(g.flying, at+1, f)
		g.actors[f.to].log.Instance(0).Copied++
		g.broke(nodes.NoDuplication)
		return nil
	case StepDrop:
		g.tell("the network loses %s", g.describe(f))
		g.flying = slices.Delete(g.flying, at, at+1)
		g.actors[f.to].log.Instance(0).Dropped++
		g.broke(nodes.NoLoss)
		return nil
	}
	g.flying = slices.Delete(g.flying, at, at+1)
	g.messageRecord(f.to, f.from, f.kind, false)
	g.actors[f.to].log.Instance(0).Kind(f.kind).Delivered++
	g.tell("%s gets %s from %s", g.name(f.to), s.Kind, g.name(f.from))
	g.feed(f.to, nodes.Input{Kind: nodes.Receive, From: f.from, Message: f.message})
	return nil
}

// place returns which of the messages of its link, and of the name of its kind, a packet is, from 1. Of those
// that are equal it is the first of its age.
func (g *stage) place(p *packet) int {
	want, count := nodes.AppendMessage(nil, p.message), 0
	name := g.codec.Name(int(p.kind))
	for _, f := range g.flying {
		if f.from == p.from && f.to == p.to && g.codec.Name(int(f.kind)) == name {
			count++
			if f.kind == p.kind && f.window == p.window && bytes.Equal(nodes.AppendMessage(nil, f.message), want) {
				break
			}
		}
	}
	return count
}

// act does a step about a node.
func (g *stage) act(s Step) error {
	a := &g.actors[s.Node]
	switch s.What {
	case StepStart:
		if a.started {
			return fmt.Errorf("it has started already")
		}
		g.tell("%s starts", g.name(s.Node))
		g.up(s.Node, nodes.Input{Kind: nodes.Start})
		return nil
	case StepRestart, StepAmnesia:
		if a.node != nil {
			return fmt.Errorf("it is not down")
		}
		g.restart(s.Node, s.What == StepAmnesia)
		return nil
	}
	switch {
	case a.node == nil:
		return fmt.Errorf("it is down")
	case s.What == StepCrash:
		g.crash(s.Node)
		return nil
	case s.What == StepTimeout:
		return g.timeout(s)
	case int(s.Node) >= g.n:
		return fmt.Errorf("it is a server, and has no client")
	case s.What == StepRequest:
		return g.request(s.Node)
	}
	return g.release(s.Node)
}

func (g *stage) request(id nodes.ID) error {
	a := &g.actors[id]
	if c := a.node.Client(0); c != nodes.Idle {
		return fmt.Errorf("its client is %v, and asks only when idle", c)
	}
	a.entry++
	a.log.Instance(0).Requests++
	g.record(id, history.Event{Kind: history.Requested, Entry: a.entry, Value: g.now, Count: 1})
	g.tell("%s asks", g.name(id))
	g.feed(id, nodes.Input{Kind: nodes.Request})
	return nil
}

func (g *stage) release(id nodes.ID) error {
	a := &g.actors[id]
	if c := a.node.Client(0); c != nodes.Inside {
		return fmt.Errorf("its client is %v, and leaves only when inside", c)
	}
	g.account = a.money + 1
	a.log.Instance(0).Exits++
	g.record(id, history.Event{Kind: history.Exited, Entry: a.entry, Value: g.account})
	g.tell("%s leaves", g.name(id))
	g.feed(id, nodes.Input{Kind: nodes.Release})
	return nil
}

// crash takes a node down, and with it what is on its way there.
func (g *stage) crash(id nodes.ID) {
	a := &g.actors[id]
	g.tell("%s crashes", g.name(id))
	g.broke(nodes.NoCrash)
	g.record(id, history.Event{Kind: history.Crashed, Entry: a.entry})
	a.node, a.alarms = nil, nil
	g.flying = slices.DeleteFunc(g.flying, func(f flight) bool {
		if f.to == id {
			a.log.Instance(0).Dropped++
		}
		return f.to == id
	})
}

// restart brings a node up again.
func (g *stage) restart(id nodes.ID, amnesia bool) {
	a := &g.actors[id]
	a.incarnation++
	_, recovers := g.spec.Machine(g.schedule.Config, id).(nodes.Recoverer)
	if amnesia || !recovers {
		a.saved = nil
		g.broke(nodes.NoAmnesia)
		g.tell("%s comes up again, having forgotten everything", g.name(id))
	} else {
		g.tell("%s comes up again", g.name(id))
	}
	g.record(id, history.Event{Kind: history.Restarted, Count: a.incarnation})
	g.up(id, nodes.Input{Kind: nodes.Recover, Message: a.saved})
}
