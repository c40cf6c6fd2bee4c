package replay

import (
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

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
