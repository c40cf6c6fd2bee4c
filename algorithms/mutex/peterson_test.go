package mutex

import (
	"turnstile/algorithms/register"
	"turnstile/nodes"
)

func petersonMutants() []mutant {
	c := nodes.Config{N: 3}
	change := mutantsOf[peterson](&petersonAlgorithm, c)
	return []mutant{
		change("a write is not waited for", "exclusion",
			func(p peterson) nodes.Machine { p.buffered = true; return &p }),
		change("a client says first that it is the last", "exclusion",
			func(p peterson) nodes.Machine { p.reordered = true; return &p }),
		change("a side that is interested is not waited for", "exclusion",
			func(p peterson) nodes.Machine { return &petersonHasty{p} }),
		change("who leaves does not withdraw", "progress",
			func(p peterson) nodes.Machine { return &petersonClinging{p} }),
		change("what keeps a client waiting is not read again", "progress",
			func(p peterson) nodes.Machine { return &petersonResigned{p} }),
		change("one request of a client in 25 reads a variable once more", "cost",
			func(p peterson) nodes.Machine { return &petersonWasteful{peterson: p} }).wasteful(),
		mutantsOf[registerServer](&petersonAlgorithm, c)("a write that comes twice is done twice",
			"exclusion or progress", func(r registerServer) nodes.Machine { return &petersonRewriting{r} }).copied(),
	}
}

type (
	petersonHasty     struct{ peterson }
	petersonClinging  struct{ peterson }
	petersonResigned  struct{ peterson }
	petersonRewriting struct{ registerServer }
	petersonWasteful  struct {
		peterson
		waste
	}
)

func (p *petersonHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(register.Value); ok && p.step == petersonWatches {
		v.Value = 0
		m = v
	}
	p.peterson.Receive(env, from, m)
}

func (p *petersonClinging) Release(*nodes.Env) { p.step = petersonOutside }

func (p *petersonResigned) Timeout(*nodes.Env, nodes.Timer) {}

func (p *petersonWasteful) Request(env *nodes.Env) {
	if p.now() {
		env.Send(nodes.ID(env.N()), register.Read{})
	}
	p.peterson.Request(env)
}

func (r *petersonRewriting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if w, ok := m.(register.Write); ok {
		r.memory.Set(w.Var, w.Value)
		env.Send(from, register.Written{Var: w.Var, Tag: w.Tag})
		return
	}
	r.registerServer.Receive(env, from, m)
}
