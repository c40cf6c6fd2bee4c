package mutex

import "turnstile/nodes"

var tokenRingRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "token-ring",
		Aliases: []string{"ring"},
		Family:  "token",
		Source:  "Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977",
		Summary: "One token circulates in a ring of nodes, and a node that has it may enter before passing it on.",
	},
	New:      func(nodes.Config) nodes.Machine { return &tokenRing{} },
	Messages: []nodes.Kind{{Zero: ringToken{}, Token: true}},
	Live:     nodes.NoLoss | nodes.NoCrash,
	Cost: func(c nodes.Config) nodes.Cost {
		const formula = "1 saturated, N for one node, unbounded idle"
		if c.N == 1 {
			return always(formula, nodes.Exactly(0), nodes.Exactly(0))
		}
		return nodes.Cost{
			Formula:    formula,
			Sequential: nodes.Unbounded(1),
			One:        nodes.Exactly(float64(c.N)),
			Saturated:  nodes.Exactly(1),
			Any:        nodes.Unbounded(1),
			Delay:      nodes.Between(1, float64(c.N-1)),
		}
	},
	// Each node enters once in a lap (G. Le Lann, 1977).
	Bypass:     peers,
	Circulates: true,
	Published: []nodes.Claim{
		{Figure: nodes.MessagesPerEntry, Source: textbook, Value: exactly(1)},
		{Figure: nodes.MessagesPerEntry, Source: textbook, Load: "one",
			Value: formula(func(n float64) float64 { return n })},
		{Figure: nodes.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
		{Figure: nodes.SynchronizationDelayHops, Source: textbook + ": at most N-1", Load: "closed",
			Think: 20 * nodes.Hop, Sizes: nine,
			Value: func(c nodes.Config) nodes.Range { return nodes.Between(1, float64(c.N-1)) }},
		{Figure: nodes.ClientDelayHops, Source: textbook + ": anywhere from 0 to N", Load: "sequential",
			Sizes: nine, Value: func(c nodes.Config) nodes.Range { return nodes.Between(0, float64(c.N)) }},
	},
	Faults: withoutTimeouts(
		under(blocks, dossier+"crash of an idle node: B at the next pass to it", "dead-idle"),
		under(blocks, dossier+"token lost: B", "lost-token"),
		under(blocks|unhit, dossier+"partition: B; not hit if those next to each other reach each other",
			"majority-ring"),
		under(recovers|blocks, dossier+"restart of the holder: B; who has no token loses none",
			"empty-restarts"),
	),
}

// tokenRing is the algorithm of G. Le Lann, "Distributed systems: towards a formal approach",
// IFIP Congress 1977.
//
// One token circulates in the ring 0, 1, ..., n-1, 0. A node that has it may enter, and passes it on when it
// leaves; a node whose client does not wait passes it on at once.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts its hops, and a node drops one that has made no more hops than the last it had.
type tokenRing struct {
	hops  uint64 // of the token when it was last here
	has   bool   // the token is here
	wants bool   // our client waits or is inside
}

// ringToken is the privilege, having made so many Hops.
type ringToken struct{ Hops uint64 }

// Start has node 0 make the token.
func (r *tokenRing) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
		r.pass(env)
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (r *tokenRing) Recover(*nodes.Env, nodes.Message) {}

func (r *tokenRing) Request(env *nodes.Env) {
	r.wants = true
	if r.has {
		env.Grant() // only a single node keeps the token
	}
}

func (r *tokenRing) Release(env *nodes.Env) {
	r.wants = false
	r.pass(env)
}

func (r *tokenRing) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case ringToken:
		if m.Hops <= r.hops {
			return // a copy
		}
		r.hops = m.Hops
		r.has = true
		if r.wants {
			env.Grant()
		} else {
			r.pass(env)
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// pass sends the token to the next node.
func (r *tokenRing) pass(env *nodes.Env) {
	if env.N() == 1 {
		return // there is nobody to pass it to
	}
	r.has = false
	env.Send((env.Self()+1)%nodes.ID(env.N()), ringToken{r.hops + 1})
}

// HasToken reports whether the token is here.
func (r *tokenRing) HasToken() bool { return r.has }
