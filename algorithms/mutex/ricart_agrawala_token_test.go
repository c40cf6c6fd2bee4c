package mutex

import (
	"slices"

	"turnstile/nodes"
)

func ricartTokenMutants() []mutant {
	change := mutantsOf[ricartToken](&ricartTokenAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("an idle holder does not look again when a request comes", "progress",
			func(r ricartToken) nodes.Machine { return &rtIdle{r} }),
		change("who leaves does not note that it was served", "identities or progress",
			func(r ricartToken) nodes.Machine { return &rtUnnoted{r} }),
		change("a holder inside sends the token", "exclusion",
			func(r ricartToken) nodes.Machine { return &rtGenerous{r} }),
		change("a token that was here before is taken again", "exclusion or panic",
			func(r ricartToken) nodes.Machine { return &rtStale{r} }).copied(),
		change("node 0 makes a token whenever it comes up", "exclusion or panic",
			func(r ricartToken) nodes.Machine { return &rtMinting{r} }).restarted(),
		mutantsOf[ricartToken](&ricartTokenAlgorithm, nodes.Config{N: 4})(
			"who leaves looks at node 0 first, and not at the node after it", "fairness",
			func(r ricartToken) nodes.Machine { return &rtLowest{r} }),
		change("one request of a node in 25 is sent again, with a token that is out of date", "cost",
			func(r ricartToken) nodes.Machine { return &rtWasteful{ricartToken: r} }).wasteful(),
	}
}

type (
	rtIdle     struct{ ricartToken }
	rtUnnoted  struct{ ricartToken }
	rtGenerous struct{ ricartToken }
	rtStale    struct{ ricartToken }
	rtMinting  struct{ ricartToken }
	rtLowest   struct{ ricartToken }
	rtWasteful struct {
		ricartToken
		waste
	}
)

func (r *rtIdle) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(rtRequest); ok {
		r.requests[from] = max(r.requests[from], q.Clock)
		return
	}
	r.ricartToken.Receive(env, from, m)
}

func (r *rtUnnoted) Release(env *nodes.Env) {
	ours := &r.requests[env.Self()]
	asked := *ours
	*ours = r.token.Served[env.Self()]
	r.ricartToken.Release(env)
	*ours = asked
}

func (r *rtGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	held := r.held
	if _, ok := m.(rtRequest); ok {
		r.held = false
	}
	r.ricartToken.Receive(env, from, m)
	r.held = held
}

func (r *rtGenerous) Release(env *nodes.Env) {
	if r.held = false; r.has {
		r.pass(env)
	}
}

func (r *rtStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(rtToken); ok && !r.has {
		r.token.Serial = t.Serial - 1
	}
	r.ricartToken.Receive(env, from, m)
}

func (r *rtMinting) Recover(env *nodes.Env, _ nodes.Message) { r.Start(env) }

// Release overlooks all waiting nodes but the first.
func (r *rtLowest) Release(env *nodes.Env) {
	heard := slices.Clone(r.requests)
	found := false
	for id := range r.requests {
		waits := nodes.ID(id) != env.Self() && r.requests[id] > r.token.Served[id]
		if waits && found {
			r.requests[id] = r.token.Served[id]
		}
		found = found || waits
	}
	r.ricartToken.Release(env)
	copy(r.requests, heard)
}

func (r *rtWasteful) Request(env *nodes.Env) {
	r.ricartToken.Request(env)
	if r.now() && !r.has {
		env.Broadcast(rtRequest{r.requests[env.Self()]})
		env.Send((env.Self()+1)%nodes.ID(env.N()), rtToken{})
	}
}
