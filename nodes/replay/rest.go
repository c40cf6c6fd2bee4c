package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// check checks whether the nodes and the kind of message that a step names exist.
func (g *Stage) check(s Step) error {
	all := append([]nodes.ID{s.Node, s.From, s.To}, s.Who...) // 0 if a step names none
	if s.What != StepBelieves || s.Peer >= 0 {
		all = append(all, s.Peer)
	}
	for _, id := range all {
		if id < 0 || int(id) >= len(g.Nodes) {
			return fmt.Errorf("there is no node %d: they are 0 to %d", id, len(g.Nodes)-1)
		}
	}
	if kinds := g.stack.Codec().Names(); s.Kind != "" && !slices.Contains(kinds, s.Kind) {
		return fmt.Errorf("there is no message of kind %s: there are %s", s.Kind, strings.Join(kinds, ", "))
	}
	return nil
}

// in checks that exactly the clients that a step names are inside.
func (g *Stage) in(s Step) error {
	return same(g.clients(s.Instance, nodes.Inside), s.Who, "nobody is inside", "inside is %s")
}

// same returns an error if the nodes that are something are not exactly those that were named: it says that
// nobody is, or which.
func same(are, named []nodes.ID, nobody, which string) error {
	switch {
	case slices.Equal(are, named):
		return nil
	case len(are) == 0:
		return errors.New(nobody)
	}
	return fmt.Errorf(which, list(are))
}

// none checks that no message such as a step names is on its way.
func (g *Stage) none(s Step) error {
	if at, _ := g.find(s); at >= 0 {
		return fmt.Errorf("there is %s", g.describe(g.Flying[at]))
	}
	return nil
}

// mostRest is how many moves a rest takes at most.
const mostRest = 10_000

// rest runs the cluster until nothing is left to happen: messages arrive in the order in which they were
// sent; when none is on its way, whoever is inside leaves; when nobody is, the failure detector tells what it
// has to tell; and when it has told all, timers run out, in the order of the least times that they were set
// for, as if all else took none. An election is over when all agree.
//
// A rest that comes back to a state, and in which nothing else could have happened meanwhile, goes on for
// ever. Nodes that do not agree then never will.
func (g *Stage) rest() error {
	since := map[string]bool{} // the states since when anything else could have happened
	for range mostRest {
		if g.found != nil || g.resting() {
			return nil
		}
		if g.chose || !g.forced() {
			clear(since)
		}
		state := g.state()
		if since[state] && g.rules.Elects {
			g.Lab.Observe(nodes.None, history.Endless)
			g.violate(CheckAgreement, "one message goes round for ever, and not all agree: "+
				saysBeliefs(g.electorate()))
			return nil
		}
		since[state], g.chose = true, false
		if !g.advance() {
			return nil
		}
	}
	return fmt.Errorf("nothing comes to rest within %d moves", mostRest)
}

// forced reports whether the arrival of one message is all that can happen, but for requests and faults.
func (g *Stage) forced() bool {
	_, left := g.untold()
	return len(g.Flying) == 1 && g.schedule.Timing == nil && !left && !g.timed() &&
		len(g.anywhere(nodes.Inside)) == 0
}

// timed reports whether a timer runs.
func (g *Stage) timed() bool {
	return slices.ContainsFunc(g.Nodes, func(a stagedNode) bool { return len(a.Timers) > 0 })
}

// state writes out all that tells what follows: the nodes, and the messages on their way.
func (g *Stage) state() string {
	var b []byte
	for id := range g.Nodes {
		b = g.Nodes[id].Belief.Append(g.Nodes[id].Process.AppendState(b))
	}
	for _, f := range g.Flying {
		b = append(b, byte(f.From), byte(f.To), byte(f.Instance), f.Kind)
		b = g.stack.Codec().Append(b, int(f.Kind), f.Message)
	}
	return string(b)
}

// resting reports whether nobody waits or is inside, the failure detector has told all, nodes agree on a
// leader if they are to and, unless messages circulate, none is on its way.
func (g *Stage) resting() bool {
	if _, left := g.untold(); left || g.rules.Elects && g.electorate().Disagree() {
		return false
	}
	return len(g.anywhere(nodes.Waiting)) == 0 && len(g.anywhere(nodes.Inside)) == 0 &&
		(len(g.Flying) == 0 || g.schedule.Spec.Circulates)
}

// advance makes the next move of a rest, and reports whether there was one.
func (g *Stage) advance() bool {
	g.now += stepTime
	if at := slices.IndexFunc(g.Flying, func(f Flight) bool { return f.Open() }); at >= 0 {
		g.deliver(at)
		return true
	}
	for _, instance := range g.stack.Mutexes() {
		for _, id := range g.clients(instance, nodes.Inside) {
			return g.release(Step{Node: id, Instance: instance}) == nil
		}
	}
	if s, left := g.untold(); left {
		return g.hear(s) == nil
	}
	if id, t, left := g.nextTimer(); left {
		g.rested = max(g.rested, g.due[dueTimer{id, t.Instance, t.Gen}])
		g.runOut(id, t)
		return true
	}
	return g.schedule.Timing != nil && !g.stuck() && g.tick() == nil
}

// A dueTimer is a timer that was set, on a node, for an instance, as a generation.
type dueTimer struct {
	node     nodes.ID
	instance int32
	gen      uint32
}

// nextTimer returns the timer that is due first, of which node; of several the first.
func (g *Stage) nextTimer() (next nodes.ID, timer RunningTimer, found bool) {
	var least time.Duration
	for id := range g.Nodes {
		for _, t := range g.Nodes[id].Timers {
			due := g.due[dueTimer{nodes.ID(id), t.Instance, t.Gen}]
			if t.Open() && (!found || due < least) {
				next, timer, found, least = nodes.ID(id), t, true, due
			}
		}
	}
	return next, timer, found
}
