package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/report/diagram"
)

// A Show is a film that is watched. A step is an event, together with the messages that its node sends then.
type Show struct {
	film   *Film
	stack  *algorithm.Stack
	starts []int               // by step: index of its first event, and at last how many events there are
	first  *spacetime.Together // the first failure, or nil
	token  nodes.ID            // the node that has the token at the beginning; None: unknown
	at     int                 // how many steps have been taken
	nodes  []Node
	flying []Flying
	sent   uint32
	strip  *stripper
}

// Screen begins to show a film, before its first step.
func Screen(f *Film) (*Show, error) {
	if f.Format != filmFormat {
		return nil, fmt.Errorf("this is no recorded run that can be shown: its format is to be %q, and is %.40q",
			filmFormat, f.Format)
	}
	stack, err := table.Assemble(f.Parts)
	if err != nil {
		return nil, err
	}
	if total := stack.Total(); total > mostNodes {
		return nil, fmt.Errorf("%d nodes, servers included: the page shows up to %d", total, mostNodes)
	}
	if err := f.check(stack); err != nil {
		return nil, err
	}
	s := &Show{film: f, stack: stack, token: nodes.None}
	s.cut()
	s.first = f.extract(stack, section.Window{To: f.end()}).First
	s.rewind()
	return s, nil
}

// check returns an error for an event that no run of the stack has.
func (f *Film) check(stack *algorithm.Stack) error {
	for i, e := range f.Events {
		_, known := filmed[e.What]
		message := e.What == filmSent || e.What == filmHandled || e.What == filmLost
		node := func(id nodes.ID) bool { return id >= 0 && int(id) < stack.Total() }
		switch {
		case !known && !message:
			return fmt.Errorf("event %d is unknown: %.40q", i+1, e.What)
		case message && (!node(e.Node) || !node(e.Peer) || int(e.Kind) >= stack.Codec().Kinds()):
			return fmt.Errorf("event %d is about a message of other nodes, or of an unknown kind", i+1)
		case known && e.Node != nodes.None && !node(e.Node), int(e.Instance) >= len(stack.Instances()):
			return fmt.Errorf("event %d is about node %d, which the run does not have", i+1, e.Node)
		}
	}
	return nil
}

// end returns the time of the latest event.
func (f *Film) end() int64 {
	if len(f.Events) == 0 {
		return 0
	}
	return f.Events[len(f.Events)-1].At
}

// cut divides the events into steps, and finds out who has the token at the beginning.
func (s *Show) cut() {
	got := false // a token has arrived somewhere
	for i, e := range s.film.Events {
		if s.stack.Codec().Kind(int(e.Kind)).Token && !got {
			if e.What == filmSent && s.token == nodes.None {
				s.token = e.Node
			}
			got = e.What == filmHandled
		}
		same := i > 0 && e.What == filmSent && s.film.Events[i-1].actor() == e.Node
		if e.What != history.Marked.String() && !same {
			s.starts = append(s.starts, i)
		}
	}
	s.starts = append(s.starts, len(s.film.Events))
}

// rewind goes to the beginning.
func (s *Show) rewind() {
	s.at, s.sent, s.flying, s.nodes, s.strip = 0, 0, []Flying{}, nil, &stripper{}
	for id := range s.stack.Total() {
		n := idle(id, s.stack)
		n.Up, n.Token = true, nodes.ID(id) == s.token
		s.nodes = append(s.nodes, n)
	}
}

// Back goes to a step.
func (s *Show) Back(to int) error {
	if last := len(s.starts) - 1; to < 0 || to > last {
		return fmt.Errorf("step %d: there are steps 0 to %d", to, last)
	}
	if to < s.at {
		s.rewind()
	}
	for s.at < to {
		for i := s.starts[s.at]; i < s.starts[s.at+1]; i++ {
			s.play(&s.film.Events[i])
		}
		s.at++
	}
	return nil
}

// play lets an event happen.
func (s *Show) play(e *FilmEvent) {
	of, is := e.event()
	if !is {
		s.carry(e)
		return
	}
	s.strip.add(of, s.at+1)
	if of.Kind == history.Paused || of.Kind == history.Resumed {
		if int(of.Count) < len(s.nodes) {
			s.nodes[of.Count].Paused = of.Kind == history.Paused
		}
		return
	}
	if e.Node == nodes.None {
		return
	}
	n := &s.nodes[e.Node]
	switch of.Kind {
	case history.Requested:
		n.State = nodes.Waiting.String()
	case history.Entered:
		n.State, n.Fence = nodes.Inside.String(), e.Fence
	case history.Exited, history.Revoked:
		n.State = nodes.Idle.String()
	case history.Elected:
		n.Leader, n.Term = nil, uint64(e.Value)
		if leader := int(int32(e.Count)); e.Count != history.NoLeader {
			n.Leader = &leader
		}
	case history.Suspected:
		n.Suspects = append(n.Suspects, int(e.Count))
	case history.Trusted:
		n.Suspects = slices.DeleteFunc(n.Suspects, func(id int) bool { return id == int(e.Count) })
	case history.Crashed:
		lives := n.Lives
		*n = idle(n.ID, s.stack)
		n.Lives = lives
	case history.Restarted:
		n.Up, n.Lives = true, e.Count
	}
}

// carry sends, delivers or loses a message.
func (s *Show) carry(e *FilmEvent) {
	kind := s.stack.Codec().Kind(int(e.Kind))
	if e.What == filmSent {
		s.sent++
		s.flying = append(s.flying, Flying{Number: e.Number, From: int(e.Node), To: int(e.Peer),
			Kind: int(e.Kind), Blocked: "this was recorded"})
		s.nodes[e.Node].Token = s.nodes[e.Node].Token && !kind.Token
		return
	}
	s.flying = slices.DeleteFunc(s.flying, func(f Flying) bool { return f.Number == e.Number })
	if e.What == filmHandled && kind.Token {
		s.nodes[e.Peer].Token = true
	}
}

// State returns how the cluster stood.
func (s *Show) State() *State {
	in := s.stack.Instances()[0]
	o := &State{Step: s.at, Steps: len(s.starts) - 1, Title: s.film.Title + ": " + in.Name + ", " +
		english.Count(s.stack.N(), "node", "nodes") + ", recorded", Algorithm: in.Name, Kind: nodes.OfKind(kinds,
		in.Kind),
		Film: true, Layout: layoutOf(s.stack), Kinds: kindsOf(s.stack), Nodes: slices.Clone(s.nodes),
		Flying: slices.Clone(s.flying), Enabled: []Choice{}, Cut: [][]int{}, From: max(0, s.at-shownSteps)}
	for id := range o.Nodes {
		n := &o.Nodes[id]
		n.Leads = n.Up && !n.Paused && n.Leader != nil && *n.Leader == id
	}
	if s.at > 0 {
		o.Last = s.last()
		if s.first != nil && s.film.Events[s.starts[s.at]-1].At >= s.first.From {
			o.Found = foundIn(s.first)
		}
	}
	o.Strip, o.Counts = s.strip.since(o.From), s.strip.counts
	o.Counts.Messages = s.sent
	return o
}

// Verdict returns the judgement of the whole run.
func (s *Show) Verdict() Verdict { return s.film.Verdict }

// foundIn says which promise a failure broke.
func foundIn(what *spacetime.Together) *Found {
	var ids []string
	for _, id := range slices.Sorted(slices.Values(what.Nodes)) {
		ids = append(ids, fmt.Sprint(id))
	}
	who := "nodes " + english.List(ids)
	switch what.What {
	case spacetime.Inside:
		return &Found{replay.CheckExclusion, who + " are inside together"}
	case spacetime.Leading:
		return &Found{replay.CheckLeaders, who + " lead at the same time"}
	}
	return &Found{replay.CheckDeadlock, "a client waits, and no client enters any more"}
}

// last returns the latest step.
func (s *Show) last() *Taken {
	t := &Taken{Told: s.tell(s.at - 1), Ran: []Ran{}}
	if first := &s.film.Events[s.starts[s.at-1]]; first.What == filmHandled || first.What == filmLost {
		t.Number = first.Number
	}
	return t
}

// Told returns the steps after from, up to to.
func (s *Show) Told(from, to int) ([]Told, error) {
	if err := within(from, to, len(s.starts)-1); err != nil {
		return nil, err
	}
	all := []Told{}
	for i := from; i < to; i++ {
		all = append(all, s.tell(i))
	}
	return all, nil
}

// tell tells the step with an index.
func (s *Show) tell(i int) Told {
	events := s.film.Events[s.starts[i]:s.starts[i+1]]
	first := &events[0]
	t := Told{s.textOf(first), []string{}}
	at := fmt.Sprintf("at %v: ", time.Duration(first.At).Round(time.Microsecond))
	var sends []string
	for i := range events {
		if e := &events[i]; e.What == filmSent {
			sends = append(sends, fmt.Sprintf("%s to node %d", s.kind(e), e.Peer))
		} else if says := s.says(e); says != "" {
			t.Story = append(t.Story, at+says)
		}
	}
	switch {
	case len(sends) > 0 && len(t.Story) > 0:
		t.Story[0] += " and sends " + strings.Join(sends, ", ")
	case len(sends) > 0:
		t.Story = []string{fmt.Sprintf("%snode %d sends %s", at, first.Node, strings.Join(sends, ", "))}
	}
	return t
}

// kind names the kind of a message.
func (s *Show) kind(e *FilmEvent) string { return s.stack.Codec().Name(int(e.Kind)) }

// textOf writes an event as a step of a schedule is written, as far as there is such a step.
func (s *Show) textOf(e *FilmEvent) string {
	words := map[string]string{"requested": "req", "exited": "exit", "crashed": "crash", "restarted": "restart",
		"campaigned": "campaign"}
	switch message := fmt.Sprintf("%d>%d %s", e.Node, e.Peer, s.kind(e)); e.What {
	case filmHandled:
		return message
	case filmLost:
		return "drop " + message
	case "suspected", "trusted":
		return fmt.Sprintf("%s %d>%d", strings.TrimSuffix(e.What, "ed"), e.Node, e.Count)
	}
	if word := words[e.What]; word != "" {
		return fmt.Sprintf("%s %d", word, e.Node)
	}
	return strings.ReplaceAll(e.What, "_", " ")
}

// says tells an event that is not the send of a message.
func (s *Show) says(e *FilmEvent) string {
	node := fmt.Sprintf("node %d ", e.Node)
	switch e.What {
	case filmHandled:
		return fmt.Sprintf("node %d gets %s from node %d", e.Peer, s.kind(e), e.Node)
	case filmLost:
		return fmt.Sprintf("%s from node %d to node %d is lost", s.kind(e), e.Node, e.Peer)
	}
	of, _ := e.event()
	switch of.Kind {
	case history.Elected:
		return node + elected(e)
	case history.Suspected:
		return fmt.Sprintf("%ssuspects node %d", node, e.Count)
	case history.Trusted:
		return fmt.Sprintf("%strusts node %d again", node, e.Count)
	case history.Paused:
		return paused(e.Count) + " stands still"
	case history.Resumed:
		return paused(e.Count) + " goes on"
	case history.FaultBegan:
		return fmt.Sprintf("fault %d begins: %s", e.Count, s.fault(e.Count))
	case history.FaultHealed:
		return fmt.Sprintf("fault %d is over: %s", e.Count, s.fault(e.Count))
	case history.Exited:
		if of.Refused() {
			return node + "leaves, and what it wrote is refused"
		}
	}
	says := map[history.Kind]string{history.Requested: "asks", history.Entered: "enters",
		history.Exited: "leaves", history.Revoked: "loses its critical section",
		history.ToldLost: "is told that its critical section is lost, and goes on", history.Crashed: "crashes",
		history.Restarted: "comes up again", history.Campaigned: "is to campaign"}[of.Kind]
	if says == "" {
		return ""
	}
	return node + says
}

// elected says whom a node has declared.
func elected(e *FilmEvent) string {
	says := fmt.Sprintf("takes node %d for the leader", e.Count)
	switch {
	case e.Count == history.NoLeader:
		says = "knows of no leader"
	case nodes.ID(int32(e.Count)) == e.Node:
		says = "leads"
	}
	if e.Value > 0 {
		says += fmt.Sprintf(" in term %d", e.Value)
	}
	return says
}

// paused names a process that was stopped.
func paused(process uint32) string {
	if name := history.ProcessName(process); name != "" {
		return "the " + name
	}
	return fmt.Sprintf("node %d", process)
}

// fault describes a fault.
func (s *Show) fault(number uint32) string {
	if number < 1 || int(number) > len(s.film.Faults) {
		return "unknown"
	}
	return s.film.Faults[number-1]
}

// Diagram draws what happened in the steps after from, up to to, as SVG.
func (s *Show) Diagram(from, to int) (string, error) {
	if err := within(from, to, s.at); err != nil {
		return "", err
	}
	window := section.Window{From: s.film.Events[s.starts[from]].At, To: s.film.Events[s.starts[to]-1].At}
	return diagram.Draw(s.film.extract(s.stack, window), diagram.Options{Fault: s.fault})
}

// screened begins to show a film that is written as JSON.
func screened(text string) (*Show, error) {
	f := &Film{}
	if err := json.Unmarshal([]byte(text), f); err != nil {
		return nil, errors.New("this file is neither a schedule nor a recorded run as orchestrator play writes it")
	}
	return Screen(f)
}
