package mutex

import "turnstile/nodes"

// centralInside is the central algorithm with no server of its own: node 0 is a client like all
// others and the coordinator as well. Its own entries are free, since what it sends itself needs no
// network. It excludes for the same reason.
type centralInside struct {
	centralClient
	coordinator // of use at node 0 alone
}

func (c *centralInside) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case centralGrant:
		c.centralClient.Receive(env, from, m)
	default:
		c.coordinator.Receive(env, from, m)
	}
}
