package play

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/nodes/stall"
)

// A State says how the cluster of a session stands after a number of steps.
type State struct {
	Step      int       `json:"step"`
	Steps     int       `json:"steps"` // how many are known
	Title     string    `json:"title"`
	Algorithm string    `json:"algorithm"`
	Machine   string    `json:"machine"` // package and type of its machine, at node 0
	Kind      string    `json:"kind"`    // mutual exclusion or election
	Film      bool      `json:"film"`    // it was recorded: no step can be taken, and machines have no fields
	Layout    Layout    `json:"layout"`
	Kinds     []Kind    `json:"kinds"` // of messages, by number
	Last      *Taken    `json:"last"`  // nil: before the first step
	Nodes     []Node    `json:"nodes"`
	Flying    []Flying  `json:"flying"` // messages on their way, in the order in which they were sent
	Enabled   []Choice  `json:"enabled"`
	Cut       [][]int   `json:"cut"` // the sides of the cut in force
	Counts    Counts    `json:"counts"`
	Broken    string    `json:"broken"` // assumptions that did not hold, for what is wrong; empty: all held
	Found     *Found    `json:"found"`
	Stuck     string    `json:"stuck"` // a client waits, and nothing can happen; empty: that is not so
	Question  *note     `json:"question"`
	Strip     []Stretch `json:"strip"`
	From      int       `json:"from"` // the first step of Strip
}

// A Kind is a kind of message.
type Kind struct {
	Name   string `json:"name"`
	Token  bool   `json:"token"`  // it carries the privilege
	Permit bool   `json:"permit"` // it permits its receiver to enter
}

// A Taken is the latest step.
type Taken struct {
	Told
	Number uint32 `json:"number"` // of the message that arrived; 0: none did
	Ran    []Ran  `json:"ran"`
}

// A Ran names code that has run.
type Ran struct {
	Node    int    `json:"node"`
	Machine string `json:"machine"` // its package and type
	Method  string `json:"method"`
	Case    string `json:"case"` // the type of the message, or the number of the kind of timer
}

// A Node is how a node stands.
type Node struct {
	ID       int      `json:"id"`
	Server   bool     `json:"server"`
	State    string   `json:"state"` // of its client: idle, waiting, inside; of a server: none
	Up       bool     `json:"up"`
	Paused   bool     `json:"paused"`
	Leads    bool     `json:"leads"`
	Leader   *int     `json:"leader"` // the leader that it has declared; nil: it knows none
	Term     uint64   `json:"term"`
	Token    bool     `json:"token"`
	Fence    uint64   `json:"fence"` // of its latest entry
	Suspects []int    `json:"suspects"`
	WaitsFor []int    `json:"waitsFor"`
	Circle   []int    `json:"circle"` // of nodes that wait for each other, if it is one of them
	Standing string   `json:"standing"`
	Lives    uint32   `json:"incarnation"`
	Side     int      `json:"side"` // of the cut; -1: on none
	Fields   []Field  `json:"fields"`
	Timers   []string `json:"timers"`
}

// A Field is a field of the machine of a node.
type Field struct {
	nodes.Field
	Changed bool `json:"changed"` // in the latest step
}

// A Flying is a message on its way.
type Flying struct {
	Number  uint32 `json:"number"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Kind    int    `json:"kind"`
	Text    string `json:"text"` // its fields
	Deliver string `json:"deliver"`
	Drop    string `json:"drop"`
	Copy    string `json:"copy"`
	Open    bool   `json:"open"`    // it can arrive now
	Blocked string `json:"blocked"` // why it cannot
}

// A Choice is a step that can be taken next.
type Choice struct {
	Step   string `json:"step"`
	Says   string `json:"says"`
	Group  string `json:"group"` // message, client, timer, detector, time or fault
	Node   int    `json:"node"`
	Number uint32 `json:"number"` // of the message; 0: it is about none
}

// Counts are what has happened so far.
type Counts struct {
	Messages uint32 `json:"messages"`
	Entries  int    `json:"entries"`
	Waits    int    `json:"waits"` // clients that wait now
}

// A Found is a broken promise.
type Found struct {
	Check string `json:"check"`
	Says  string `json:"says"`
}

// State returns how the cluster stands.
func (s *Session) State() *State {
	g, first := s.stage, s.stack.Instances()[0]
	status := g.Status()
	o := &State{Step: s.at, Steps: len(s.schedule.Steps), Algorithm: first.Name,
		Kind: nodes.OfKind(kinds, first.Kind), Machine: typeOf(g.Nodes[0].Process.Machine(0)),
		Title:  first.Name + ", " + english.Count(s.stack.N(), "node", "nodes"),
		Layout: layoutOf(s.stack), Kinds: kindsOf(s.stack), Last: s.last(), Flying: s.messages(),
		Cut: [][]int{}, Question: s.question()}
	o.Enabled = s.choices(o.Flying)
	if s.title != "" {
		o.Title = s.title + ": " + o.Title
	}
	const named = 3 // lines of the head: the format, the algorithm and the number of nodes
	for _, line := range strings.Split(strings.TrimSpace(s.head()), "\n")[named:] {
		o.Title += ", " + line
	}
	for _, side := range g.Cut {
		o.Cut = append(o.Cut, ints(side))
	}
	for id := range g.Nodes {
		o.Nodes = append(o.Nodes, s.node(nodes.ID(id), status))
	}
	s.judge(o)
	o.From = max(0, s.at-shownSteps)
	o.Strip, o.Counts = s.strip(o.From)
	o.Counts.Messages = g.Sent()
	return o
}

// judge adds to a state which promise is broken or why nothing can happen, and the assumptions that did not
// hold.
func (s *Session) judge(o *State) {
	if s.stage.Found() == nil && !s.stage.Stuck() {
		return
	}
	played := s.stage.Clone().End()
	v := played.Violation
	if v == nil {
		return
	}
	if s.stage.Found() != nil {
		o.Found = &Found{v.Check, v.Says}
		if handled := s.stage.Handled; v.Check == replay.CheckPanic && len(handled) > 0 {
			o.Found.Says = fmt.Sprintf("node %d panics: %s", handled[len(handled)-1].Node, v.Says)
		}
	} else {
		o.Stuck = v.Says
	}
	verdict := check.Judge(played.History, check.SettingOfReplay(played.Stack))
	if _, broken := verdict.Failed(); broken != 0 {
		o.Broken = broken.Broken(true)
	}
}

func ints(ids []nodes.ID) []int {
	all := make([]int, len(ids))
	for i, id := range ids {
		all[i] = int(id)
	}
	return all
}

// kindsOf returns the kinds of message of a stack, by number.
func kindsOf(stack *algorithm.Stack) (all []Kind) {
	codec := stack.Codec()
	for i := range codec.Kinds() {
		k := codec.Kind(i)
		all = append(all, Kind{codec.Name(i), k.Token, k.Permit})
	}
	return all
}

// idle returns a node that is down and has done nothing.
func idle(id int, stack *algorithm.Stack) Node {
	n := Node{ID: id, Server: id >= stack.N(), State: nodes.Idle.String(), Suspects: []int{}, WaitsFor: []int{},
		Circle: []int{}, Fields: []Field{}, Timers: []string{}, Side: -1}
	if n.Server {
		n.State = "none"
	}
	return n
}

// node returns how a node stands.
func (s *Session) node(id nodes.ID, status stall.Report) Node {
	a := &s.stage.Nodes[id]
	n := idle(int(id), s.stack)
	n.Up, n.Paused, n.Term, n.Lives = a.Process.Up(), a.Paused, a.Belief.Term, a.Process.Incarnation()
	n.Side = replay.SideOf(s.stage.Cut, id)
	for peer := range a.Suspects.All() {
		n.Suspects = append(n.Suspects, int(peer))
	}
	if !n.Server && a.Belief.Leader != nodes.None {
		leader := int(a.Belief.Leader)
		n.Leader, n.Leads = &leader, n.Up && !n.Paused && leader == int(id)
	}
	if !n.Up {
		return n
	}
	is := a.Process.Status(0) // the report leaves out states of a large cluster
	n.State, n.Token, n.Standing = is.Client, is.Token, is.Standing
	for _, w := range status.Waits {
		if w.From == id {
			n.WaitsFor = append(n.WaitsFor, int(w.To))
		}
	}
	if slices.Contains(status.Circle, id) && s.stage.Stuck() { // before that, an answer may be on its way
		n.Circle = ints(status.Circle[1:])
	}
	if res := s.stage.Lab.Resources; len(res) > 0 && !n.Server {
		n.Fence = s.stage.Lab.Client(id, 0).Fence()
	}
	for _, t := range a.Timers {
		n.Timers = append(n.Timers, s.stage.SayTimer(id, t))
	}
	for i, f := range nodes.FieldsOf(a.Process.Machine(0)) {
		changed := s.before != nil && (len(s.before[id]) <= i || s.before[id][i] != f)
		n.Fields = append(n.Fields, Field{f, changed})
	}
	return n
}

// messages returns the messages on their way.
func (s *Session) messages() []Flying {
	all := []Flying{}
	for i := range s.stage.Flying {
		f := &s.stage.Flying[i]
		deliver := s.stage.About(replay.StepDeliver, f)
		drop, duplicate := deliver, deliver
		drop.What, duplicate.What = replay.StepDrop, replay.StepDuplicate
		m := Flying{Number: f.Number, From: int(f.From), To: int(f.To), Kind: int(f.Kind), Text: textOf(f.Message),
			Deliver: deliver.String(), Drop: drop.String(), Copy: duplicate.String(), Blocked: s.stage.Blocked(f)}
		m.Open = m.Blocked == ""
		all = append(all, m)
	}
	return all
}

// textOf writes the fields of a message, as in "clock: 3, id: 1".
func textOf(m nodes.Message) string {
	var words []string
	for _, f := range nodes.FieldsOf(m) {
		words = append(words, f.Name+": "+f.Value)
	}
	return strings.Join(words, ", ")
}

// last returns the latest step.
func (s *Session) last() *Taken {
	if s.at == 0 {
		return nil
	}
	step := s.schedule.Steps[s.at-1]
	t := &Taken{Told: s.tell(s.at - 1), Ran: []Ran{}}
	for _, h := range s.stage.Handled {
		t.Ran = append(t.Ran, s.ran(h))
		if step.What == replay.StepDeliver {
			t.Number = h.Number
		}
	}
	return t
}

// methods are the methods of machines that handle inputs.
var methods = map[nodes.InputKind]string{nodes.Start: "Start", nodes.Recover: "Recover",
	nodes.Receive: "Receive", nodes.Timeout: "Timeout", nodes.Request: "Request", nodes.Release: "Release",
	nodes.Campaign: "Campaign", nodes.Suspect: "Suspect", nodes.Trust: "Trust"}

// ran returns the code that has handled an input.
func (s *Session) ran(h replay.Handled) Ran {
	machine := s.stage.Nodes[h.Node].Process.Machine(h.Input.Instance)
	r := Ran{Node: int(h.Node), Machine: typeOf(machine), Method: methods[h.Input.Kind]}
	switch h.Input.Kind {
	case nodes.Receive:
		_, r.Case, _ = strings.Cut(fmt.Sprintf("%T", h.Input.Message), ".")
	case nodes.Timeout:
		r.Case = fmt.Sprint(h.Input.Timer.Kind)
	}
	return r
}

// typeOf names the type of a machine, with its package.
func typeOf(m nodes.Machine) string { return strings.TrimPrefix(fmt.Sprintf("%T", m), "*") }

// choices returns the steps that can be taken next, while some messages are on their way.
func (s *Session) choices(flying []Flying) []Choice {
	all := []Choice{}
	if s.stage.Found() != nil {
		return all
	}
	numbers := map[string]uint32{}
	for _, m := range flying {
		numbers[m.Deliver], numbers[m.Drop] = m.Number, m.Number
	}
	for _, step := range s.stage.Enabled() {
		says, group := s.say(step)
		all = append(all, Choice{Step: step.String(), Says: says, Group: group, Node: int(step.Node),
			Number: numbers[step.String()]})
	}
	return all
}

// say says what a step does, and names its group.
func (s *Session) say(step replay.Step) (says, group string) {
	at := fmt.Sprintf("node %d", step.Node)
	if int(step.Node) >= s.stack.N() {
		at = fmt.Sprintf("server %d", step.Node)
	}
	switch step.What {
	case replay.StepDeliver:
		return fmt.Sprintf("%s from node %d reaches %s", step.Kind, step.From, at), "message"
	case replay.StepDrop:
		return fmt.Sprintf("%s from node %d to %s is lost", step.Kind, step.From, at), "fault"
	case replay.StepRequest:
		return at + " asks", "client"
	case replay.StepRelease:
		return at + " leaves", "client"
	case replay.StepCampaign:
		return at + " campaigns", "client"
	case replay.StepTimeout:
		return at + ": a timer runs out (" + s.stage.SayTimer(step.Node,
			replay.RunningTimer{Instance: step.Instance, Timer: step.Timer}) + ")", "timer"
	case replay.StepSuspect:
		return fmt.Sprintf("%s suspects node %d", at, step.Peer), "detector"
	case replay.StepTrust:
		return fmt.Sprintf("%s trusts node %d again", at, step.Peer), "detector"
	case replay.StepTick:
		return "time passes", "time"
	case replay.StepHeal:
		return "the cut is over", "fault"
	}
	return at + map[replay.StepKind]string{replay.StepCrash: " crashes", replay.StepRestart: " restarts",
		replay.StepAmnesia: " restarts, and has forgotten all", replay.StepPause: " is paused",
		replay.StepResume: " goes on"}[step.What], "fault"
}
