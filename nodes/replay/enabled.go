package replay

import (
	"time"

	"turnstile/nodes"
)

// Enabled returns the steps that can be taken next: first messages, then what nodes can do,
// then faults. It leaves out cuts, copies, and crashes in the middle of a step, which can be taken
// at many places.
func (g *Stage) Enabled() (all []Step) {
	for i := range g.Flying {
		if f := &g.Flying[i]; g.Blocked(f) == "" {
			all = append(all, g.About(StepDeliver, f))
		}
	}
	for id := range g.Nodes {
		if a := &g.Nodes[id]; a.Process.Up() && a.started && !a.Paused {
			all = append(all, g.ofNode(nodes.ID(id))...)
		}
	}
	if tick := (Step{What: StepTick}); g.schedule.Timing != nil && g.mayPass() == nil {
		all = append(all, tick)
	}
	if g.Cut != nil {
		all = append(all, Step{What: StepHeal})
	}
	for id := range nodes.ID(len(g.Nodes)) {
		all = append(all, g.faultsOf(id)...)
	}
	for i := range g.Flying {
		all = append(all, g.About(StepDrop, &g.Flying[i]))
	}
	return all
}

// About returns the step that delivers, drops or copies a message on its way.
func (g *Stage) About(what StepKind, f *Flight) Step {
	return Step{What: what, Node: f.To, From: f.From, To: f.To, Kind: g.kind(*f), Instance: f.Instance,
		Nth: g.placeOf(f)}
}

// Blocked says why a message cannot arrive now; empty: it can.
func (g *Stage) Blocked(of *Flight) string {
	switch {
	case !of.Open():
		return "it is not due yet"
	case g.paused(of.To):
		return g.name(of.To) + " is paused"
	case g.schedule.Reordering:
		return ""
	}
	for i := range g.Flying {
		if f := &g.Flying[i]; f == of {
			break
		} else if f.From == of.From && f.To == of.To {
			return "messages of a link arrive in order: " + g.describe(*f) + " is first"
		}
	}
	return ""
}

// ofNode returns the steps of a node that is up and not paused, except faults: of its clients, its timers and
// its failure detector.
func (g *Stage) ofNode(id nodes.ID) (all []Step) {
	a := &g.Nodes[id]
	for _, instance := range g.stack.Mutexes() {
		if int(id) >= g.stack.N() {
			break
		}
		switch a.Process.Client(instance) {
		case nodes.Inside:
			all = append(all, Step{What: StepRelease, Node: id, Instance: instance})
		case nodes.Idle:
			all = append(all, Step{What: StepRequest, Node: id, Instance: instance})
		}
	}
	for _, t := range a.Timers {
		if t.Open() {
			step := Step{What: StepTimeout, Node: id, Instance: t.Instance, Timer: t.Timer}
			if t.Instance == 0 {
				step.Named = g.schedule.Spec.TimerName(g.schedule.Config, id, t.Timer.Kind)
			}
			all = append(all, step)
		}
	}
	if _, elects := a.Process.Machine(0).(nodes.Elector); elects {
		all = append(all, Step{What: StepCampaign, Node: id})
	}
	if !a.Process.Listens() {
		return all
	}
	for peer := range nodes.ID(len(g.Nodes)) {
		switch suspected := a.Suspects.Has(peer); {
		case peer == id:
		case !suspected:
			all = append(all, Step{What: StepSuspect, Node: id, Peer: peer})
		case g.Nodes[peer].Process.Up():
			all = append(all, Step{What: StepTrust, Node: id, Peer: peer})
		}
	}
	return all
}

// faultsOf returns the faults that can hit a node, and their ends.
func (g *Stage) faultsOf(id nodes.ID) []Step {
	var kinds []StepKind
	switch a := &g.Nodes[id]; {
	case !a.started:
	case !a.Process.Up():
		kinds = []StepKind{StepRestart, StepAmnesia}
	case a.Paused:
		kinds = []StepKind{StepResume, StepCrash}
	default:
		kinds = []StepKind{StepPause, StepCrash}
	}
	var all []Step
	for _, what := range kinds {
		all = append(all, Step{What: what, Node: id})
	}
	return all
}

// Found returns the violation that ends the play, or nil.
func (g *Stage) Found() *Violation { return g.found }

// Stuck reports whether only requests and faults can happen.
func (g *Stage) Stuck() bool { return g.stuck() }

// Time returns the time of the latest step in the history, which has a millisecond for each step.
func (g *Stage) Time() int64 { return g.now }

// Sent returns how many messages have been sent.
func (g *Stage) Sent() uint32 { return g.sends }

// Find returns the message that a step is about, or nil.
func (g *Stage) Find(s Step) *Flight {
	if at, _ := g.find(s); at >= 0 {
		return &g.Flying[at]
	}
	return nil
}

// Due returns the generation of the timer of a step, and the least time that it was set for.
func (g *Stage) Due(s Step) (gen uint32, least time.Duration) {
	for _, t := range g.Nodes[s.Node].Timers {
		if t.Timer == s.Timer && t.Instance == s.Instance {
			return t.Gen, g.due[dueTimer{s.Node, t.Instance, t.Gen}] - g.rested
		}
	}
	return 0, 0
}

// Disagree reports whether nodes that are up do not agree on a leader.
func (g *Stage) Disagree() bool { return g.electorate().Disagree() }
