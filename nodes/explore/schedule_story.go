package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/ddmin"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
)

// feed hands a node an input, and adds what it asks for to the story.
func (g *stage) feed(id nodes.ID, in nodes.Input) {
	g.have(id, func(p *nodes.Process) { p.Handle(&in) })
	g.seclude(id, &in)
}

// have has a process do something, and adds what it asks for to the story.
func (g *stage) have(id nodes.ID, do func(*nodes.Process)) {
	a := &g.staged[id]
	g.sent, g.crowded, g.entered, g.elected, g.set = nil, nil, nil, nil, nil
	if panics := panicOf(func() { do(&a.process) }); panics != "" {
		g.found = &Violation{Check: CheckPanic, Says: panics}
		g.tell("%s: PANIC: %s", g.name(id), panics)
		return
	}
	a.timers = g.schedule.Timing.timers(&a.process, a.timers, g.set)
	if len(g.sent) > 0 {
		g.story[len(g.story)-1] += " and sends " + strings.Join(g.sent, ", ")
	}
	for _, f := range g.crowded {
		g.tell("the network loses %s, behind an equal one", g.describe(f))
	}
	for i := range g.entered {
		g.enter(&a.process, &g.entered[i])
	}
	for i := range g.elected {
		g.elect(id, &g.elected[i])
	}
	g.follow()
	g.passOver(len(g.entered) > 0)
	if !a.process.Up() {
		g.crash(id)
	}
}

// panicOf returns the text with which do panics, if it does.
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
var _ nodes.Host = (*stage)(nil)

// Send implements nodes.Host.
func (g *stage) Send(p *nodes.Process, e *nodes.Effect) {
	g.send(p.ID(), e.To, e)
	g.sent = append(g.sent, fmt.Sprintf("%s to %s", g.stack.Codec().Name(int(e.Kind)), g.name(e.To)))
}

// Broadcast implements nodes.Host.
func (g *stage) Broadcast(p *nodes.Process, e *nodes.Effect) {
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
func (g *stage) SetTimer(p *nodes.Process, e *nodes.Effect) {
	g.due[dueTimer{p.ID(), e.Instance, e.Gen}] = g.rested + e.Min
	g.set = append(g.set, runningTimer{e.Instance, e.Timer, e.Gen, g.schedule.Timing.window(e.Min, e.Max)})
}

// Save implements nodes.Host: the process itself holds what it has saved.
func (g *stage) Save(*nodes.Process, *nodes.Effect) {}

// Enter implements nodes.Host. The story tells first what was sent.
func (g *stage) Enter(_ *nodes.Process, e *nodes.Effect) { g.entered = append(g.entered, *e) }

// Revoke implements nodes.Host.
func (g *stage) Revoke(p *nodes.Process, e *nodes.Effect) {
	g.leave(p, e.Instance, history.Event{Kind: history.Revoked})
	g.tell("%s loses its critical section", g.name(p.ID()))
}

// Suspect implements nodes.Host.
func (g *stage) Suspect(p *nodes.Process, e *nodes.Effect, suspects bool) {
	g.suspect(p.ID(), e.To, e.Instance, suspects)
}

// send puts a message on its way, unless its receiver is down.
func (g *stage) send(from, to nodes.ID, e *nodes.Effect) {
	counters := g.counters(from, e.Instance)
	counters.Kinds[e.Kind].Sent++
	counters.Kinds[e.Kind].Publishes++
	if e.Resend {
		counters.Resent++
	}
	if g.stack.Instances()[e.Instance].Spec.Circulates {
		g.record(from, history.Event{Kind: history.Sent, Count: uint32(e.Kind), Instance: uint16(e.Instance)})
	}
	g.note(from, to, e.Instance, e.Kind, true)
	if !g.staged[to].process.Up() {
		g.counters(to, e.Instance).Dropped++
		return
	}
	f := flight{from, to, e.Instance, e.Kind, e.Message, g.schedule.Timing.flight()}
	if g.crowds(f) {
		g.counters(to, e.Instance).Dropped++
		g.broke(nodes.NoLoss)
		g.crowded = append(g.crowded, f)
		return
	}
	g.flying = append(g.flying, f)
}

// enter lets a client in. That is a violation if too few units are free.
func (g *stage) enter(p *nodes.Process, e *nodes.Effect) {
	id, res := p.ID(), &g.resources[e.Instance]
	others := g.clients(e.Instance, nodes.Inside)
	others = slices.DeleteFunc(others, func(other nodes.ID) bool { return other == id })
	c := &g.staged[id].clients[e.Instance]
	c.money, c.fence, c.inside = res.account, e.Number, true
	highest := res.fence
	res.fence = max(res.fence, e.Number)
	res.taken += p.Units(e.Instance)
	g.counters(id, e.Instance).Entries++
	g.record(id, history.Event{Kind: history.Entered, Entry: c.entry, Value: c.money, Fence: e.Number,
		Count: uint32(res.taken), Instance: uint16(e.Instance)})
	says := g.name(id) + " enters"
	fenced := g.stack.Fenced(e.Instance)
	if fenced {
		says += fmt.Sprintf(" under the fence number %d", e.Number)
	}
	if res.taken > g.stack.Instances()[e.Instance].Config.Capacity() {
		g.tell("%s: INSIDE TOGETHER WITH %s", says, ids(others))
		if !fenced {
			g.overlap("%s enters while %s inside", g.name(id), who(others, "is", "are"))
		}
	} else {
		g.tell("%s", says)
	}
	if wrong := stale(e.Number, highest); fenced && wrong != "" {
		g.overlap("%s enters %s", g.name(id), wrong)
	}
}

// overlap is a violation of exclusion, if that is looked for.
func (g *stage) overlap(format string, args ...any) {
	if g.found == nil && g.o.looksFor(CheckExclusion) {
		g.found = &Violation{Check: CheckExclusion, Says: fmt.Sprintf(format, args...)}
	}
}

// clients returns the nodes whose client of an instance is in a state.
func (g *stage) clients(instance int32, state nodes.ClientState) (ids []nodes.ID) {
	for id := range nodes.ID(g.stack.N()) {
		if p := &g.staged[id].process; p.Up() && p.Client(instance) == state {
			ids = append(ids, id)
		}
	}
	return ids
}

// clientsUp returns how many clients are up.
func (g *stage) clientsUp() (up int) {
	for id := range g.stack.N() {
		if g.staged[id].process.Up() {
			up++
		}
	}
	return up
}

// anywhere returns the nodes whose client of some instance is in a state.
func (g *stage) anywhere(state nodes.ClientState) (ids []nodes.ID) {
	for _, instance := range g.stack.Mutexes() {
		ids = append(ids, g.clients(instance, state)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// stuck reports whether nothing is left to happen but requests and faults.
func (g *stage) stuck() bool {
	if g.timed() || len(g.flying) > 0 || len(g.anywhere(nodes.Inside)) > 0 {
		return false
	}
	_, left := g.untold()
	return !left
}

// end returns what came of the replay.
func (g *stage) end() *Replayed {
	r := &Replayed{Story: g.story, Violation: g.found}
	status := make([]*nodes.NodeStatus, len(g.staged))
	for id := range g.staged {
		if p := &g.staged[id].process; p.Up() {
			status[id] = p.Status(0)
		}
	}
	r.Status = stall.Report(status, g.stack.N())
	waiting := g.anywhere(nodes.Waiting)
	g.now += stepTime
	g.mark(history.Stopped)
	switch {
	case g.stuck() && len(waiting) > 0:
		g.mark(history.Stalled)
		r.Stall = r.Status
		if r.Violation == nil {
			r.Violation = &Violation{Check: CheckDeadlock, Stall: r.Stall,
				Says: "nothing is left to happen, and " + who(waiting, "waits", "wait")}
			r.Story = append(r.Story, r.Violation.Says)
		}
	case g.stuck():
		g.mark(history.Rested)
		before := len(g.story)
		g.settle()
		r.Story, r.Violation = append(r.Story, g.story[before:]...), g.found
	default:
		g.mark(history.Interrupted)
	}
	if r.Violation != nil {
		needs := needsOf(r.Violation.Check, g.stack)
		r.Violation.OutsideModel = (g.broken | minority(g.clientsUp(), g.stack.N())) & needs
	}
	r.History = &history.History{Events: g.events, Logs: []*history.NodeLog{{Node: nodes.None}}}
	for id := range g.staged {
		l := g.staged[id].log
		l.Totals.TraceNext = uint64(len(l.Trace))
		r.History.Logs = append(r.History.Logs, l)
	}
	return r
}

// Told returns a story and its outcome, as written below a schedule.
func Told(story []string, v *Violation) string {
	end := "nothing is broken"
	if v != nil {
		end = "broken: " + v.Check
		if v.OutsideModel != 0 {
			end += fmt.Sprintf(" (outside its model: it needs %v)", v.OutsideModel)
		}
	}
	return strings.Join(append(slices.Clip(story), end), "\n") + "\n"
}

// who says which nodes do something: node 1 waits, or nodes 1, 2 wait.
func who(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return fmt.Sprintf("node %d %s", all[0], does)
	}
	return "nodes " + ids(all) + " " + do
}

// ids lists nodes.
func ids(all []nodes.ID) string { return strings.ReplaceAll(list(all), " ", ", ") }

func (g *stage) name(id nodes.ID) string {
	if int(id) >= g.stack.N() {
		return fmt.Sprintf("server %d", id)
	}
	return fmt.Sprintf("node %d", id)
}

func (g *stage) describe(f flight) string {
	article := "a"
	if strings.ContainsAny(g.kind(f)[:1], "aeiou") {
		article = "an"
	}
	return fmt.Sprintf("%s %s from %s to %s", article, g.kind(f), g.name(f.from), g.name(f.to))
}

func (g *stage) tell(format string, args ...any) {
	g.story = append(g.story, fmt.Sprintf(format, args...))
}

func (g *stage) record(id nodes.ID, e history.Event) {
	e.At, e.Node = g.now, id
	g.events = append(g.events, e)
}

func (g *stage) mark(mark uint32) {
	g.record(nodes.None, history.Event{Kind: history.Marked, Count: mark})
}

// broke records that an assumption about the system does not hold any more.
func (g *stage) broke(need nodes.Assumption) {
	if g.broken&need == 0 {
		g.broken |= need
		g.record(nodes.None, history.Event{Kind: history.AssumptionBroken, Value: int64(g.broken)})
	}
}

// note records a message in the trace of the node that has sent or handled it.
func (g *stage) note(node, peer nodes.ID, instance int32, kind uint8, sent bool) {
	l := g.staged[node].log
	l.Trace = append(l.Trace, history.MessageRecord{At: g.now, Seq: uint32(len(l.Trace) + 1), Node: node,
		Peer: peer, Instance: uint16(instance), Kind: kind, Sent: sent})
}

// longestDrop is how many steps Minimise tries to drop at once.
const longestDrop = 32

// Minimise drops steps from the schedule, one or several in a row, as long as the same check still fails.
func Minimise(s *Schedule) (*Schedule, error) {
	r, err := Replay(s)
	if err != nil || r.Violation == nil {
		return s, err
	}
	less := *s
	less.Steps = ddmin.Reduce(s.Steps, longestDrop, func(steps []Step) bool {
		fewer := *s
		fewer.Steps = steps
		got, err := Replay(&fewer)
		return err == nil && got.Violation != nil && got.Violation.Check == r.Violation.Check &&
			got.Violation.OutsideModel == r.Violation.OutsideModel
	})
	return &less, nil
}
