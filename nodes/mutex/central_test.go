package mutex

import "turnstile/nodes"

func centralMutants() []mutant {
	atServer := mutantsOf[coordinator](&centralRow, nodes.Config{N: 3})
	atClients := mutantsOf[centralClient](&centralRow, nodes.Config{N: 3})
	return []mutant{
		atServer("RELEASE does not say of which grant", "exclusion",
			func(c coordinator) nodes.Machine { return &centralAnyRelease{c} }).copied(),
		atServer("a copy of a request is queued", "progress",
			func(c coordinator) nodes.Machine { return &centralAnyRequest{c} }).copied(),
		atServer("the coordinator does not wait for the release", "exclusion",
			func(c coordinator) nodes.Machine { return &centralHasty{c} }),
		atClients("GRANT does not say of which request", "exclusion or progress",
			func(c centralClient) nodes.Machine { return &centralAnyGrant{c} }).copied(),
	}
}

type (
	centralAnyRelease struct{ coordinator }
	centralAnyRequest struct{ coordinator }
	centralHasty      struct{ coordinator }
	centralAnyGrant   struct{ centralClient }
)

func (c *centralAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(centralRelease); ok {
		m = centralRelease{c.serial}
	}
	c.coordinator.Receive(env, from, m)
}

func (c *centralAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if c.seen != nil {
		c.seen[from] = 0
	}
	c.coordinator.Receive(env, from, m)
}

func (c *centralHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	c.holder = ticket{}
	c.coordinator.Receive(env, from, m)
}

func (c *centralAnyGrant) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(centralGrant); ok {
		m = centralGrant{c.number, g.Serial}
	}
	c.centralClient.Receive(env, from, m)
}
