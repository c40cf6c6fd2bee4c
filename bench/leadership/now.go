package leadership

import "turnstile/nodes"

// Agreed returns whom all nodes that are up and run take for the leader after the latest event; None: they do
// not all take the same one.
func (f *Fold) Agreed() nodes.ID { return f.agreed().leader }

// Follows reports whether a node takes another for the leader after the latest event.
func (f *Fold) Follows(id nodes.ID) bool {
	if !f.has(id) || !f.nodes[id].up {
		return false
	}
	leader := f.leader(id)
	return leader != nodes.None && leader != id
}
