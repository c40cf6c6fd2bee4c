package mutex

import "turnstile/nodes"

// The mutants of the algorithms of Raymond and of Naimi and Trehel.

func treeMutants() []Mutant {
	c := nodes.Config{N: 4}
	ry := func(c nodes.Config) raymond { return raymond{tree: c.Value(treeOption), holder: nodes.None} }
	nt := func() naimiTrehel { return naimiTrehel{father: nodes.None, next: nodes.None} }
	return []Mutant{
		mutant("raymond", "a node asks again for everyone who wants it", "identities", c,
			func(c nodes.Config) nodes.Machine { return &raymondAsking{ry(c)} }),
		mutant("raymond", "who gives the privilege away does not ask for it back", "progress", c,
			func(c nodes.Config) nodes.Machine { return &raymondSilent{ry(c)} }),
		mutant("raymond", "a node inside gives the privilege away", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &raymondGenerous{ry(c)} }),
		mutant("raymond", "a privilege that was here before is taken again", "exclusion or panic", c,
			func(c nodes.Config) nodes.Machine { return &raymondStale{ry(c)} }).copied(),
		mutant("raymond", "node 0 makes a privilege whenever it comes up", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &raymondMinting{ry(c)} }).restarted(),
		mutant("naimi-trehel", "who asks does not become the father", "progress", c,
			func(nodes.Config) nodes.Machine { return &naimiFaithful{nt()} }),
		mutant("naimi-trehel", "next is not forgotten when the token goes there", "progress", c,
			func(nodes.Config) nodes.Machine { return &naimiClinging{nt()} }),
		mutant("naimi-trehel", "a node inside sends the token", "exclusion", c,
			func(nodes.Config) nodes.Machine { return &naimiGenerous{nt()} }),
		mutant("naimi-trehel", "node 0 makes a token whenever it comes up", "exclusion or panic", c,
			func(nodes.Config) nodes.Machine { return &naimiMinting{nt()} }).restarted(),
		mutant("naimi-trehel", "a token that was here before is taken again", "exclusion or panic", c,
			func(nodes.Config) nodes.Machine { return &naimiStale{nt()} }).copied(),
	}
}

type (
	raymondAsking   struct{ raymond }
	raymondSilent   struct{ raymond }
	raymondGenerous struct{ raymond }
	raymondStale    struct{ raymond }
	raymondMinting  struct{ raymond }
	naimiFaithful   struct{ naimiTrehel }
	naimiClinging   struct{ naimiTrehel }
	naimiGenerous   struct{ naimiTrehel }
	naimiMinting    struct{ naimiTrehel }
	naimiStale      struct{ naimiTrehel }
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

func (t *naimiFaithful) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	father := t.father
	t.naimiTrehel.Receive(env, from, m)
	t.father = father
}

func (t *naimiClinging) Release(env *nodes.Env) {
	next := t.next
	t.naimiTrehel.Release(env)
	t.next = next
}

func (t *naimiGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	wanted := t.wants
	if _, ok := m.(naimiRequest); ok && t.has {
		t.wants = false
	}
	t.naimiTrehel.Receive(env, from, m)
	t.wants = wanted
}

func (t *naimiMinting) Recover(env *nodes.Env, _ nodes.Message) { t.Start(env) }

func (t *naimiStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if token, ok := m.(naimiToken); ok && !t.has {
		t.serial = token.Serial - 1
	}
	t.naimiTrehel.Receive(env, from, m)
}
