package leadership

import "turnstile/nodes"

// A Flap is a leader that gave way while it was up.
type Flap struct {
	Node nodes.ID
	At   int64
	// Takeover says that it gave way to a node that had come up again since it began to lead: one that leads at
	// that moment or, if none does, the one that leads next.
	Takeover bool

	since int64 // when it began to lead
}

// Takeovers returns how many flaps were take-overs.
func (f *Fold) Takeovers() (n int) {
	for i := range f.Flaps {
		if f.Flaps[i].Takeover {
			n++
		}
	}
	return n
}

// depose takes note of a leader that gives way while it is up.
func (f *Fold) depose(old *Belief, at int64) {
	flap := Flap{Node: old.Node, At: at, since: old.From}
	others := false
	for i := range f.nodes {
		if b := f.current(nodes.ID(i)); b != nil && b.Leads() && b.Node != old.Node {
			others = true
			flap.Takeover = flap.Takeover || f.returned(b.Node, &flap)
		}
	}
	f.Flaps = append(f.Flaps, flap)
	if others {
		f.undecided = len(f.Flaps)
	}
}

// succeed notes that a node says that it leads: the leaders that gave way while no other led gave way to it.
func (f *Fold) succeed(id nodes.ID) {
	for ; f.undecided < len(f.Flaps); f.undecided++ {
		flap := &f.Flaps[f.undecided]
		flap.Takeover = f.returned(id, flap)
	}
}

// returned reports whether a node came up again after another had begun to lead, and before that gave way.
func (f *Fold) returned(id nodes.ID, flap *Flap) bool {
	restarted := f.nodes[id].restarted
	return restarted > flap.since && restarted <= flap.At
}
