package mutex

import (
	"slices"

	"turnstile/nodes"
)

// The mutants of Maekawa's algorithm.

func quorumMutants() []Mutant {
	c := nodes.Config{N: 7} // a projective plane: any two quorums share one arbiter
	mk := func(c nodes.Config) maekawa { return maekawa{quorums: c.Value(quorumOption)} }
	const anything = "exclusion, progress or identities"
	return []Mutant{
		mutant("maekawa", "the waiter that is displaced is not told", "progress", c, maekawaTextbookRow.New),
		mutant("maekawa", "a vote that is inquired about is kept", "progress", c,
			func(c nodes.Config) nodes.Machine { return &maekawaKeeping{mk(c)} }),
		mutant("maekawa", "a node inside gives its votes back", anything, c,
			func(c nodes.Config) nodes.Machine { return &maekawaYielding{mk(c)} }),
		mutant("maekawa", "a node does not ask itself", "exclusion",
			nodes.Config{N: 4}.With("quorums", gridQuorums),
			func(c nodes.Config) nodes.Machine { return &maekawaSelfless{mk(c)} }),
		mutant("maekawa", "INQUIRE and RELINQUISH do not say of which LOCKED", anything, c,
			func(c nodes.Config) nodes.Machine { return &maekawaAnyRelinquish{maekawa: mk(c)} }),
		mutant("maekawa", "an INQUIRE is answered before its LOCKED has come", anything, c,
			func(c nodes.Config) nodes.Machine { return &maekawaEarly{mk(c)} }),
		mutant("maekawa", "RELEASE does not say of which LOCKED", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &maekawaAnyRelease{mk(c)} }).copied(),
		mutant("maekawa", "a copy of a request is lent the vote", "progress", c,
			func(c nodes.Config) nodes.Machine { return &maekawaAnyRequest{mk(c)} }).copied(),
	}
}

type (
	maekawaKeeping       struct{ maekawa }
	maekawaYielding      struct{ maekawa }
	maekawaSelfless      struct{ maekawa }
	maekawaAnyRelinquish struct {
		maekawa
		inquired nodes.Set // who asked for its vote back and has had no answer
	}
	maekawaEarly      struct{ maekawa }
	maekawaAnyRelease struct{ maekawa }
	maekawaAnyRequest struct{ maekawa }
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
		env.Send(from, maekawaRelinquish(q))
	}
}

func (m *maekawaSelfless) Start(env *nodes.Env) {
	m.maekawa.Start(env)
	m.votes = slices.DeleteFunc(m.votes, func(v maekawaVote) bool { return v.Arbiter == env.Self() })
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
	if !slices.ContainsFunc(m.votes, func(v maekawaVote) bool { return v.Failed }) {
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
		env.Send(from, maekawaRelinquish(q))
		return
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *maekawaAnyRelease) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRelease); ok && !m.voter.lent.isZero() {
		msg = maekawaRelease{m.voter.serial}
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *maekawaAnyRequest) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRequest); ok {
		m.voter.seen = nil
	}
	m.maekawa.Receive(env, from, msg)
}
