package mutex

import (
	"turnstile/nodes"
)

func raymondKMutants() []mutant {
	of := mutantsOf[raymondK](&raymondKAlgorithm, nodes.Config{N: 4, Units: 2})
	return []mutant{
		of("a node enters without one reply more", "exclusion",
			func(r raymondK) nodes.Machine { r.without++; return &r }),
		of("REPLY does not say to which request", "exclusion",
			func(r raymondK) nodes.Machine { return &raymondKAnyReply{r} }),
		of("a node that is inside replies at once", "exclusion",
			func(r raymondK) nodes.Machine { return &raymondKGenerous{r} }),
		of("a node waits for one reply more", "capacity",
			func(r raymondK) nodes.Machine { r.without--; return &r }).holding(longHold),
	}
}

type (
	raymondKAnyReply struct{ raymondK }
	raymondKGenerous struct{ raymondK }
)

func (r *raymondKAnyReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, is := m.(ricartReply); is {
		m = ricartReply{r.ours.Clock}
	}
	r.raymondK.Receive(env, from, m)
}

func (r *raymondKGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, is := m.(ricartRequest); is && !r.waiting {
		r.clock = max(r.clock, q.Clock)
		env.Send(from, ricartReply(q))
		return
	}
	r.raymondK.Receive(env, from, m)
}
