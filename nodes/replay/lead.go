package replay

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// campaign tells a node to bring an election about.
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

// Elect implements nodes.Host. The story tells first what was sent.
func (g *Stage) Elect(_ *nodes.Process, e *nodes.Effect) { g.elected = append(g.elected, *e) }

// elect takes what a node says of the leader.
func (g *Stage) elect(id nodes.ID, e *nodes.Effect) {
	g.Lab.Elect(id, e)
	inTerm := ""
	promised := g.stack.Instances()[e.Instance].Elector
	if e.Number > 0 || promised != nil && promised.Terms {
		inTerm = fmt.Sprintf(" in term %d", e.Number)
	}
	g.tell("%s %s%s", g.name(id), saysBelief(id, e.To), inTerm)
	if e.Instance != 0 || !g.rules.Elects {
		return
	}
	b := &g.Nodes[id].Belief
	before := b.Term
	if backwards, _ := b.Declare(id, e.To, e.Number, g.rules.Terms); backwards {
		g.violate(CheckTerms, saysBackwards(id, before, e.Number))
	}
	if term, other, is := g.electorate().Shared(id); is {
		g.violate(CheckTerms, saysShared(term, id, other))
	}
}

// follow looks at who leads after what has just happened.
func (g *Stage) follow() {
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

// settle looks, when nothing is left to happen, whether nodes agree.
func (g *Stage) settle() {
	if e := g.electorate(); g.rules.Elects && e.Disagree() && g.found == nil {
		g.Lab.Observe(nodes.None, history.Endless)
		g.violate(CheckAgreement, "nothing is left to happen, and not all agree: "+saysBeliefs(e))
	}
}

// violate is a violation of a check, if that is looked for.
func (g *Stage) violate(check, says string) {
	if g.found == nil && g.looksFor(check) {
		g.found = &Violation{Check: check, Says: says}
		g.tell("%s", says)
	}
}
