package explore

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// listens reports whether a machine of the process hears of whom its failure detector suspects.
func listens(p *nodes.Process) bool {
	for i := range p.Stack().Instances() {
		if _, is := p.Machine(int32(i)).(nodes.Suspecter); is {
			return true
		}
	}
	return false
}

// detect makes the moves of the failure detector of a node.
func (w *worker) detect(node uint8, p *part) {
	for peer := range uint32(w.total) {
		up, suspected := w.known[w.state[peer]].up, p.suspects>>peer&1 != 0
		switch {
		case peer == uint32(node):
		case up && suspected:
			w.try(move{what: StepTrust, node: node, which: peer})
		case !suspected && (!up || int(w.state[w.total]/oneSuspicion) < w.o.Suspicions):
			w.try(move{what: StepSuspect, node: node, which: peer})
		}
	}
}

// progresses reports whether a move makes progress by itself: it is no fault, request or restart.
func (w *worker) progresses(m move) bool {
	return m.what.progresses() || m.what == StepSuspect && !w.known[w.state[m.which]].up
}

// validateSuspicions says what is wrong with the wrong suspicions, if anything is.
func (o *Options) validateSuspicions(stack *nodes.Stack) error {
	if o.Suspicions == 0 {
		return nil
	}
	rt := nodes.NewRuntime(stack, nil, nil)
	for id := range nodes.ID(stack.Total()) {
		var p nodes.Process
		if rt.Process(&p, id); listens(&p) {
			return nil
		}
	}
	return fmt.Errorf("nodes are to be suspected, but %s listens to no failure detector: allow no suspicions",
		o.Spec.Name)
}

// hear has the failure detector of a node speak, on a stage. The error says why it does not.
func (g *stage) hear(s Step) error {
	a, peer := &g.staged[s.Node], &g.staged[s.Peer].process
	suspects := s.What == StepSuspect
	switch {
	case !listens(&a.process):
		return fmt.Errorf("%s listens to no failure detector", g.name(s.Node))
	case s.Node == s.Peer:
		return fmt.Errorf("no node suspects itself")
	case suspects && a.suspects.Has(s.Peer):
		return fmt.Errorf("%s suspects %s already", g.name(s.Node), g.name(s.Peer))
	case !suspects && !a.suspects.Has(s.Peer):
		return fmt.Errorf("%s does not suspect %s", g.name(s.Node), g.name(s.Peer))
	case !suspects && !peer.Up():
		return fmt.Errorf("%s is down, and stays suspected", g.name(s.Peer))
	}
	in := nodes.Input{Kind: nodes.Trust, From: s.Peer}
	if suspects {
		in.Kind = nodes.Suspect
		a.suspects.Add(s.Peer)
	} else {
		a.suspects.Remove(s.Peer)
	}
	g.suspect(s.Node, s.Peer, 0, suspects)
	g.feed(s.Node, in)
	return nil
}

// suspect tells and records that the failure detector of a node suspects another, or trusts it again.
func (g *stage) suspect(by, of nodes.ID, instance int32, suspects bool) {
	e := history.Event{Kind: history.Trusted, Instance: uint16(instance), Count: uint32(of)}
	says := fmt.Sprintf("%s trusts %s again", g.name(by), g.name(of))
	if suspects {
		e.Kind = history.Suspected
		says = fmt.Sprintf("%s suspects %s", g.name(by), g.name(of))
		if of >= 0 && int(of) < len(g.staged) && g.staged[of].process.Up() {
			g.broke(nodes.PerfectDetector)
			says += ", which is up"
		}
	}
	g.record(by, e)
	g.tell("%s", says)
}

// untold returns what the failure detector of some node has to tell still, if anything is left: whom that is
// down a node does not suspect, or whom it suspects that is up.
func (g *stage) untold() (s Step, left bool) {
	if g.schedule.NoDetector {
		return Step{}, false
	}
	for by := range g.staged {
		a := &g.staged[by]
		if !a.process.Up() || !listens(&a.process) {
			continue
		}
		for of := range g.staged {
			suspected, up := a.suspects.Has(nodes.ID(of)), g.staged[of].process.Up()
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
