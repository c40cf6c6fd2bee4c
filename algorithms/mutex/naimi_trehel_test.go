package mutex

import (
	"math"
	"testing"

	"turnstile/nodes"
)

func naimiMutants() []mutant {
	change := mutantsOf[naimiTrehel](&naimiTrehelAlgorithm, nodes.Config{N: 4})
	return []mutant{
		change("who asks does not become the father", "progress",
			func(t naimiTrehel) nodes.Machine { return &naimiFaithful{t} }),
		change("next is not forgotten when the token goes there", "progress",
			func(t naimiTrehel) nodes.Machine { return &naimiClinging{t} }),
		change("a node inside sends the token", "exclusion",
			func(t naimiTrehel) nodes.Machine { return &naimiGenerous{t} }),
		change("node 0 makes a token whenever it comes up", "exclusion or panic",
			func(t naimiTrehel) nodes.Machine { return &naimiMinting{t} }).restarted(),
		change("a token that was here before is taken again", "exclusion or panic",
			func(t naimiTrehel) nodes.Machine { return &naimiStale{t} }).copied(),
		change("one request of a node in 25 goes with a token that is out of date", "cost",
			func(t naimiTrehel) nodes.Machine { return &naimiWasteful{naimiTrehel: t} }).wasteful(),
		change("a node that wants to enter keeps the last node's request until it leaves", "fairness",
			func(t naimiTrehel) nodes.Machine { return &naimiUnfair{naimiTrehel: t} }),
	}
}

type (
	naimiFaithful struct{ naimiTrehel }
	naimiClinging struct{ naimiTrehel }
	naimiGenerous struct{ naimiTrehel }
	naimiMinting  struct{ naimiTrehel }
	naimiStale    struct{ naimiTrehel }
	naimiWasteful struct {
		naimiTrehel
		waste
	}
	naimiUnfair struct {
		naimiTrehel
		keeps bool
		kept  naimiRequest
	}
)

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

// If requests come one at a time, the fathers alone decide what an entry costs; if all nodes ask equally
// often, it takes 1 + 1/2 + ... + 1/(n-1) messages on average.
func TestNaimiTrehelCostsTheHarmonicNumber(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 1, 4: 1.8333, 5: 2.0833, 9: 2.7179, 16: 3.3182, 32: 4.0272} {
		account, sum := reversals(n), 0
		entries := singleEntries(t, &naimiTrehelAlgorithm, nodes.Config{N: n}, 5000)
		for i, e := range entries {
			if want := account(e.node); e.messages != want {
				t.Fatalf("%d nodes: entry %d takes %d messages, want %d", n, i, e.messages, want)
			}
			sum += e.messages
		}
		if mean := float64(sum) / float64(len(entries)); math.Abs(mean-want) > 0.05 {
			t.Errorf("%d nodes: %v messages on average, want %v", n, mean, want)
		}
	}
}

func (t *naimiUnfair) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(naimiRequest); ok && t.wants && int(q.Origin) == env.N()-1 {
		t.keeps, t.kept = true, naimiRequest{Origin: q.Origin}
		return
	}
	t.naimiTrehel.Receive(env, from, m)
}

func (t *naimiUnfair) Release(env *nodes.Env) {
	t.naimiTrehel.Release(env)
	switch {
	case t.keeps && t.has:
		t.naimiTrehel.Receive(env, t.kept.Origin, t.kept)
	case t.keeps:
		env.Send(t.father, t.kept)
	}
	t.keeps = false
}

func (t *naimiWasteful) Request(env *nodes.Env) {
	if t.now() && t.father != nodes.None {
		env.Send(t.father, naimiToken{})
	}
	t.naimiTrehel.Request(env)
}
