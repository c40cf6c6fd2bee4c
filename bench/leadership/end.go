package leadership

import "turnstile/nodes"

// An Ending is whom the nodes that were up and ran took for the leader when the run was told to stop.
type Ending struct {
	Leading []nodes.ID // those that led
	// Without are those that did not take the only one that led for the leader: all, unless one led.
	Without []nodes.ID
	Stirs   bool // a node declared something after that
}

// ending returns whom the nodes that are up and run take for the leader.
func (f *Fold) ending() (e Ending) {
	var running []nodes.ID
	for i := range f.nodes {
		id := nodes.ID(i)
		if n := &f.nodes[i]; !n.up || n.stopped {
			continue
		}
		running = append(running, id)
		if f.leader(id) == id {
			e.Leading = append(e.Leading, id)
		}
	}
	for _, id := range running {
		if l := f.leader(id); len(e.Leading) != 1 || l != e.Leading[0] && l != nodes.Somebody {
			e.Without = append(e.Without, id)
		}
	}
	return e
}
