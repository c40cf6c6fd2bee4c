package mutex

import "turnstile/nodes"

func raymondMutants() []mutant {
	change := mutantsOf[raymond](&raymondAlgorithm, nodes.Config{N: 4})
	return []mutant{
		change("a node asks again for everyone who wants it", "identities",
			func(r raymond) nodes.Machine { return &raymondAsking{r} }),
		change("who gives the privilege away does not ask for it back", "progress",
			func(r raymond) nodes.Machine { return &raymondSilent{r} }),
		change("a node inside gives the privilege away", "exclusion",
			func(r raymond) nodes.Machine { return &raymondGenerous{r} }),
		change("a privilege that was here before is taken again", "exclusion or panic",
			func(r raymond) nodes.Machine { return &raymondStale{r} }).copied(),
		change("node 0 makes a privilege whenever it comes up", "exclusion",
			func(r raymond) nodes.Machine { return &raymondMinting{r} }).restarted(),
		change("one request of a node in 25 goes with a request and a privilege that are out of date", "cost",
			func(r raymond) nodes.Machine { return &raymondWasteful{raymond: r} }).wasteful(),
		change("the last node is always put last", "fairness",
			func(r raymond) nodes.Machine { return &raymondUnfair{r} }),
	}
}

type (
	raymondAsking   struct{ raymond }
	raymondSilent   struct{ raymond }
	raymondGenerous struct{ raymond }
	raymondStale    struct{ raymond }
	raymondMinting  struct{ raymond }
	raymondUnfair   struct{ raymond }
	raymondWasteful struct {
		raymond
		waste
	}
)

func (r *raymondAsking) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.asked = false
	r.raymond.Receive(env, from, m)
}

func (r *raymondSilent) Release(env *nodes.Env) {
	r.using = false
	r.assign(env)
}

func (r *raymondGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.using = false
	r.raymond.Receive(env, from, m)
}

func (r *raymondStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if p, ok := m.(raymondPrivilege); ok && !r.has {
		r.serial = p.Serial - 1
	}
	r.raymond.Receive(env, from, m)
}

func (r *raymondMinting) Recover(env *nodes.Env, _ nodes.Message) { r.Start(env) }

func (r *raymondUnfair) Release(env *nodes.Env) {
	r.putLast(env)
	r.raymond.Release(env)
}

func (r *raymondUnfair) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.putLast(env)
	r.raymond.Receive(env, from, m)
}

func (r *raymondUnfair) putLast(env *nodes.Env) {
	r.queue = lastLast(r.queue, func(id nodes.ID) bool { return int(id) == env.N()-1 })
}

func (r *raymondWasteful) Request(env *nodes.Env) {
	r.raymond.Request(env)
	if r.now() && r.holder != nodes.None {
		env.Send(r.holder, raymondRequest{}) // a copy, for all that its receiver can tell
		env.Send(r.holder, raymondPrivilege{})
	}
}
