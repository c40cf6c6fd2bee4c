package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/leading"
	"turnstile/nodes/row"
)

// A cluster is the nodes on a stage, and the messages between them.
type cluster struct {
	stack    *row.Stack
	schedule *Schedule
	Nodes    []stagedNode
	Flying   []Flight                   // in the order sent, each copy after its original
	rested   time.Duration              // that timers have taken which ran out in rests
	due      map[dueTimer]time.Duration // when timers run out at the earliest, by rested
}

// A stagedNode is a node of the stage.
type stagedNode struct {
	Process  nodes.Process
	started  bool
	Timers   []RunningTimer
	Suspects nodes.Set
	heard    uint8 // from which it has heard in this life, as far as they are few
	Belief   leading.Belief
}

// A Flight is a message on its way.
type Flight struct {
	From, To nodes.ID
	Instance int32
	Kind     uint8
	Number   uint32 // on a stage: among the messages of the play, from 1
	Message  nodes.Message
	Window
}

// A dueTimer is a timer that was set, on a node, for an instance, as a generation.
type dueTimer struct {
	node     nodes.ID
	instance int32
	gen      uint32
}

func (c *cluster) name(id nodes.ID) string {
	if int(id) >= c.stack.N() {
		return fmt.Sprintf("server %d", id)
	}
	return fmt.Sprintf("node %d", id)
}

// kind returns the name of the kind of a message on its way.
func (c *cluster) kind(f Flight) string { return c.stack.Codec().Name(int(f.Kind)) }

func (c *cluster) describe(f Flight) string {
	article := "a"
	if strings.ContainsAny(c.kind(f)[:1], "aeiou") {
		article = "an"
	}
	return fmt.Sprintf("%s %s from %s to %s", article, c.kind(f), c.name(f.From), c.name(f.To))
}

// sayTimer returns in words which timer of a node one is.
func (c *cluster) sayTimer(id nodes.ID, t RunningTimer) string {
	in := &c.stack.Instances()[t.Instance]
	return in.SayTimer(in.Config, id, t.Timer)
}

// find returns which message on its way a step is about, or -1, and the kind of the first on its link.
func (c *cluster) find(s Step) (at int, first string) {
	count := 0
	for i, f := range c.Flying {
		if f.From != s.From || f.To != s.To {
			continue
		}
		kind := c.kind(f)
		first = cmp.Or(first, kind)
		if kind != s.Kind || f.Instance != s.Instance {
			continue
		}
		if count++; count == max(1, s.Nth) {
			return i, first
		}
	}
	return -1, first
}

// crowds reports whether as many messages like a new one as the schedule allows are on their way.
func (c *cluster) crowds(f Flight) bool {
	if c.schedule.Copies == 0 {
		return false
	}
	codec := c.stack.Codec()
	content := codec.Append(nil, int(f.Kind), f.Message)
	there := 0
	for _, other := range c.Flying {
		if other.From == f.From && other.To == f.To && other.Instance == f.Instance && other.Kind == f.Kind &&
			slices.Equal(codec.Append(nil, int(f.Kind), other.Message), content) {
			there++
		}
	}
	return there >= c.schedule.Copies
}

// Place returns which of the messages of its link with the same name of their kind a flight is, from 1. Of
// equal ones it is the first of its age.
func (c *cluster) Place(p *Flight) (count int) {
	codec := c.stack.Codec()
	want := codec.Append(nil, int(p.Kind), p.Message)
	for _, f := range c.Flying {
		if f.From == p.From && f.To == p.To && f.Instance == p.Instance && c.kind(f) == codec.Name(int(p.Kind)) {
			count++
			if f.Kind == p.Kind && f.Window == p.Window &&
				bytes.Equal(codec.Append(nil, int(f.Kind), f.Message), want) {
				break
			}
		}
	}
	return count
}

// clients returns the nodes whose client of an instance is in a state.
func (c *cluster) clients(instance int32, state nodes.ClientState) (ids []nodes.ID) {
	for id := range nodes.ID(c.stack.N()) {
		if p := &c.Nodes[id].Process; p.Up() && p.Client(instance) == state {
			ids = append(ids, id)
		}
	}
	return ids
}

// anywhere returns the nodes whose client of some instance is in a state.
func (c *cluster) anywhere(state nodes.ClientState) (ids []nodes.ID) {
	for _, instance := range c.stack.Mutexes() {
		ids = append(ids, c.clients(instance, state)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// electorate returns what the clients believe.
func (c *cluster) electorate() (e leading.Electorate) {
	for id := range c.stack.N() {
		e = append(e, leading.Voter{Up: c.Nodes[id].Process.Up(), Belief: &c.Nodes[id].Belief})
	}
	return e
}

// timed reports whether a timer runs.
func (c *cluster) timed() bool {
	return slices.ContainsFunc(c.Nodes, func(a stagedNode) bool { return len(a.Timers) > 0 })
}

// silent reports whether no message is on its way and no timer runs.
func (c *cluster) silent() bool {
	return len(c.Flying) == 0 && !c.timed()
}

// stuck reports whether nothing is left to happen but requests and faults.
func (c *cluster) stuck() bool {
	if c.timed() || len(c.Flying) > 0 || len(c.anywhere(nodes.Inside)) > 0 {
		return false
	}
	_, left := c.untold()
	return !left
}

// forced reports whether the arrival of one message is all that can happen, but for requests and faults.
func (c *cluster) forced() bool {
	_, left := c.untold()
	return len(c.Flying) == 1 && c.schedule.Timing == nil && !left && !c.timed() &&
		len(c.anywhere(nodes.Inside)) == 0
}

// state writes out all that tells what follows: the nodes, and the messages on their way.
func (c *cluster) state() string {
	var b []byte
	for id := range c.Nodes {
		b = c.Nodes[id].Belief.Append(c.Nodes[id].Process.AppendState(b))
	}
	for _, f := range c.Flying {
		b = append(b, byte(f.From), byte(f.To), byte(f.Instance), f.Kind)
		b = c.stack.Codec().Append(b, int(f.Kind), f.Message)
	}
	return string(b)
}

// resting reports whether nobody waits or is inside, the failure detector has told all, nodes agree on a
// leader if they are to and, unless messages circulate, none is on its way.
func (c *cluster) resting() bool {
	if _, left := c.untold(); left || c.stack.Elects() && c.electorate().Disagree() {
		return false
	}
	return len(c.anywhere(nodes.Waiting)) == 0 && len(c.anywhere(nodes.Inside)) == 0 &&
		(len(c.Flying) == 0 || c.schedule.Spec.Circulates)
}

// untold returns what the failure detector of some node has to tell still, if anything is left: whom that is
// down a node does not suspect, or whom it suspects that is up.
func (c *cluster) untold() (s Step, left bool) {
	if c.schedule.NoDetector {
		return Step{}, false
	}
	for by := range c.Nodes {
		a := &c.Nodes[by]
		if !a.Process.Up() || !a.Process.Listens() {
			continue
		}
		for of := range c.Nodes {
			suspected, up := a.Suspects.Has(nodes.ID(of)), c.Nodes[of].Process.Up()
			switch s := (Step{Node: nodes.ID(by), Peer: nodes.ID(of)}); {
			case of == by || suspected != up:
			case up:
				s.What = StepTrust
				return s, true
			default:
				s.What = StepSuspect
				return s, true
			}
		}
	}
	return Step{}, false
}

// nextTimer returns the timer that is due first, of which node; of several the first.
func (c *cluster) nextTimer() (next nodes.ID, timer RunningTimer, found bool) {
	var least time.Duration
	for id := range c.Nodes {
		for _, t := range c.Nodes[id].Timers {
			due := c.due[dueTimer{nodes.ID(id), t.Instance, t.Gen}]
			if t.Open() && (!found || due < least) {
				next, timer, found, least = nodes.ID(id), t, true, due
			}
		}
	}
	return next, timer, found
}

// check checks whether the nodes and the kind of message that a step names exist.
func (c *cluster) check(s Step) error {
	all := append([]nodes.ID{s.Node, s.From, s.To}, s.Who...) // 0 if a step names none
	if s.What != stepBelieves || s.Peer >= 0 {
		all = append(all, s.Peer)
	}
	for _, id := range all {
		if id < 0 || int(id) >= len(c.Nodes) {
			return fmt.Errorf("there is no node %d: they are 0 to %d", id, len(c.Nodes)-1)
		}
	}
	if kinds := c.stack.Codec().Names(); s.Kind != "" && !slices.Contains(kinds, s.Kind) {
		return fmt.Errorf("there is no message of kind %s: there are %s", s.Kind, strings.Join(kinds, ", "))
	}
	return nil
}

// in checks that exactly the clients that a step names are inside.
func (c *cluster) in(s Step) error {
	return same(c.clients(s.Instance, nodes.Inside), s.Who, "nobody is inside", "inside is %s")
}

// none checks that no message such as a step names is on its way.
func (c *cluster) none(s Step) error {
	if at, _ := c.find(s); at >= 0 {
		return fmt.Errorf("there is %s", c.describe(c.Flying[at]))
	}
	return nil
}

// electing returns an error if instance 0 is no elector, or a step is about another.
func (c *cluster) electing(s Step) error {
	if !c.stack.Elects() || s.Instance != 0 {
		return errors.New("it elects no leaders")
	}
	return nil
}

// leads checks that exactly the nodes that a step names say that they lead.
func (c *cluster) leads(s Step) error {
	if err := c.electing(s); err != nil {
		return err
	}
	return same(c.electorate().Leaders(), s.Who, "nobody leads", "the leader is %s")
}

// believes checks whom a node takes for the leader.
func (c *cluster) believes(s Step) error {
	if err := c.electing(s); err != nil {
		return err
	}
	switch a := &c.Nodes[s.Node]; {
	case int(s.Node) >= c.stack.N():
		return errors.New("it is a server, and takes no part")
	case !a.Process.Up():
		return errors.New("it is down")
	case a.Belief.Leader != s.Peer:
		return fmt.Errorf("it %s", saysBelief(s.Node, a.Belief.Leader))
	}
	return nil
}

// same returns an error if the nodes that are something are not exactly those that were named: it says that
// nobody is, or which.
func same(are, named []nodes.ID, nobody, which string) error {
	switch {
	case slices.Equal(are, named):
		return nil
	case len(are) == 0:
		return errors.New(nobody)
	}
	return fmt.Errorf(which, list(are))
}
