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
	"turnstile/nodes/algorithm"
	"turnstile/nodes/leading"
)

// A cluster is the nodes on a stage, and the messages between them.
type cluster struct {
	stack    *algorithm.Stack
	schedule *Schedule
	Nodes    []stagedNode
	Flying   []Flight                   // in the order sent, each copy after its original
	rested   time.Duration              // the clock of rests: latest due time of a timer that ran out in a rest
	due      map[dueTimer]time.Duration // when timers run out at the earliest, by the clock of rests
	Cut      []nodes.Group              // the sides of the cut in force; nil: no cut is
	Cuts     Cuts                       // all cuts so far
}

// A stagedNode is a node of the stage.
type stagedNode struct {
	Process  nodes.Process
	started  bool
	Paused   bool
	Timers   []RunningTimer
	Suspects nodes.Set
	heard    uint8 // bit i: this node has heard from node i in this life; for i below mostSecluded
	Belief   leading.Belief
}

// A Flight is a message on its way.
type Flight struct {
	From, To nodes.ID
	Instance int32
	Kind     uint8
	Number   uint32 // number of the message in the replay, from 1
	Message  nodes.Message
	Window
}

// A dueTimer identifies a timer that was set.
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

// SayTimer returns the name of a timer of a node.
func (c *cluster) SayTimer(id nodes.ID, t RunningTimer) string {
	in := &c.stack.Instances()[t.Instance]
	return in.SayTimer(in.Config, id, t.Timer)
}

// find returns the index in Flying of the message that a step is about, or -1, and the kind of the first
// message on its link.
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

// crowds reports whether as many messages equal to a new one are on their way as the schedule allows.
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

// Place returns the number of a flight among the messages of its link with the same kind, from 1. Among equal
// flights it returns the first.
func (c *cluster) Place(p *Flight) int {
	codec := c.stack.Codec()
	want := codec.Append(nil, int(p.Kind), p.Message)
	at := slices.IndexFunc(c.Flying, func(f Flight) bool {
		return f.From == p.From && f.To == p.To && f.Instance == p.Instance && f.Kind == p.Kind &&
			f.Window == p.Window && bytes.Equal(codec.Append(nil, int(f.Kind), f.Message), want)
	})
	return c.placeOf(&c.Flying[at])
}

// placeOf returns the number of a message on its way among those of its kind on its link, from 1.
func (c *cluster) placeOf(of *Flight) (count int) {
	for i := range c.Flying {
		f := &c.Flying[i]
		if f.From == of.From && f.To == of.To && f.Instance == of.Instance && c.kind(*f) == c.kind(*of) {
			if count++; f == of {
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

// paused reports whether a node is paused.
func (c *cluster) paused(id nodes.ID) bool { return c.Nodes[id].Paused }

// parted reports whether two nodes are on different sides of the cut in force.
func (c *cluster) parted(a, b nodes.ID) bool {
	one, other := SideOf(c.Cut, a), SideOf(c.Cut, b)
	return one >= 0 && other >= 0 && one != other
}

// SideOf returns the index of the side of a cut that a node is on; -1: it is on none.
func SideOf(cut []nodes.Group, id nodes.ID) int {
	return slices.IndexFunc(cut, func(side nodes.Group) bool { return slices.Contains(side, id) })
}

// electorate returns the beliefs of the clients.
func (c *cluster) electorate() (e leading.Electorate) {
	for id := range c.stack.N() {
		a := &c.Nodes[id]
		e = append(e, leading.Voter{Up: a.Process.Up(), Stopped: a.Paused, Belief: &a.Belief})
	}
	return e
}

// timed reports whether a timer runs.
func (c *cluster) timed() bool {
	return slices.ContainsFunc(c.Nodes, func(a stagedNode) bool { return len(a.Timers) > 0 })
}

// silent reports that no message is on its way and no timer runs.
func (c *cluster) silent() bool {
	return len(c.Flying) == 0 && !c.timed()
}

// stuck reports whether only requests and faults can happen. A paused node may resume.
func (c *cluster) stuck() bool {
	if slices.ContainsFunc(c.Nodes, func(a stagedNode) bool { return a.Paused }) {
		return false
	}
	if c.timed() || len(c.Flying) > 0 || len(c.anywhere(nodes.Inside)) > 0 {
		return false
	}
	_, left := c.untold()
	return !left
}

// forced reports whether, except for requests and faults, only the arrival of one message can happen.
func (c *cluster) forced() bool {
	_, left := c.untold()
	return len(c.Flying) == 1 && c.schedule.Timing == nil && !left && !c.timed() &&
		len(c.anywhere(nodes.Inside)) == 0
}

// state encodes all that decides the future: the nodes, and the messages on their way.
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

// resting reports whether a rest is over: no client waits or is inside, the failure detector has nothing to
// say, nodes agree if a leader is to be elected and, unless messages circulate, none is on its way.
func (c *cluster) resting() bool {
	if _, left := c.untold(); left || c.stack.Elects() && c.electorate().Disagree() {
		return false
	}
	return len(c.anywhere(nodes.Waiting)) == 0 && len(c.anywhere(nodes.Inside)) == 0 &&
		(len(c.Flying) == 0 || c.schedule.Spec.Circulates)
}

// untold returns the step of a failure detector whose suspicions are wrong, if there is one: its node does
// not suspect a node that is down, or suspects one that is up.
func (c *cluster) untold() (s Step, left bool) {
	if c.schedule.NoDetector {
		return Step{}, false
	}
	for by := range c.Nodes {
		a := &c.Nodes[by]
		if !a.Process.Up() || a.Paused || !a.Process.Listens() {
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

// nextTimer returns the timer that is due first, and its node. Among equals, the first node wins.
func (c *cluster) nextTimer() (next nodes.ID, timer RunningTimer, found bool) {
	var least time.Duration
	for id := range c.Nodes {
		if c.Nodes[id].Paused {
			continue
		}
		for _, t := range c.Nodes[id].Timers {
			due := c.due[dueTimer{nodes.ID(id), t.Instance, t.Gen}]
			if t.Open() && (!found || due < least) {
				next, timer, found, least = nodes.ID(id), t, true, due
			}
		}
	}
	return next, timer, found
}

// check checks that the nodes and the kind of message in a step exist.
func (c *cluster) check(s Step) error {
	all := append([]nodes.ID{s.Node, s.From, s.To}, s.Who...) // nodes that the step does not use are 0
	all = append(all, slices.Concat(s.Sides...)...)
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

// none checks that the message of a step is not on its way.
func (c *cluster) none(s Step) error {
	if at, _ := c.find(s); at >= 0 {
		return fmt.Errorf("there is %s", c.describe(c.Flying[at]))
	}
	return nil
}

// electing returns an error if instance 0 is not an elector, or a step is about another instance.
func (c *cluster) electing(s Step) error {
	if !c.stack.Elects() || s.Instance != 0 {
		return errors.New("it elects no leaders")
	}
	return nil
}

// leads checks that exactly the nodes that a step names lead.
func (c *cluster) leads(s Step) error {
	if err := c.electing(s); err != nil {
		return err
	}
	return same(c.electorate().Leaders(), s.Who, "nobody leads", "the leader is %s")
}

// believes checks which leader a node has declared.
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

// same returns an error unless the two lists of nodes are equal. The error has the text nobody if the
// first list is empty; otherwise it has the format which, filled in with the first list.
func same(are, named []nodes.ID, nobody, which string) error {
	switch {
	case slices.Equal(are, named):
		return nil
	case len(are) == 0:
		return errors.New(nobody)
	}
	return fmt.Errorf(which, list(are))
}
