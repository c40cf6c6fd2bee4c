package replay

import (
	"fmt"

	"turnstile/nodes"
)

// hear has the failure detector of a node speak, on a stage. The error says why it does not.
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

// suspect tells and records that the failure detector of a node suspects another, or trusts it again.
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
