package explore

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// crash takes a node down. Messages on their way to it are lost.
func (g *stage) crash(id nodes.ID) {
	a := &g.staged[id]
	g.tell("%s crashes", g.name(id))
	g.broke(nodes.NoCrash)
	g.record(id, history.Event{Kind: history.Crashed, Entry: a.clients[0].entry})
	for i := range a.clients {
		if a.process.Client(int32(i)) == nodes.Inside {
			g.resources[i].taken -= a.process.Units(int32(i))
		}
	}
	a.process.Crash()
	a.timers, a.suspects = nil, nodes.Set{}
	a.belief.crash()
	g.flying = slices.DeleteFunc(g.flying, func(f flight) bool {
		if f.to == id {
			g.counters(id, f.instance).Dropped++
		}
		return f.to == id
	})
	g.passOver(false)
	g.follow()
}

// restart brings a node up again.
func (g *stage) restart(id nodes.ID, amnesia bool) {
	p := &g.staged[id].process
	if p.Forgets(amnesia) {
		g.broke(nodes.NoAmnesia)
		g.tell("%s comes up again, having forgotten everything", g.name(id))
	} else {
		g.tell("%s comes up again", g.name(id))
	}
	g.record(id, history.Event{Kind: history.Restarted, Count: p.Incarnation() + 1})
	g.have(id, func(p *nodes.Process) { p.Restart(amnesia) })
}
