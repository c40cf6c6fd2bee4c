package mutex

import "turnstile/nodes"

func suzukiFTMutants() []mutant {
	// A token that stays away for four milliseconds is often not lost.
	c := nodes.Config{N: 3}.With("loss-timeout", "4ms").With("retry", "1ms")
	fenced := c
	fenced.Fenced = true
	change := mutantsOf[suzukiKasamiFT](&suzukiKasamiFTAlgorithm, c)
	slow := mutantsOf[suzukiKasamiFT](&suzukiKasamiFTAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("who misses the token makes one", "exclusion or panic",
			func(s suzukiKasamiFT) nodes.Machine { return &skftAlone{s} }),
		change("who is inside is not given the epoch of a census", "exclusion",
			func(s suzukiKasamiFT) nodes.Machine { return &skftBlind{s} }),
		change("a census waits for no more than a majority", "exclusion",
			func(s suzukiKasamiFT) nodes.Machine { return &skftHasty{s} }),
		change("a promise is not kept", "exclusion or progress",
			func(s suzukiKasamiFT) nodes.Machine { return &skftFaithless{s} }),
		change("a stale token is taken", "exclusion or panic",
			func(s suzukiKasamiFT) nodes.Machine { return &skftStale{s} }),
		change("a token that was here before is taken again", "exclusion or panic",
			func(s suzukiKasamiFT) nodes.Machine { return &skftCopied{s} }).copied(),
		change("an epoch is taken as often as it is given", "exclusion or panic",
			func(s suzukiKasamiFT) nodes.Machine { return &skftTwice{s} }).copied(),
		mutantsOf[suzukiKasamiFT](&suzukiKasamiFTAlgorithm, fenced)("grants are not counted", "exclusion",
			func(s suzukiKasamiFT) nodes.Machine { return &skftUncounted{s} }),
		slow("nobody misses the token", "progress",
			func(s suzukiKasamiFT) nodes.Machine { return &skftPatient{s} }).lost(),
		slow("requests are not sent again, and no token is missed", "progress",
			func(s suzukiKasamiFT) nodes.Machine { return &skftOnce{s} }).lost(),
		slow("the dead are not passed over", "progress",
			func(s suzukiKasamiFT) nodes.Machine { return &skftDeaf{s} }).crashed(),
		change("who waits counts as served when a token is made", "progress",
			func(s suzukiKasamiFT) nodes.Machine { return &skftServed{s} }),
		slow("the queue is served last in, first out", "fairness",
			func(s suzukiKasamiFT) nodes.Machine { return &skftStack{s} }),
	}
}

type (
	skftStack     struct{ suzukiKasamiFT }
	skftAlone     struct{ suzukiKasamiFT }
	skftBlind     struct{ suzukiKasamiFT }
	skftHasty     struct{ suzukiKasamiFT }
	skftFaithless struct{ suzukiKasamiFT }
	skftStale     struct{ suzukiKasamiFT }
	skftCopied    struct{ suzukiKasamiFT }
	skftTwice     struct{ suzukiKasamiFT }
	skftUncounted struct{ suzukiKasamiFT }
	skftPatient   struct{ suzukiKasamiFT }
	skftOnce      struct{ suzukiKasamiFT }
	skftDeaf      struct{ suzukiKasamiFT }
	skftServed    struct{ suzukiKasamiFT }
)

func (s *skftStack) Release(env *nodes.Env) {
	before := len(s.queue)
	s.queue = suzukiServed(env.Self(), cyclicFrom(env.Self(), nodes.ID(env.N())), s.rn, s.ln, s.queue)
	s.queue = lastFirst(s.queue, before)
	s.suzukiKasamiFT.Release(env)
}

func (s *skftAlone) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == suzukiWait && s.waited > 0 {
		s.census.raise(env, s.census.epoch+1)
		s.renewed(env, suzukiRenewal{Epoch: s.census.epoch, LN: make([]uint64, env.N())})
		return
	}
	s.suzukiKasamiFT.Timeout(env, t)
}

func (s *skftBlind) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(censusAnswer[suzukiReport]); ok {
		a.Report.Token = tokenMark{}
		m = a
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	s.suzukiKasamiFT.Receive(env, from, m)
	if _, ok := m.(censusAnswer[suzukiReport]); ok && s.census.open && !s.census.joining &&
		2*s.census.answered.Len() > env.N() {
		s.census.open = false
		s.complete(env, true)
	}
}

func (s *skftFaithless) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(censusAsk); ok {
		before := s.census
		s.census.answer(env, from, a, s.report(env))
		s.census = before
		return
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(skftToken); ok && t.Token.Epoch < s.census.epoch {
		t.Token.Epoch, t.Token.Sent = s.census.epoch, max(t.Token.Sent, s.token.Sent+1)
		m = t
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftCopied) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(skftToken); ok && !s.here && t.Token.Epoch == s.token.Epoch {
		s.token.Sent = t.Token.Sent - 1
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftTwice) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(suzukiRenewal); ok && !s.here && g.Epoch == s.token.Epoch {
		s.token.Epoch--
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftUncounted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(skftToken); ok {
		t.Token.Grants = 0
		m = t
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}

func (s *skftPatient) Timeout(env *nodes.Env, t nodes.Timer) {
	s.waited = -s.pause
	s.suzukiKasamiFT.Timeout(env, t)
}

func (s *skftOnce) Timeout(*nodes.Env, nodes.Timer) {}

// Suspect forgets the suspicion as soon as an open census has counted it.
func (s *skftDeaf) Suspect(env *nodes.Env, peer nodes.ID) {
	s.suzukiKasamiFT.Suspect(env, peer)
	s.census.suspected.Remove(peer)
}

func (s *skftServed) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(suzukiRenewal); ok {
		g.LN = g.RN
		m = g
	}
	s.suzukiKasamiFT.Receive(env, from, m)
}
