package mutex

import "turnstile/nodes"

func ricartMulticastMutants() []mutant {
	change := mutantsOf[ricartMulticast](&ricartAgrawalaAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("replies permit whatever request a peer has", "exclusion",
			func(r ricartMulticast) nodes.Machine { return &multicastToAll{r} }).at("replies", "multicast"),
		change("replies are sent though nobody waits", "identities",
			func(r ricartMulticast) nodes.Machine { return &multicastAlways{r} }).at("replies", "multicast"),
		change("the replies of an exit are forgotten but one", "progress",
			func(r ricartMulticast) nodes.Machine { return &multicastToOne{r} }).at("replies", "multicast"),
	}
}

type (
	multicastToAll  struct{ ricartMulticast }
	multicastAlways struct{ ricartMulticast }
	multicastToOne  struct{ ricartMulticast }
)

func (r *multicastToAll) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(ricartReplies); ok {
		m = ricartReply{r.ours.Clock}
	}
	r.ricartMulticast.Receive(env, from, m)
}

// multicastAlways sends replies of its own at each exit, beside the replies that it owes.
func (r *multicastAlways) Release(env *nodes.Env) {
	env.Broadcast(ricartReplies{make([]uint64, env.N())})
	r.ricartMulticast.Release(env)
}

func (r *multicastToOne) Release(env *nodes.Env) {
	if len(r.owed) > 1 {
		r.owed = r.owed[:1]
	}
	r.ricartMulticast.Release(env)
}
