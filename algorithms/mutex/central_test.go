package mutex

import (
	"slices"

	"turnstile/nodes"
)

func centralMutants() []mutant {
	atServer := mutantsOf[coordinator](&centralAlgorithm, nodes.Config{N: 3})
	atClients := mutantsOf[centralClient](&centralAlgorithm, nodes.Config{N: 3})
	return []mutant{
		atServer("RELEASE does not say of which grant", "exclusion",
			func(c coordinator) nodes.Machine { return &centralAnyRelease{c} }).copied(),
		atServer("a copy of a request is queued", "progress",
			func(c coordinator) nodes.Machine { return &centralAnyRequest{c} }).copied(),
		atServer("the coordinator does not wait for the release", "exclusion",
			func(c coordinator) nodes.Machine { return &centralHasty{c} }),
		atClients("GRANT does not say of which request", "exclusion or progress",
			func(c centralClient) nodes.Machine { return &centralAnyGrant{c} }).copied(),
		atServer("the last node is always put last", "fairness",
			func(c coordinator) nodes.Machine { return &centralUnfair{c} }),
	}
}

type (
	centralAnyRelease struct{ coordinator }
	centralAnyRequest struct{ coordinator }
	centralHasty      struct{ coordinator }
	centralAnyGrant   struct{ centralClient }
	centralUnfair     struct{ coordinator }
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

func (c *centralUnfair) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	c.queue = lastLast(c.queue, func(t ticket) bool { return int(t.Client) == env.N()-1 })
	c.coordinator.Receive(env, from, m)
}

// lastLast moves the first element of a queue for which last is true to the end of the queue.
func lastLast[T any](queue []T, last func(T) bool) []T {
	if at := slices.IndexFunc(queue, last); at >= 0 {
		queue = append(slices.Delete(slices.Clone(queue), at, at+1), queue[at])
	}
	return queue
}
