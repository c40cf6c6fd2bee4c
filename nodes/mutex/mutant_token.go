package mutex

import (
	"slices"

	"turnstile/nodes"
)

// The mutants of the token ring.

func ringMutants() []Mutant {
	c := nodes.Config{N: 3}
	return []Mutant{
		mutant("token-ring", "there are two tokens", "exclusion or panic", c,
			func(nodes.Config) nodes.Machine { return &ringTwo{} }),
		mutant("token-ring", "the token stays where nobody waits", "progress", c,
			func(nodes.Config) nodes.Machine { return &ringHolding{} }),
		mutant("token-ring", "a token that was here before is taken again", "exclusion or panic", c,
			func(nodes.Config) nodes.Machine { return &ringStale{} }).copied(),
		mutant("token-ring", "who waits for long makes a token", "exclusion", c,
			func(nodes.Config) nodes.Machine { return &ringImpatient{} }),
	}
}

type (
	ringTwo       struct{ tokenRing }
	ringHolding   struct{ tokenRing }
	ringStale     struct{ tokenRing }
	ringImpatient struct{ tokenRing }
)

func (r *ringTwo) Start(env *nodes.Env) {
	r.tokenRing.Start(env)
	if int(env.Self()) == env.N()/2 {
		r.has = true
		r.pass(env)
	}
}

func (r *ringHolding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if token, ok := m.(ringToken); ok && !r.wants && token.Hops > r.hops {
		r.hops, r.has = token.Hops, true
		return
	}
	r.tokenRing.Receive(env, from, m)
}

func (r *ringStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if token, ok := m.(ringToken); ok && !r.has {
		r.hops = token.Hops - 1
	}
	r.tokenRing.Receive(env, from, m)
}

func (r *ringImpatient) Request(env *nodes.Env) {
	r.tokenRing.Request(env)
	if !r.has {
		env.SetTimer(tired, tiredAfter, 2*tiredAfter)
	}
}

func (r *ringImpatient) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if r.has {
		return // we have made one
	}
	r.tokenRing.Receive(env, from, m)
	if r.has {
		env.StopTimer(tired)
	}
}

func (r *ringImpatient) Timeout(env *nodes.Env, _ nodes.Timer) {
	r.has = true
	env.Grant()
}

// The mutants of the algorithm of Suzuki and Kasami.

func suzukiMutants() []Mutant {
	c := nodes.Config{N: 3}
	base := func(c nodes.Config) suzukiKasami { return suzukiKasami{rn: make([]uint64, c.N)} }
	return []Mutant{
		mutant("suzuki-kasami", "an idle holder answers no request", "progress", c,
			func(c nodes.Config) nodes.Machine { return &suzukiIdle{base(c)} }),
		mutant("suzuki-kasami", "a holder waits for the token it has", "progress", c,
			func(c nodes.Config) nodes.Machine { return &suzukiSearching{base(c)} }),
		mutant("suzuki-kasami", "who leaves does not note that it was served", "identities", c,
			func(c nodes.Config) nodes.Machine { return &suzukiUnnoted{base(c)} }),
		mutant("suzuki-kasami", "a holder inside sends the token", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &suzukiGenerous{base(c)} }),
		mutant("suzuki-kasami", "all but the first of the token's queue count as served", "progress",
			nodes.Config{N: 5},
			func(c nodes.Config) nodes.Machine { return &suzukiCutting{base(c)} }),
		mutant("suzuki-kasami", "a token that was here before is taken again", "exclusion or panic", c,
			func(c nodes.Config) nodes.Machine { return &suzukiStale{base(c)} }).copied(),
		mutant("suzuki-kasami", "node 0 makes a token whenever it comes up", "exclusion or panic", c,
			func(c nodes.Config) nodes.Machine { return &suzukiMinting{base(c)} }).restarted(),
		mutant("suzuki-kasami-retrying", "only RN = LN+1 counts as asking", "progress", c,
			func(c nodes.Config) nodes.Machine {
				return &suzukiRetrying{suzukiKasami: base(c), anew: true, exact: true}
			}),
	}
}

type (
	suzukiIdle      struct{ suzukiKasami }
	suzukiSearching struct{ suzukiKasami }
	suzukiUnnoted   struct{ suzukiKasami }
	suzukiGenerous  struct{ suzukiKasami }
	suzukiCutting   struct{ suzukiKasami }
	suzukiStale     struct{ suzukiKasami }
	suzukiMinting   struct{ suzukiKasami }
)

func (s *suzukiIdle) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(suzukiRequest); ok {
		s.rn[from] = max(s.rn[from], q.Number)
		return
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiSearching) Request(env *nodes.Env) {
	s.wants = true
	s.rn[env.Self()]++
	env.Broadcast(suzukiRequest{s.rn[env.Self()]})
}

func (s *suzukiUnnoted) Release(env *nodes.Env) {
	ours := &s.rn[env.Self()]
	asked := *ours
	*ours = s.token.LN[env.Self()]
	s.suzukiKasami.Release(env)
	*ours = asked
}

func (s *suzukiGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(suzukiRequest); ok && s.has && q.Number > s.token.LN[from] {
		s.rn[from] = q.Number
		s.send(env, from)
		return
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiGenerous) Release(env *nodes.Env) {
	if s.wants = false; s.has {
		s.leave(env)
	}
}

func (s *suzukiCutting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(suzukiToken); ok && len(t.Queue) > 0 {
		t.LN = slices.Clone(t.LN)
		for _, id := range t.Queue[1:] {
			t.LN[id]++
		}
		t.Queue = t.Queue[:1]
		m = t
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(suzukiToken); ok && !s.has {
		s.token.Serial = t.Serial - 1
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiMinting) Recover(env *nodes.Env, _ nodes.Message) { s.Start(env) }
