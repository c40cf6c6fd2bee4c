package mutex

import "turnstile/nodes"

// The mutants of the algorithms of Raymond and of Naimi and Trehel.

func treeMutants() []Mutant {
	c := nodes.Config{N: 4}
	ry := func(c nodes.Config) raymond { return raymond{config: c, holder: nodes.None} }
	nt := func() naimiTrehel { return naimiTrehel{father: nodes.None, next: nodes.None} }
	return []Mutant{
		mutant("raymond", "a node asks again for everyone who wants it", "identities", c,
			func(c nodes.Config) nodes.Mutex { return &ryAsking{ry(c)} }),
		mutant("raymond", "who gives the privilege away does not ask for it back", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &rySilent{ry(c)} }),
		mutant("raymond", "a node inside gives the privilege away", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &ryGenerous{ry(c)} }),
		mutant("raymond", "a privilege that was here before is taken again", "exclusion or panic", c,
			func(c nodes.Config) nodes.Mutex { return &ryStale{ry(c)} }).copied(),
		mutant("raymond", "node 0 makes a privilege whenever it comes up", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &ryMinting{ry(c)} }).restarted(),
		mutant("naimi-trehel", "who asks does not become the father", "progress", c,
			func(nodes.Config) nodes.Mutex { return &ntFaithful{nt()} }),
		mutant("naimi-trehel", "next is not forgotten when the token goes there", "progress", c,
			func(nodes.Config) nodes.Mutex { return &ntClinging{nt()} }),
		mutant("naimi-trehel", "a node inside sends the token", "exclusion", c,
			func(nodes.Config) nodes.Mutex { return &ntGenerous{nt()} }),
		mutant("naimi-trehel", "node 0 makes a token whenever it comes up", "exclusion or panic", c,
			func(nodes.Config) nodes.Mutex { return &ntMinting{nt()} }).restarted(),
		mutant("naimi-trehel", "a token that was here before is taken again", "exclusion or panic", c,
			func(nodes.Config) nodes.Mutex { return &ntStale{nt()} }).copied(),
	}
}

type (
	ryAsking   struct{ raymond }
	rySilent   struct{ raymond }
	ryGenerous struct{ raymond }
	ryStale    struct{ raymond }
	ryMinting  struct{ raymond }
	ntFaithful struct{ naimiTrehel }
	ntClinging struct{ naimiTrehel }
	ntGenerous struct{ naimiTrehel }
	ntMinting  struct{ naimiTrehel }
	ntStale    struct{ naimiTrehel }
)

func (r *ryAsking) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.asked = false
	r.raymond.Receive(env, from, m)
}

func (r *rySilent) Release(env *nodes.Env) {
	r.using = false
	r.assign(env)
}

func (r *ryGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.using = false
	r.raymond.Receive(env, from, m)
}

func (r *ryStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if p, ok := m.(ryPrivilege); ok && !r.has {
		r.serial = p.Serial - 1
	}
	r.raymond.Receive(env, from, m)
}

func (r *ryMinting) Recover(env *nodes.Env, _ nodes.Message) { r.Start(env) }

func (t *ntFaithful) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	father := t.father
	t.naimiTrehel.Receive(env, from, m)
	t.father = father
}

func (t *ntClinging) Release(env *nodes.Env) {
	next := t.next
	t.naimiTrehel.Release(env)
	t.next = next
}

func (t *ntGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	wanted := t.wants
	if _, ok := m.(ntRequest); ok && t.has {
		t.wants = false
	}
	t.naimiTrehel.Receive(env, from, m)
	t.wants = wanted
}

func (t *ntMinting) Recover(env *nodes.Env, _ nodes.Message) { t.Start(env) }

func (t *ntStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if token, ok := m.(ntToken); ok && !t.has {
		t.serial = token.Serial - 1
	}
	t.naimiTrehel.Receive(env, from, m)
}
