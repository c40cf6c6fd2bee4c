package replay

import (
	"errors"
	"slices"

	"turnstile/nodes"
)

// crash takes a node down. Messages on their way to it are lost.
func (g *Stage) crash(id nodes.ID) {
	a := &g.Nodes[id]
	if a.Process.Up() {
		g.tell("%s crashes", g.name(id))
	} else {
		g.tell("%s crashes before it has done the rest", g.name(id))
	}
	g.Lab.Crash(&a.Process)
	a.Process.Crash()
	a.Timers, a.Suspects, a.heard = nil, nodes.Set{}, 0
	a.Belief.Crash()
	g.Flying = slices.DeleteFunc(g.Flying, func(f Flight) bool {
		if f.To == id {
			g.lose(f)
		}
		return f.To == id
	})
	g.look()
	g.follow()
}

// restart brings a node up again.
func (g *Stage) restart(id nodes.ID, amnesia bool) {
	p := &g.Nodes[id].Process
	if g.Lab.Restart(p, amnesia) {
		g.tell("%s comes up again, having forgotten everything", g.name(id))
	} else {
		g.tell("%s comes up again", g.name(id))
	}
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
