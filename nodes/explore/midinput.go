package explore

import (
	"turnstile/nodes"
	"turnstile/nodes/replay"
)

// A node may crash in the middle of an input: an algorithm that sends before it has saved, or saves in two
// parts what belongs together, fails nowhere else. It is a further outcome of the input for each of these
// places. They lie between what outlives a crash: saves and messages. A crash before the first of them is one
// instead of the input, and a crash after the last is one after it.

// between is told of a place in the middle of an input.
func (ps *parts) between(p *nodes.Process, done int) {
	ps.places = done
	if done == ps.after {
		p.Crash()
	}
}

// crashes returns the outcomes of the stimulus that once was called with last, if the node crashes in the
// middle of it.
func (ps *parts) crashes(p *part, s stimulus) (all []outcome) {
	places := ps.places
	for after := 1; after <= places && s != onStart; after++ {
		ps.dice.at = 0
		all = append(all, ps.once(p, s, after))
	}
	return all
}

// down makes p the state of a node that is down.
func (p *part) down() {
	p.up, p.suspects, p.heard = false, 0, 0
	p.Belief.Crash()
}

// crashed reports whether the node of a move goes down by it.
func crashed(m move, out *outcome) bool {
	return m.what == replay.StepCrash || out != nil && out.after > 0
}
