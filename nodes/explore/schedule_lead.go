package explore

import (
	"errors"
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// campaign tells a node to bring an election about.
func (g *stage) campaign(s Step) error {
	p := &g.staged[s.Node].process
	if _, elects := p.Machine(s.Instance).(nodes.Elector); !elects {
		return fmt.Errorf("%s elects no leaders", g.stack.Instances()[s.Instance].Spec.Name)
	}
	g.record(s.Node, history.Event{Kind: history.Campaigned, Instance: uint16(s.Instance)})
	g.tell("%s is to campaign", g.name(s.Node))
	if s.Instance == 0 {
		g.staged[s.Node].belief.takesPart = true
	}
	g.feed(s.Node, nodes.Input{Kind: nodes.Campaign, Instance: s.Instance})
	return nil
}

// Elect implements nodes.Host. The story tells first what was sent.
func (g *stage) Elect(_ *nodes.Process, e *nodes.Effect) { g.elected = append(g.elected, *e) }

// elect takes what a node says of the leader.
func (g *stage) elect(id nodes.ID, e *nodes.Effect) {
	g.record(id, history.Event{Kind: history.Elected, Instance: uint16(e.Instance),
		Count: uint32(e.To), Value: int64(e.Number)})
	inTerm := ""
	promised := g.stack.Instances()[e.Instance].Spec.Leads
	if e.Number > 0 || promised != nil && promised.Terms {
		inTerm = fmt.Sprintf(" in term %d", e.Number)
	}
	g.tell("%s %s%s", g.name(id), saysBelief(id, e.To), inTerm)
	if e.Instance != 0 || !g.rules.elects {
		return
	}
	b := &g.staged[id].belief
	before := b.term
	backwards := b.declare(id, e.To, e.Number, g.rules.terms)
	if backwards {
		g.violate(CheckTerms, saysBackwards(id, before, e.Number))
	}
	if term, other, is := g.electorate().shared(id); is {
		g.violate(CheckTerms, saysShared(term, id, other))
	}
}

// follow looks at who leads after what has just happened.
func (g *stage) follow() {
	if !g.rules.elects {
		return
	}
	e := g.electorate()
	if e.leading() < 2 {
		g.together = 0
		return
	}
	if says := g.rules.tooMany(e, g.silent(), g.schedule.Timing, g.together); says != "" {
		g.violate(CheckLeaders, says)
	}
}

// silent reports whether no message is on its way and no timer runs.
func (g *stage) silent() bool {
	return len(g.flying) == 0 && !g.timed()
}

// settle looks, when nothing is left to happen, whether nodes agree.
func (g *stage) settle() {
	if e := g.electorate(); g.rules.elects && e.disagree() {
		g.violate(CheckAgreement, "nothing is left to happen, and not all agree: "+e.saysBeliefs())
	}
}

// violate is a violation of a check, if that is looked for.
func (g *stage) violate(check, says string) {
	if g.found == nil && g.o.looksFor(check) {
		g.found = &Violation{Check: check, Says: says}
		g.tell("%s", says)
	}
}

// electorate returns what the clients believe.
func (g *stage) electorate() (e electorate) {
	for id := range g.stack.N() {
		e = append(e, voter{g.staged[id].process.Up(), &g.staged[id].belief})
	}
	return e
}

// electing returns an error if instance 0 is no elector, or a step is about another.
func (g *stage) electing(s Step) error {
	if !g.rules.elects || s.Instance != 0 {
		return errors.New("it elects no leaders")
	}
	return nil
}

// leads checks that exactly the nodes that a step names say that they lead.
func (g *stage) leads(s Step) error {
	if err := g.electing(s); err != nil {
		return err
	}
	return same(g.electorate().leaders(), s.Who, "nobody leads", "the leader is %s")
}

// believes checks whom a node takes for the leader.
func (g *stage) believes(s Step) error {
	if err := g.electing(s); err != nil {
		return err
	}
	switch a := &g.staged[s.Node]; {
	case int(s.Node) >= g.stack.N():
		return errors.New("it is a server, and takes no part")
	case !a.process.Up():
		return errors.New("it is down")
	case a.belief.leader != s.Peer:
		return fmt.Errorf("it %s", saysBelief(s.Node, a.belief.leader))
	}
	return nil
}
