package replay

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// The stage is the host of all its processes.
var _ nodes.Host = (*Stage)(nil)

// feed hands a node an input, and adds its effects to the story.
func (g *Stage) feed(id nodes.ID, in nodes.Input) {
	g.Handled = append(g.Handled, Handled{Node: id, Input: in})
	g.have(id, func(p *nodes.Process) { p.Handle(&in) })
	g.seclude(id, &in)
}

// have calls do with the process of a node, and adds the effects of the process to the story.
func (g *Stage) have(id nodes.ID, do func(*nodes.Process)) {
	a := &g.Nodes[id]
	g.sent, g.stopped, g.entered, g.elected, g.set = nil, nil, nil, nil, nil
	if panics := panicOf(func() { do(&a.Process) }); panics != "" {
		g.found = &Violation{Check: CheckPanic, Says: panics}
		g.Lab.Observe(id, history.Panicked)
		g.tell("%s: PANIC: %s", g.name(id), panics)
		return
	}
	a.Timers = g.schedule.Timing.Timers(&a.Process, a.Timers, g.set)
	if len(g.sent) > 0 {
		g.Story[len(g.Story)-1] += " and sends " + strings.Join(g.sent, ", ")
	}
	for _, f := range g.stopped {
		g.tell("the network drops %s, since %s", g.describe(f.Flight), f.why)
	}
	for i := range g.entered {
		g.enter(&a.Process, &g.entered[i])
	}
	for i := range g.elected {
		g.elect(id, &g.elected[i])
	}
	g.checkLeaders()
	g.look()
	if !a.Process.Up() {
		g.crash(id)
	}
}

// panicOf returns the text of the panic of do; empty if it does not panic.
func panicOf(do func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	do()
	return ""
}

// Send implements nodes.Host.
func (g *Stage) Send(p *nodes.Process, e *nodes.Effect) {
	g.send(p.ID(), e.To, e)
	g.sent = append(g.sent, fmt.Sprintf("%s to %s", g.stack.Codec().Name(int(e.Kind)), g.name(e.To)))
}

// Broadcast implements nodes.Host.
func (g *Stage) Broadcast(p *nodes.Process, e *nodes.Effect) {
	hearers := ""
	for to := range p.Hearers() {
		g.send(p.ID(), to, e)
		hearers = g.name(to)
	}
	if p.HearerCount() > 1 {
		hearers = "all"
	}
	g.sent = append(g.sent, g.stack.Codec().Name(int(e.Kind))+" to "+hearers)
}

// SetTimer implements nodes.Host.
func (g *Stage) SetTimer(p *nodes.Process, e *nodes.Effect) {
	g.due[dueTimer{p.ID(), e.Instance, e.Gen}] = g.rested + e.Min
	g.set = append(g.set, g.schedule.Timing.Timer(e))
}

// Save implements nodes.Host. It does nothing, since the process itself keeps what it saves.
func (g *Stage) Save(*nodes.Process, *nodes.Effect) {}

// Enter implements nodes.Host. In the story, entries come after messages.
func (g *Stage) Enter(_ *nodes.Process, e *nodes.Effect) { g.entered = append(g.entered, *e) }

// Elect implements nodes.Host. The history has it at once: a node that gives up its leader may send in the
// same step, which only a leader may do. In the story, declared leaders come after messages.
func (g *Stage) Elect(p *nodes.Process, e *nodes.Effect) {
	g.Lab.Elect(p.ID(), e)
	g.elected = append(g.elected, *e)
}

// Revoke implements nodes.Host.
func (g *Stage) Revoke(p *nodes.Process, e *nodes.Effect) {
	g.Lab.Revoke(p, e.Instance)
	g.tell("%s loses its critical section", g.name(p.ID()))
}

// Inform implements nodes.Host.
func (g *Stage) Inform(p *nodes.Process, e *nodes.Effect) {
	g.Lab.Inform(p, e, g.now)
	if e.Op == nodes.OpTellLost {
		g.tell("%s is told that its critical section is lost, and goes on", g.name(p.ID()))
	}
}

// Suspect implements nodes.Host.
func (g *Stage) Suspect(p *nodes.Process, e *nodes.Effect, suspects bool) {
	g.suspect(p.ID(), e.To, e.Instance, suspects)
}

// send puts a message on its way, unless its receiver is down.
func (g *Stage) send(from, to nodes.ID, e *nodes.Effect) {
	g.Lab.Send(from, e, 1, 1)
	f := g.schedule.Timing.Flight(from, to, e)
	g.sends++
	f.Number = g.sends
	g.note(f, history.MessageRecord{Node: from, Peer: to, Sent: true})
	if !g.Nodes[to].Process.Up() {
		g.lose(f)
		return
	}
	why := ""
	switch {
	case g.parted(from, to):
		why = "a cut is between the two"
	case g.crowds(f):
		why = "an equal message is already on the link"
	default:
		g.Flying = append(g.Flying, f)
		return
	}
	g.lose(f)
	g.Lab.Break(nodes.NoLoss)
	g.stopped = append(g.stopped, stopped{f, why})
}

// enter lets a client in. A lack of free units violates exclusion, unless the play goes on until an update is
// lost; if fenced, only a wrong fence number does.
func (g *Stage) enter(p *nodes.Process, e *nodes.Effect) {
	id, res := p.ID(), &g.Lab.Resources[g.Lab.Resource(e.Instance)]
	others := g.clients(e.Instance, nodes.Inside)
	others = slices.DeleteFunc(others, func(other nodes.ID) bool { return other == id })
	highest := res.Fence
	g.Lab.Enter(p, e)
	says := g.name(id) + " enters"
	if res.Fenced {
		says += fmt.Sprintf(" under the fence number %d", e.Number)
	}
	if g.schedule.UntilLost {
		_, read := g.Lab.Account(id, e.Instance)
		says += fmt.Sprintf(" and reads %d", read)
	}
	if res.Taken > res.Capacity {
		g.tell("%s: INSIDE TOGETHER WITH %s", says, ids(others))
		if !res.Fenced && !g.schedule.UntilLost {
			g.overlap("%s enters while %s inside", g.name(id), who(others, "is", "are"))
		}
	} else {
		g.tell("%s", says)
	}
	if wrong := g.rules.Stale(e.Number, highest); res.Fenced && wrong != "" {
		g.Lab.Observe(id, history.Unfenced)
		g.overlap("%s enters %s", g.name(id), wrong)
	}
}

// elect tells which leader a node has declared, and checks terms.
func (g *Stage) elect(id nodes.ID, e *nodes.Effect) {
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

// overlap records a violation of exclusion, if that check is made.
func (g *Stage) overlap(format string, args ...any) {
	if g.found == nil && g.looksFor(CheckExclusion) {
		g.found = &Violation{Check: CheckExclusion, Says: fmt.Sprintf(format, args...)}
	}
}

// look records the event history.Quiet if no message is on its way.
func (g *Stage) look() {
	if last := len(g.Events) - 1; len(g.Flying) == 0 && g.Events[last].Kind != history.Observed {
		g.Lab.Observe(nodes.None, history.Quiet)
	}
}

// seclude observes a violation of the check minority after an input of a node.
func (g *Stage) seclude(id nodes.ID, in *nodes.Input) {
	spec := g.stack.Instances()[0].Algorithm
	a := &g.Nodes[id]
	if in.Kind == nodes.Receive && int(in.From) < mostSecluded {
		a.heard |= 1 << in.From
	}
	if spec.Exclusion().Minority == nil || g.stack.N() > mostSecluded || len(g.entered) == 0 ||
		in.Kind == nodes.Receive || in.Kind == nodes.Request && spec.Exclusion().Minority.Keeps {
		return
	}
	var suspects uint8
	for peer := range a.Suspects.All() {
		suspects |= 1 << peer
	}
	if g.rules.InMinority(suspects, a.heard) {
		g.Lab.Observe(id, history.Secluded)
	}
}
