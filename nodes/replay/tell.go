package replay

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
	"turnstile/nodes/stall"
)

// feed hands a node an input, and adds its effects to the story.
func (g *Stage) feed(id nodes.ID, in nodes.Input) {
	g.have(id, func(p *nodes.Process) { p.Handle(&in) })
	g.seclude(id, &in)
}

// have calls do with the process of a node, and adds the effects of the process to the story.
func (g *Stage) have(id nodes.ID, do func(*nodes.Process)) {
	a := &g.Nodes[id]
	g.sent, g.crowded, g.entered, g.elected, g.set = nil, nil, nil, nil, nil
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
	for _, f := range g.crowded {
		g.tell("the network drops %s, since an equal message is already on the link", g.describe(f))
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

// The stage is the host of all its processes.
var _ nodes.Host = (*Stage)(nil)

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
	if g.crowds(f) {
		g.lose(f)
		g.Lab.Break(nodes.NoLoss)
		g.crowded = append(g.crowded, f)
		return
	}
	g.Flying = append(g.Flying, f)
}

// enter lets a client in. A lack of free units violates exclusion; if fenced, only a wrong fence number does.
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
	if res.Taken > res.Capacity {
		g.tell("%s: INSIDE TOGETHER WITH %s", says, ids(others))
		if !res.Fenced {
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

// End ends the play, and returns its result.
func (g *Stage) End() *Played {
	r := &Played{Stack: g.stack, Story: g.Story, Violation: g.found}
	status := make([]*nodes.NodeStatus, len(g.Nodes))
	for id := range g.Nodes {
		if p := &g.Nodes[id].Process; p.Up() {
			status[id] = p.Status(0)
		}
	}
	r.Status = stall.Of(status, g.stack.N())
	waiting := g.anywhere(nodes.Waiting)
	g.now += stepTime
	g.Lab.Mark(history.Stopped, 0)
	switch {
	case g.stuck() && len(waiting) > 0:
		g.Lab.Mark(history.Stalled, 0)
		if r.Violation == nil {
			r.Violation = &Violation{Check: CheckDeadlock, Stall: r.Status.String(),
				Says: "nothing is left to happen, and " + who(waiting, "waits", "wait")}
			r.Story = append(r.Story, r.Violation.Says)
		}
	case g.stuck():
		g.Lab.Mark(history.Rested, 0)
		before := len(g.Story)
		g.settle()
		r.Story, r.Violation = append(r.Story, g.Story[before:]...), g.found
	default:
		g.Lab.Mark(history.Interrupted, 0)
	}
	r.History = &history.History{Events: g.Events, Logs: g.Lab.Logs(slices.Values(g.trace))}
	return r
}

// Told returns a story and its outcome, as written below a schedule: the failed check, empty if none, and the
// broken assumptions that put the failure outside its model.
func Told(story []string, check string, broken nodes.Assumption) string {
	end := "nothing is broken"
	if check != "" {
		end = "broken: " + check
		if broken != 0 {
			end += fmt.Sprintf(" (outside its model: %s)", broken.Broken(true))
		}
	}
	return strings.Join(append(slices.Clip(story), end), "\n") + "\n"
}

// who makes a clause about nodes: "node 1 waits", or "nodes 1, 2 wait".
func who(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return fmt.Sprintf("node %d %s", all[0], does)
	}
	return "nodes " + ids(all) + " " + do
}

// ids lists nodes.
func ids(all []nodes.ID) string { return strings.ReplaceAll(list(all), " ", ", ") }

// A record holds the history and the story of a play.
type record struct {
	Lab    lab.Lab
	now    int64
	Events []history.Event
	trace  []history.MessageRecord
	sends  uint32 // number of messages sent
	Story  []string
}

func (r *record) tell(format string, args ...any) {
	r.Story = append(r.Story, fmt.Sprintf(format, args...))
}

// add records an event from the lab.
func (r *record) add(e history.Event) {
	e.At = r.now
	r.Events = append(r.Events, e)
}

// note records a message in the trace of the node that sent or handled it or, if it is lost, of its receiver.
func (r *record) note(f Flight, seen history.MessageRecord) {
	seen.At, seen.Seq, seen.Instance, seen.Kind = r.now, f.Number, uint16(f.Instance), f.Kind
	r.trace = append(r.trace, seen)
}

// noteAsks marks the first message that a node has sent for a request, among those recorded from index since
// on.
func (r *record) noteAsks(s Step, since int) {
	for i := range r.trace[since:] {
		if m := &r.trace[since+i]; m.Sent && m.Node == s.Node && m.Instance == uint16(s.Instance) {
			m.Asks = true
			return
		}
	}
}

// lose records a lost message.
func (r *record) lose(f Flight) {
	r.note(f, history.MessageRecord{Node: f.To, Peer: f.From, Lost: true})
	r.Lab.Drop(f.To, f.Instance)
}
