package explore

import (
	"errors"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// crash takes a node down. Messages on their way to it are lost.
func (g *stage) crash(id nodes.ID) {
	a := &g.staged[id]
	if a.process.Up() {
		g.tell("%s crashes", g.name(id))
	} else {
		g.tell("%s crashes before it has done the rest", g.name(id))
	}
	g.broke(nodes.NoCrash)
	g.record(id, history.Event{Kind: history.Crashed, Entry: a.clients[0].entry})
	for i := range a.clients {
		if c := &a.clients[i]; c.inside { // its machine may have gone down before its grant was done
			g.resources[i].taken -= a.process.Units(int32(i))
			c.inside = false
		}
	}
	a.process.Crash()
	a.timers, a.suspects, a.heard = nil, nodes.Set{}, 0
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

// inputs reports whether a step is an input of a node, so that it may crash in the middle of it.
func (k StepKind) inputs() bool {
	switch k {
	case StepRequest, StepRelease, StepDeliver, StepTimeout, StepRestart, StepAmnesia, StepSuspect, StepTrust,
		StepCampaign:
		return true
	}
	return false
}

// cutCrashing takes off a step after how many saves and messages its node crashes, as in req 0 crashing 1.
func (s *Step) cutCrashing(words []string) ([]string, error) {
	at := slices.Index(words, "crashing")
	if at < 0 {
		return words, nil
	}
	all, err := numbers(words[at+1:])
	if err != nil || len(all) != 1 || all[0] < 1 {
		return words, errors.New("crashing takes how often the node has saved or sent, from 1, such as " +
			"crashing 1; choosing comes after it")
	}
	s.Crashing = all[0]
	return words[:at], nil
}

// between takes a node down in the middle of a step that says so.
func (g *stage) between(p *nodes.Process, done int) {
	if done == g.after {
		g.after = 0
		p.Crash()
	}
}
