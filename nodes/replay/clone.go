package replay

import (
	"slices"
	"time"

	"turnstile/nodes"
)

// Clone returns a copy of the stage. Steps on one do not change the other.
func (g *Stage) Clone() *Stage {
	fresh := new(Stage)
	*fresh = *g
	fresh.Lab = g.Lab.Clone(fresh.add)
	rt := nodes.NewRuntime(g.stack.Stack, fresh, fresh.choose)
	rt.TellBetween(fresh.between)
	fresh.Nodes = make([]stagedNode, len(g.Nodes))
	for id := range g.Nodes {
		of, a := &g.Nodes[id], &fresh.Nodes[id]
		*a = *of
		of.Process.CopyTo(&a.Process, rt)
		a.Timers, a.Suspects, a.Belief = slices.Clone(of.Timers), of.Suspects.Clone(), of.Belief.Copy()
	}
	fresh.Flying, fresh.due = slices.Clone(g.Flying), g.running()
	// What only grows is shared: an append to the copy allocates new memory.
	fresh.Events, fresh.trace, fresh.Story = slices.Clip(g.Events), slices.Clip(g.trace), slices.Clip(g.Story)
	fresh.answers = nil
	return fresh
}

// running returns when the timers that run are due at the earliest, by the clock of rests.
func (c *cluster) running() map[dueTimer]time.Duration {
	due := map[dueTimer]time.Duration{}
	for id := range c.Nodes {
		for _, t := range c.Nodes[id].Timers {
			key := dueTimer{nodes.ID(id), t.Instance, t.Gen}
			due[key] = c.due[key]
		}
	}
	return due
}
