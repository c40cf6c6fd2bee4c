package mutex

import (
	"slices"

	"turnstile/nodes"
)

func maekawaMutants() []mutant {
	const anything = "exclusion, progress or identities"
	// A projective plane: any two quorums share one arbiter.
	change := mutantsOf[maekawa](&maekawaAlgorithm, nodes.Config{N: 7})
	inGrid := mutantsOf[maekawa](&maekawaAlgorithm, nodes.Config{N: 4}.With("quorums", gridQuorums))
	return []mutant{
		change("the waiter that is displaced is not told", "progress",
			func(m maekawa) nodes.Machine { m.voter.textbook = true; return &m }),
		change("a vote that is inquired about is kept", "progress",
			func(m maekawa) nodes.Machine { return &maekawaKeeping{m} }),
		change("a node inside gives its votes back", anything,
			func(m maekawa) nodes.Machine { return &maekawaYielding{m} }),
		inGrid("a node does not ask itself", "exclusion",
			func(m maekawa) nodes.Machine { return &maekawaSelfless{m} }),
		change("INQUIRE and RELINQUISH do not say of which LOCKED", anything,
			func(m maekawa) nodes.Machine { return &maekawaAnyRelinquish{maekawa: m} }),
		change("an INQUIRE is answered before its LOCKED has come", anything,
			func(m maekawa) nodes.Machine { return &maekawaEarly{m} }),
		change("RELEASE does not say of which request", "exclusion",
			func(m maekawa) nodes.Machine { return &maekawaAnyRelease{m} }).copied(),
		change("a copy of a request is lent the vote", "progress",
			func(m maekawa) nodes.Machine { return &maekawaAnyRequest{m} }).copied(),
		change("one request of a node in 25 is answered with a FAILED that is out of date", "cost",
			func(m maekawa) nodes.Machine { return &maekawaWasteful{maekawa: m} }).wasteful(),
	}
}

type (
	maekawaKeeping       struct{ maekawa }
	maekawaYielding      struct{ maekawa }
	maekawaSelfless      struct{ maekawa }
	maekawaAnyRelinquish struct {
		maekawa
		inquired nodes.Set // arbiters that asked for their vote back and have no answer
	}
	maekawaEarly      struct{ maekawa }
	maekawaAnyRelease struct{ maekawa }
	maekawaAnyRequest struct{ maekawa }
	maekawaWasteful   struct {
		maekawa
		waste
	}
)

func (m *maekawaKeeping) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaInquire); !ok {
		m.maekawa.Receive(env, from, msg)
	}
}

func (m *maekawaYielding) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.maekawa.Receive(env, from, msg)
	open := func(v maekawaVote) bool { return !v.Held }
	if q, ok := msg.(maekawaInquire); ok && !slices.ContainsFunc(m.votes, open) {
		env.Send(from, maekawaRelinquish{q.Serial})
	}
}

func (m *maekawaSelfless) Start(env *nodes.Env) {
	m.maekawa.Start(env)
	m.votes = slices.DeleteFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == env.Self() })
	m.enough = len(m.votes)
}

func (m *maekawaAnyRelinquish) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	switch msg.(type) {
	case maekawaInquire:
		m.inquired.Add(from)
	case maekawaRelinquish:
		m.voter.relinquish(env, m.voter.serial)
	default:
		m.maekawa.Receive(env, from, msg)
	}
	if m.inside || !slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Failed }) {
		return
	}
	for i := range m.votes {
		if v := &m.votes[i]; m.inquired.Remove(v.Arbiter) {
			v.Held, v.Failed = false, true
			env.Send(v.Arbiter, maekawaRelinquish{})
		}
	}
}

func (m *maekawaEarly) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	q, ok := msg.(maekawaInquire)
	failed := slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Failed })
	early := func(v maekawaVote) bool { return v.Arbiter == from && v.Serial < q.Serial }
	if ok && failed && slices.ContainsFunc(m.votes, early) {
		env.Send(from, maekawaRelinquish{q.Serial})
		return
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *maekawaAnyRelease) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRelease); ok && !m.voter.lent.isZero() {
		from, msg = m.voter.lent.ID, maekawaRelease{m.voter.lent.Clock}
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *maekawaAnyRequest) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRequest); ok {
		m.voter.seen = nil
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *maekawaWasteful) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.maekawa.Receive(env, from, msg)
	if _, ok := msg.(maekawaRequest); ok && from != env.Self() && m.now() {
		env.Send(from, maekawaFailed{})
	}
}
