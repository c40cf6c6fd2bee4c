package mutex

import (
	"strings"
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes"
)

// The nodes of a ring may stand in any order: it promises and costs the same.
func TestRingsOfAnyOrder(t *testing.T) {
	for _, order := range []string{"0", "1,0", "3, 1,4,0,2", "8,7,6,5,4,3,2,1,0"} {
		c := nodes.Config{N: 1 + strings.Count(order, ",")}.With("order", order)
		v := judge(t, saturated(&tokenRingAlgorithm, c, 1), tokenRingAlgorithm.Mutex.Cost(c).Saturated)
		if v.Outcome != check.Valid {
			t.Errorf("%+v: %v: %s", c, v.Outcome, v.Reason)
		}
	}
}

func ringMutants() []mutant {
	change := mutantsOf[tokenRing](&tokenRingAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("there are two tokens", "exclusion or panic",
			func(r tokenRing) nodes.Machine { return &ringTwo{r} }),
		change("the token stays where nobody waits", "progress",
			func(r tokenRing) nodes.Machine { return &ringHolding{r} }),
		change("a token that was here before is taken again", "exclusion or panic",
			func(r tokenRing) nodes.Machine { return &ringStale{r} }).copied(),
		change("who waits for long makes a token", "exclusion",
			func(r tokenRing) nodes.Machine { return &ringImpatient{r} }),
		change("node 1 sends the token back to node 0 three times out of four", "fairness",
			func(r tokenRing) nodes.Machine { return &ringUnfair{r} }),
	}
}

type (
	ringTwo       struct{ tokenRing }
	ringHolding   struct{ tokenRing }
	ringStale     struct{ tokenRing }
	ringImpatient struct{ tokenRing }
	ringUnfair    struct{ tokenRing }
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

func (r *ringUnfair) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if token, ok := m.(ringToken); ok && env.Self() == 1 && !r.wants && token.Hops/2%4 != 0 {
		r.hops = token.Hops
		env.Send(0, ringToken{token.Hops + 1})
		return
	}
	r.tokenRing.Receive(env, from, m)
}

func (r *ringUnfair) Release(env *nodes.Env) {
	r.wants = false
	if env.Self() == 1 && r.hops/2%4 != 0 {
		r.has = false
		env.Send(0, ringToken{r.hops + 1})
		return
	}
	r.pass(env)
}
