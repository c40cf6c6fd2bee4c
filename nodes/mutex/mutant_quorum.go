package mutex

import (
	"slices"

	"turnstile/nodes"
)

// The mutants of Maekawa's algorithm.

func quorumMutants() []Mutant {
	c := nodes.Config{N: 7} // a projective plane: any two quorums share one arbiter
	const anything = "exclusion, progress or identities"
	return []Mutant{
		mutant("maekawa", "the waiter that is displaced is not told", "progress", c, newMaekawaTextbook),
		mutant("maekawa", "a vote that is inquired about is kept", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &mkKeeping{maekawa{config: c}} }),
		mutant("maekawa", "a node inside gives its votes back", anything, c,
			func(c nodes.Config) nodes.Mutex { return &mkYielding{maekawa{config: c}} }),
		mutant("maekawa", "a node does not ask itself", "exclusion", nodes.Config{N: 4, Quorums: gridQuorums},
			func(c nodes.Config) nodes.Mutex { return &mkSelfless{maekawa{config: c}} }),
		mutant("maekawa", "INQUIRE and RELINQUISH do not say of which LOCKED", anything, c,
			func(c nodes.Config) nodes.Mutex { return &mkAnyRelinquish{maekawa: maekawa{config: c}} }),
		mutant("maekawa", "an INQUIRE is answered before its LOCKED has come", anything, c,
			func(c nodes.Config) nodes.Mutex { return &mkEarly{maekawa{config: c}} }),
		mutant("maekawa", "RELEASE does not say of which LOCKED", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &mkAnyRelease{maekawa{config: c}} }).copied(),
		mutant("maekawa", "a copy of a request is lent the vote", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &mkAnyRequest{maekawa{config: c}} }).copied(),
	}
}

type (
	mkKeeping       struct{ maekawa }
	mkYielding      struct{ maekawa }
	mkSelfless      struct{ maekawa }
	mkAnyRelinquish struct {
		maekawa
		inquired nodes.Set // who asked for its vote back and has had no answer
	}
	mkEarly      struct{ maekawa }
	mkAnyRelease struct{ maekawa }
	mkAnyRequest struct{ maekawa }
)

func (m *mkKeeping) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(mkInquire); !ok {
		m.maekawa.Receive(env, from, msg)
	}
}

func (m *mkYielding) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.maekawa.Receive(env, from, msg)
	if q, ok := msg.(mkInquire); ok && !slices.ContainsFunc(m.votes, func(v mkVote) bool { return !v.Held }) {
		env.Send(from, mkRelinquish(q))
	}
}

func (m *mkSelfless) Start(env *nodes.Env) {
	m.maekawa.Start(env)
	m.votes = slices.DeleteFunc(m.votes, func(v mkVote) bool { return v.Arbiter == env.Self() })
}

func (m *mkAnyRelinquish) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	switch msg.(type) {
	case mkInquire:
		m.inquired.Add(from)
	case mkRelinquish:
		m.voter.relinquish(env, m.voter.serial)
	default:
		m.maekawa.Receive(env, from, msg)
	}
	if !slices.ContainsFunc(m.votes, func(v mkVote) bool { return v.Failed }) {
		return
	}
	for i := range m.votes {
		if v := &m.votes[i]; m.inquired.Remove(v.Arbiter) {
			v.Held, v.Failed = false, true
			env.Send(v.Arbiter, mkRelinquish{})
		}
	}
}

func (m *mkEarly) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	q, ok := msg.(mkInquire)
	failed := slices.ContainsFunc(m.votes, func(v mkVote) bool { return v.Failed })
	early := func(v mkVote) bool { return v.Arbiter == from && v.Serial < q.Serial }
	if ok && failed && slices.ContainsFunc(m.votes, early) {
		env.Send(from, mkRelinquish(q))
		return
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *mkAnyRelease) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(mkRelease); ok && !m.voter.lent.isZero() {
		msg = mkRelease{m.voter.serial}
	}
	m.maekawa.Receive(env, from, msg)
}

func (m *mkAnyRequest) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(mkRequest); ok {
		m.voter.seen = nil
	}
	m.maekawa.Receive(env, from, msg)
}
