package mutex

import (
	"turnstile/nodes"
)

func multiCopyMutants() []mutant {
	of := mutantsOf[multiCopy](&multiCopyAlgorithm, nodes.Config{N: 3, Units: 3})
	return []mutant{
		of("a peer answers that it takes one copy, however many that are", "exclusion",
			func(c multiCopy) nodes.Machine { return &copiesUncounted{c} }),
		of("a peer that waits answers that it takes none", "exclusion",
			func(c multiCopy) nodes.Machine { return &copiesUnreserved{c} }),
		of("who has not answered counts with no copies", "exclusion",
			func(c multiCopy) nodes.Machine { return &copiesUnasked{c} }),
		of("ANSWER does not say to which request", "exclusion or progress",
			func(c multiCopy) nodes.Machine { return &copiesAnyAnswer{c} }),
		of("a node that leaves says so to nobody", "progress",
			func(c multiCopy) nodes.Machine { return &copiesKept{c} }),
	}
}

type (
	copiesUncounted  struct{ multiCopy }
	copiesUnreserved struct{ multiCopy }
	copiesUnasked    struct{ multiCopy }
	copiesAnyAnswer  struct{ multiCopy }
	copiesKept       struct{ multiCopy }
)

func (c *copiesUncounted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	units := c.units
	if _, is := m.(copiesRequest); is {
		c.units = min(c.units, 1)
	}
	c.multiCopy.Receive(env, from, m)
	c.units = units
}

func (c *copiesUnreserved) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, is := m.(copiesRequest); is && c.waiting {
		c.clock = max(c.clock, q.Clock)
		env.Send(from, copiesAnswer{q.Clock, 0})
		return
	}
	c.multiCopy.Receive(env, from, m)
}

func (c *copiesUnasked) Request(env *nodes.Env) {
	copies := c.copies
	c.copies = 0 // of each peer
	c.multiCopy.Request(env)
	c.copies = copies
	c.enter(env)
}

func (c *copiesAnyAnswer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch a := m.(type) {
	case copiesAnswer:
		m = copiesAnswer{c.ours.Clock, a.Takes}
	case copiesFreed:
		m = copiesFreed{c.ours.Clock}
	}
	c.multiCopy.Receive(env, from, m)
}

func (c *copiesKept) Release(*nodes.Env) { c.ours, c.units = stamp{}, 0 }
