package explore

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/stall"
)

// feed hands a node an input, does what it asks for, and tells of it.
func (g *stage) feed(id nodes.ID, in nodes.Input) {
	effects, panics := g.handle(id, in)
	if panics != "" {
		g.found = &Violation{Check: CheckPanic, Says: panics}
		g.tell("%s: PANIC: %s", g.name(id), panics)
		return
	}
	a := &g.actors[id]
	a.alarms = g.schedule.Timing.alarms(a.node, a.alarms, effects)
	var sent []string
	for i := range effects {
		switch e := &effects[i]; e.Op {
		case nodes.OpSend:
			g.send(id, e.To, e)
			sent = append(sent, fmt.Sprintf("%s to %s", g.codec.Name(int(e.Kind)), g.name(e.To)))
		case nodes.OpBroadcast:
			hearers, only := "", 0
			for to := range nodes.ID(g.n) {
				if to != id {
					g.send(id, to, e)
					hearers, only = g.name(to), only+1
				}
			}
			if only > 1 {
				hearers = "all"
			}
			sent = append(sent, g.codec.Name(int(e.Kind))+" to "+hearers)
		case nodes.OpSave:
			a.saved = e.Message
		}
	}
	if len(sent) > 0 {
		g.tale[len(g.tale)-1] += " and sends " + strings.Join(sent, ", ")
	}
	for i := range effects {
		if effects[i].Op == nodes.OpGrant {
			g.enter(id)
		}
	}
}

// handle hands a node an input. It returns the text if the machine panics.
func (g *stage) handle(id nodes.ID, in nodes.Input) (effects []nodes.Effect, panics string) {
	defer func() {
		if text := recover(); text != nil {
			panics = fmt.Sprint(text)
		}
	}()
	effects = g.actors[id].node.Handle(in)
	for i := range effects {
		if e := &effects[i]; e.Op == nodes.OpSend {
			mustExist(id, e.To, len(g.actors))
		}
	}
	return effects, ""
}

// send puts a message on its way, unless its receiver is down.
func (g *stage) send(from, to nodes.ID, e *nodes.Effect) {
	t := g.actors[from].log.Instance(0)
	kind := t.Kind(e.Kind)
	kind.Sent++
	kind.Publishes++
	if e.Resend {
		t.Resent++
	}
	if g.spec.Circulates {
		g.record(from, history.Event{Kind: history.Sent, Count: uint32(e.Kind)})
	}
	g.messageRecord(from, to, e.Kind, true)
	if a := &g.actors[to]; a.started && a.node == nil {
		a.log.Instance(0).Dropped++
		return
	}
	g.flying = append(g.flying, flight{from, to, e.Kind, e.Message, g.schedule.Timing.flight()})
}

// enter lets a client in, which nobody else may be then.
func (g *stage) enter(id nodes.ID) {
	a := &g.actors[id]
	var others []string
	for other := range nodes.ID(g.n) {
		if other != id && g.client(other) == nodes.Inside {
			others = append(others, fmt.Sprint(other))
		}
	}
	a.money = g.account
	a.log.Instance(0).Entries++
	g.record(id, history.Event{Kind: history.Entered, Entry: a.entry, Value: a.money,
		Count: uint32(1 + len(others))})
	if len(others) == 0 {
		g.tell("%s enters", g.name(id))
		return
	}
	together := strings.Join(others, ", ")
	g.tell("%s enters: INSIDE TOGETHER WITH %s", g.name(id), together)
	if g.found == nil {
		g.found = &Violation{Check: CheckExclusion,
			Says: fmt.Sprintf("%s enters while %s is inside", g.name(id), together)}
	}
}

// client returns where a client stands; that of a node that is down is idle.
func (g *stage) client(id nodes.ID) nodes.ClientState {
	if g.actors[id].node == nil {
		return nodes.Idle
	}
	return g.actors[id].node.Client(0)
}

// clients returns those in a state.
func (g *stage) clients(state nodes.ClientState) (ids []nodes.ID) {
	for id := range nodes.ID(g.n) {
		if g.client(id) == state {
			ids = append(ids, id)
		}
	}
	return ids
}

// stuck reports whether nothing is left to happen but requests and faults.
func (g *stage) stuck() bool {
	for id := range g.actors {
		if len(g.actors[id].alarms) > 0 {
			return false
		}
	}
	return len(g.flying) == 0 && len(g.clients(nodes.Inside)) == 0
}

// end concludes the play.
func (g *stage) end() *Replayed {
	r := &Replayed{Story: g.tale, Violation: g.found}
	status := make([]*nodes.NodeStatus, len(g.actors))
	for id := range g.actors {
		if node := g.actors[id].node; node != nil {
			status[id] = node.Status()
		}
	}
	r.Standings = stall.Report(status, g.n)
	waiting := g.clients(nodes.Waiting)
	g.now += stepTime
	g.mark(history.Stopped)
	switch {
	case g.stuck() && len(waiting) > 0:
		g.mark(history.Stalled)
		r.Stall = r.Standings
		if r.Violation == nil {
			r.Violation = &Violation{Check: CheckDeadlock, Stall: r.Stall,
				Says: fmt.Sprintf("nothing is left to happen, and %s", waits(waiting))}
			r.Story = append(r.Story, r.Violation.Says)
		}
	case g.stuck():
		g.mark(history.Rested)
	default:
		g.mark(history.Interrupted)
	}
	if r.Violation != nil {
		needs := g.spec.Safe
		if r.Violation.Check == CheckDeadlock {
			needs |= g.spec.Live
		}
		r.Violation.OutsideModel = g.broken & needs
	}
	r.History = &history.History{Logs: []*history.NodeLog{{Node: nodes.None, Events: g.journal}}}
	for id := range g.actors {
		l := g.actors[id].log
		l.Totals.EventCount, l.Totals.TraceNext = uint64(len(l.Events)), uint64(len(l.Trace))
		r.History.Logs = append(r.History.Logs, l)
	}
	return r
}

// waits says who waits.
func waits(ids []nodes.ID) string {
	if len(ids) == 1 {
		return fmt.Sprintf("node %d waits", ids[0])
	}
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = fmt.Sprint(id)
	}
	return "nodes " + strings.Join(all, ", ") + " wait"
}

func (g *stage) name(id nodes.ID) string {
	if int(id) >= g.n {
		return fmt.Sprintf("server %d", id)
	}
	return fmt.Sprintf("node %d", id)
}

func (g *stage) describe(f flight) string {
	return fmt.Sprintf("a %s from %s to %s", g.codec.Name(int(f.kind)), g.name(f.from), g.name(f.to))
}

func (g *stage) tell(format string, args ...any) {
	g.tale = append(g.tale, fmt.Sprintf(format, args...))
}

func (g *stage) record(id nodes.ID, e history.Event) {
	e.At, e.Node = g.now, id
	g.actors[id].log.Events = append(g.actors[id].log.Events, e)
}

func (g *stage) mark(mark uint32) {
	g.journal = append(g.journal, history.Event{At: g.now, Kind: history.Marked, Count: mark, Node: nodes.None})
}

// broke notes that an assumption about the system holds no more.
func (g *stage) broke(need nodes.Assumption) {
	if g.broken&need == 0 {
		g.broken |= need
		g.journal = append(g.journal,
			history.Event{At: g.now, Kind: history.AssumptionBroken, Value: int64(g.broken), Node: nodes.None})
	}
}

// messageRecord notes a message going by at a node.
func (g *stage) messageRecord(node, peer nodes.ID, kind uint8, sent bool) {
	l := g.actors[node].log
	l.Trace = append(l.Trace, history.MessageRecord{At: g.now, Seq: uint32(len(l.Trace) + 1), Node: node,
		Peer: peer, Kind: kind, Sent: sent})
}

// longestDrop is how many steps Minimise tries to drop at once.
const longestDrop = 32

// Minimise drops steps from the schedule, several in a row or one, as long as the same check still fails.
func Minimise(spec *nodes.Spec, s *Schedule) (*Schedule, error) {
	r, err := Replay(spec, s)
	if err != nil || r.Violation == nil {
		return s, err
	}
	less := *s
	for size := longestDrop; size > 0; size-- {
		for at := len(less.Steps) - size; at >= 0; at-- {
			fewer := less
			fewer.Steps = slices.Delete(slices.Clone(less.Steps), at, at+size)
			got, err := Replay(spec, &fewer)
			if err != nil || got.Violation == nil || got.Violation.Check != r.Violation.Check ||
				got.Violation.OutsideModel != r.Violation.OutsideModel {
				continue
			}
			less = fewer
			size = min(longestDrop, len(less.Steps)) + 1 // what another step needed may now be of no use
			break
		}
	}
	return &less, nil
}
