package election

import (
	"slices"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A ringMutant is one of the ringAlgorithms with one rule changed.
type ringMutant struct {
	rule      string
	algorithm *algorithm.Algorithm
	fails     []string // one of these: what byHand.fault says, or "messages": more than published
	what      trouble  // under which the mutant fails; the sound algorithm does not
}

// The mutants. Each has a type, since a machine holds no function.
type (
	changPassesLower   struct{ changRoberts }
	changAlwaysStands  struct{ changRoberts }
	changStopsHigher   struct{ changRoberts }
	changTakesOld      struct{ changRoberts }
	lannTakesAny       struct{ leLann }
	lannNeverStops     struct{ leLann }
	sinclairTakesAny   struct{ hirschbergSinclair }
	sinclairOneReply   struct{ hirschbergSinclair }
	sinclairGoesByOne  struct{ hirschbergSinclair }
	franklinOneSide    struct{ franklin }
	franklinDropsEarly struct{ franklin }
	franklinNoRounds   struct{ franklin }
	dolevOwnSecond     struct{ dolevKlaweRodeh }
	dolevLaxest        struct{ dolevKlaweRodeh }
	dolevKeepsValue    struct{ dolevKlaweRodeh }
	itaiTakesShared    struct{ itaiRodeh }
	itaiNoKeeping      struct{ itaiRodeh }
	asyncNeverMarks    struct{ itaiRodehAsync }
	asyncNoRounds      struct{ itaiRodehAsync }
)

// ringMutantsOf returns a function that makes mutants of an algorithm. Its arguments are the changed rule,
// the trouble that shows the change, the function that changes the sound machine, and the faults that may
// result.
func ringMutantsOf[M any](algo *algorithm.Algorithm) func(rule string, what trouble,
	wrap func(M) nodes.Machine,
	fails ...string) ringMutant {
	return func(rule string, what trouble, wrap func(M) nodes.Machine, fails ...string) ringMutant {
		return ringMutant{algo.Name + ": " + rule, algotest.Rebuilt(algo, wrap), fails, what}
	}
}

const (
	twoLead    = "two leaders"
	noneLeads  = "no agreement"
	endless    = "no end"
	wrongLeads = "not the highest"
	tooMany    = "messages"
)

func ringMutants() []ringMutant {
	var (
		calm     trouble
		reorders = trouble{reordering: true}
		both     = trouble{copies: true, reordering: true}
		lann     = ringMutantsOf[leLann](&leLannAlgorithm)
		chang    = ringMutantsOf[changRoberts](&changRobertsAlgorithm)
		sinclair = ringMutantsOf[hirschbergSinclair](&hirschbergSinclairAlgorithm)
		frank    = ringMutantsOf[franklin](&franklinAlgorithm)
		dolev    = ringMutantsOf[dolevKlaweRodeh](&dolevKlaweRodehAlgorithm)
		itai     = ringMutantsOf[itaiRodeh](&itaiRodehAlgorithm)
		async    = ringMutantsOf[itaiRodehAsync](&itaiRodehAsyncAlgorithm)
	)
	return []ringMutant{
		lann("any candidate leads whose identity is back", calm,
			func(m leLann) nodes.Machine { return &lannTakesAny{m} }, twoLead),
		lann("an identity of one's own is passed on", calm,
			func(m leLann) nodes.Machine { return &lannNeverStops{m} }, tooMany, endless),
		chang("a lower identity is passed on", calm,
			func(m changRoberts) nodes.Machine { return &changPassesLower{m} }, twoLead),
		chang("who takes part replaces a lower identity too", calm,
			func(m changRoberts) nodes.Machine { return &changAlwaysStands{m} }, tooMany),
		chang("who takes part stops a higher identity", calm,
			func(m changRoberts) nodes.Machine { return &changStopsHigher{m} }, noneLeads),
		chang("an identity of an election that is over counts", both,
			func(m changRoberts) nodes.Machine { return &changTakesOld{m} }, noneLeads),
		sinclair("a lower probe is passed on", calm,
			func(m hirschbergSinclair) nodes.Machine { return &sinclairTakesAny{m} }, twoLead),
		sinclair("one reply is enough", calm,
			func(m hirschbergSinclair) nodes.Machine { return &sinclairOneReply{m} }, tooMany),
		sinclair("a phase goes one further, not twice as far", calm,
			func(m hirschbergSinclair) nodes.Machine { return &sinclairGoesByOne{m} }, tooMany),
		frank("one neighbour is enough", calm,
			func(m franklin) nodes.Machine { return &franklinOneSide{m} }, tooMany, twoLead),
		frank("who gives up drops what it has kept", calm,
			func(m franklin) nodes.Machine { return &franklinDropsEarly{m} }, noneLeads),
		frank("rounds are not told apart", reorders,
			func(m franklin) nodes.Machine { return &franklinNoRounds{m} }, noneLeads, twoLead),
		dolev("the second value is one's own", calm,
			func(m dolevKlaweRodeh) nodes.Machine { return &dolevOwnSecond{m} }, noneLeads, wrongLeads, twoLead),
		dolev("a candidate compares with the second alone", calm,
			func(m dolevKlaweRodeh) nodes.Machine { return &dolevLaxest{m} }, tooMany, wrongLeads, twoLead),
		dolev("a candidate keeps its own value", calm,
			func(m dolevKlaweRodeh) nodes.Machine { return &dolevKeepsValue{m} }, noneLeads, wrongLeads, twoLead),
		itai("the highest leads, whoever else has drawn it", calm,
			func(m itaiRodeh) nodes.Machine { return &itaiTakesShared{m} }, twoLead),
		itai("a draw of the next round is dropped", reorders,
			func(m itaiRodeh) nodes.Machine { return &itaiNoKeeping{m} }, noneLeads),
		async("equals pass unmarked", calm,
			func(m itaiRodehAsync) nodes.Machine { return &asyncNeverMarks{m} }, twoLead),
		async("rounds do not count", reorders,
			func(m itaiRodehAsync) nodes.Machine { return &asyncNoRounds{m} }, noneLeads, twoLead),
	}
}

func (c *changPassesLower) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(changElection); ok && m.Identity < c.identity {
		if current, _ := c.takes(env, m.Election); current {
			c.send(env, m.Identity)
		}
		return
	}
	c.changRoberts.Receive(env, from, m)
}

func (c *changAlwaysStands) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(changElection); ok && m.Identity < c.identity && m.Election == c.election && c.open {
		c.send(env, c.identity)
		return
	}
	c.changRoberts.Receive(env, from, m)
}

func (c *changStopsHigher) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(changElection); ok && m.Identity > c.identity && m.Election == c.election && c.open {
		return
	}
	c.changRoberts.Receive(env, from, m)
}

func (c *changTakesOld) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(changElection); ok && m.Election == c.election && !c.open && m.Identity > c.identity {
		c.join(env, m.Election)
	}
	c.changRoberts.Receive(env, from, m)
}

func (l *lannTakesAny) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(lannIdentity); ok && m.Identity == l.identity && l.candidate {
		l.highest = l.identity
	}
	l.leLann.Receive(env, from, m)
}

func (l *lannNeverStops) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(lannIdentity); ok && l.open && m.Identity == l.identity && l.highest != l.identity {
		env.Send(l.next, m)
	}
	l.leLann.Receive(env, from, m)
}

func (h *sinclairTakesAny) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(sinclairProbe); ok && m.Identity < h.identity {
		if current, _ := h.takes(env, m.Election); current {
			own := h.identity
			h.identity = 0
			h.hirschbergSinclair.Receive(env, from, m)
			h.identity = own
		}
		return
	}
	h.hirschbergSinclair.Receive(env, from, m)
}

func (h *sinclairOneReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(sinclairReply); ok && m.Identity == h.identity {
		h.replied[side(!m.Forward)] = true
	}
	h.hirschbergSinclair.Receive(env, from, m)
}

func (h *sinclairGoesByOne) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r, ok := m.(sinclairReply)
	if !ok || r.Identity != h.identity || r.Election != h.election || !h.open || r.Phase != h.phase {
		h.hirschbergSinclair.Receive(env, from, m)
		return
	}
	if h.replied[side(r.Forward)] = true; h.replied == [2]bool{true, true} {
		h.phase, h.replied = h.phase+1, [2]bool{}
		for _, forward := range []bool{true, false} {
			env.Send(h.to(forward), sinclairProbe{h.election, h.identity, h.phase, h.phase + 1, forward})
		}
	}
}

func (f *franklinOneSide) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(franklinIdentity); ok && m.Election == f.election && f.open && f.active &&
		m.Round == f.round {
		other := &f.came[side(!m.Forward)][m.Round%2]
		if other.round != m.Round {
			*other = franklinMark{round: m.Round}
			if m.Identity == f.identity {
				other.identity = f.identity
			}
		}
	}
	f.franklin.Receive(env, from, m)
}

func (f *franklinDropsEarly) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(franklinIdentity); ok && m.Election == f.election && f.active && m.Round > f.round {
		return
	}
	f.franklin.Receive(env, from, m)
}

func (f *franklinNoRounds) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(franklinIdentity); ok && m.Election == f.election && f.active && m.Round != f.round &&
		m.Identity != f.identity {
		m.Round = f.round
		f.franklin.Receive(env, from, m)
		return
	}
	f.franklin.Receive(env, from, m)
}

func (d *dolevOwnSecond) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(dolevValue); ok && d.open && d.active && m.Election == d.election && m.Value != d.value &&
		!m.Second && m.Round == d.round && !d.second {
		d.first, d.second = m.Value, true
		env.Send(d.next, dolevValue{d.election, d.round, true, d.value})
		return
	}
	d.dolevKlaweRodeh.Receive(env, from, m)
}

func (d *dolevLaxest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(dolevValue); ok && d.second && m.Second && m.Round == d.round && m.Election == d.election {
		d.value = dolevOwned{}
	}
	d.dolevKlaweRodeh.Receive(env, from, m)
}

func (d *dolevKeepsValue) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(dolevValue); ok && d.open && d.active && d.second && m.Second && m.Round == d.round &&
		m.Election == d.election && d.first.Identity > max(d.value.Identity, m.Value.Identity) {
		d.stand(env, d.round+1, d.value)
		return
	}
	d.dolevKlaweRodeh.Receive(env, from, m)
}

func (i *itaiTakesShared) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	d, open := m.(itaiDraw), i.open
	last := open && d.Round == i.round && i.known[d.Round%2] == env.N()-1 && i.drawn[d.Round%2][d.Hops] == 0
	if highest := max(slices.Max(i.drawn[d.Round%2]), d.Identity); last && highest == i.drawn[d.Round%2][0] {
		i.open = false
		i.follow(env, itself)
		if int(d.Hops) < env.N()-1 {
			env.Send(0, itaiDraw{d.Round, d.Hops + 1, d.Identity})
		}
		return
	}
	i.itaiRodeh.Receive(env, from, m)
}

func (i *itaiNoKeeping) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if d, ok := m.(itaiDraw); ok && i.open && d.Round > i.round {
		return
	}
	i.itaiRodeh.Receive(env, from, m)
}

func (i *asyncNeverMarks) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(asyncCandidate); ok && i.open && i.active && m.Round == i.round && m.Identity == i.identity &&
		int(m.Hops) < env.N() {
		m.Hops++
		env.Send(0, m)
		return
	}
	i.itaiRodehAsync.Receive(env, from, m)
}

func (i *asyncNoRounds) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(asyncCandidate); ok && i.open && i.active && int(m.Hops) < env.N() {
		m.Round = i.round
		i.itaiRodehAsync.Receive(env, from, m)
		return
	}
	i.itaiRodehAsync.Receive(env, from, m)
}

// costsTooMuch reports whether an election of 64 nodes takes more messages than the published maximum.
func (m *ringMutant) costsTooMuch(t *testing.T, ids string) bool {
	const n = 64
	h := clusterByHand(t, m.algorithm, nodes.Config{N: n}.With(idsOption.Name, ids), rng(1))
	h.campaign(everyone(n)...)
	h.rest()
	return h.runaway || sum(h.sent) > publishedMost(m.algorithm, n)
}

func sum(sent map[string]int) (all int) {
	for _, count := range sent {
		all += count
	}
	return all
}

// publishedMost returns how many messages an election takes at most in which all campaign, announcement
// included.
func publishedMost(algo *algorithm.Algorithm, n int) int {
	log := 0
	for 1<<(log+1) <= n {
		log++
	}
	switch algo.Name {
	case "le-lann":
		return n*n + n
	case "chang-roberts":
		return n*(n+1)/2 + n
	case "hirschberg-sinclair":
		return 8*n + 8*n*log + n
	case "franklin":
		return 2*n*log + 3*n
	}
	return 2*n*log + 2*n
}

// Every mutant fails in one of its ways. TestRingsElectOneLeader shows that the sound algorithms do not.
func TestRingMutantsAreCaught(t *testing.T) {
	for _, m := range ringMutants() {
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			seen := map[string]int{}
			for seed := range soak.Pick[uint64](3000, 3000, 20_000) {
				fault := ringTrial{algorithm: m.algorithm, what: m.what, seed: seed}.run(t).fault()
				if seen[fault]++; slices.Contains(m.fails, fault) {
					return
				}
			}
			if slices.Contains(m.fails, tooMany) {
				for _, ids := range []string{"increasing", "decreasing", idsOf(alternating(64)), idsOf(bitReversed(64))} {
					if m.costsTooMuch(t, ids) {
						return
					}
				}
			}
			t.Errorf("it survives: none of %v, but %v", m.fails, seen)
		})
	}
}
