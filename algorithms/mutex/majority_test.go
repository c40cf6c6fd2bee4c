package mutex

import (
	"slices"
	"testing"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

func majorityMutants() []mutant {
	const anything = "exclusion, progress or identities"
	change := mutantsOf[majority](&majorityAlgorithm, nodes.Config{N: 5})
	ofThree := mutantsOf[majority](&majorityAlgorithm, nodes.Config{N: 3})
	ofFour := mutantsOf[majority](&majorityAlgorithm, nodes.Config{N: 4})
	ofFew := mutantsOf[majority](&majorityAlgorithm, nodes.Config{N: 5}.With("ask", askMajority))
	return []mutant{
		ofFour("half of the votes are enough", "exclusion",
			func(m majority) nodes.Machine { return &majorityHalf{m} }),
		change("a vote whose LOCKED comes twice counts twice", "exclusion",
			func(m majority) nodes.Machine { return &majorityCounting{majority: m} }).copied(),
		change("a vote is lent to all who ask for it", "exclusion",
			func(m majority) nodes.Machine { return &majorityLavish{m} }),
		change("LOCKED does not say to which request", anything,
			func(m majority) nodes.Machine { return &majorityAnyLocked{m} }),
		change("INQUIRE and RELINQUISH do not say of which LOCKED", anything,
			func(majority) nodes.Machine { return &majorityAnyRelinquish{} }),
		change("a vote that is inquired about is kept", "progress",
			func(m majority) nodes.Machine { return &majorityKeeping{m} }),
		change("a node inside gives votes back", anything,
			func(m majority) nodes.Machine { return &majorityYielding{m} }),
		change("who leaves does not withdraw its request where it has no vote", "progress or identities",
			func(m majority) nodes.Machine { return &majorityLingering{m} }),
		ofThree("a request that comes after its RELEASE is lent the vote", "progress",
			func(m majority) nodes.Machine { return &majorityLate{m} }).after(150),
		ofFew("one request of a node in 25 is answered with a FAILED that is out of date", "cost",
			func(m majority) nodes.Machine { return &majorityWasteful{majority: m} }).wasteful(),
	}
}

type (
	majorityHalf     struct{ majority }
	majorityCounting struct {
		majority
		count int // of LOCKED that came for our request
	}
	majorityLavish        struct{ majority }
	majorityAnyLocked     struct{ majority }
	majorityAnyRelinquish struct{ maekawaAnyRelinquish }
	majorityKeeping       struct{ majority }
	majorityYielding      struct{ majority }
	majorityLingering     struct{ majority }
	majorityLate          struct{ majority }
	majorityWasteful      struct {
		majority
		waste
	}
)

func (m *majorityHalf) Start(env *nodes.Env) {
	m.majority.Start(env)
	m.enough = env.N() / 2
}

func (m *majorityCounting) Request(env *nodes.Env) {
	m.count = 0
	m.majority.Request(env)
}

func (m *majorityCounting) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.majority.Receive(env, from, msg)
	if q, ok := msg.(maekawaLocked); ok && q.Clock == m.ours.Clock && !m.inside {
		if m.count++; m.count >= m.enough {
			m.inside = true
			env.Grant()
		}
	}
}

func (m *majorityLavish) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRequest); ok {
		m.voter.lent = stamp{}
	}
	m.majority.Receive(env, from, msg)
}

func (m *majorityAnyLocked) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if q, ok := msg.(maekawaLocked); ok && !m.ours.isZero() {
		q.Clock = m.ours.Clock
		msg = q
	}
	m.majority.Receive(env, from, msg)
}

func (m *majorityAnyRelinquish) Start(env *nodes.Env) {
	var sound majority
	sound.Start(env)
	m.maekawa = sound.maekawa
}

func (m *majorityKeeping) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaInquire); !ok {
		m.majority.Receive(env, from, msg)
	}
}

func (m *majorityYielding) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.majority.Receive(env, from, msg)
	if q, ok := msg.(maekawaInquire); ok && m.inside {
		env.Send(from, maekawaRelinquish{q.Serial})
	}
}

func (m *majorityLingering) Release(env *nodes.Env) {
	ours := m.ours.Clock
	for _, v := range m.votes {
		if v.Held {
			env.Send(v.Arbiter, maekawaRelease{ours})
		}
	}
	votes := m.votes
	m.votes = nil
	m.majority.Release(env)
	for _, v := range votes {
		m.votes = append(m.votes, maekawaVote{Arbiter: v.Arbiter})
	}
}

func (m *majorityLate) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if q, ok := msg.(maekawaRelease); ok {
		known := slices.ContainsFunc(m.voter.seen, func(s stamp) bool { return s.ID == from && s.Clock >= q.Clock })
		if !known {
			return
		}
	}
	m.majority.Receive(env, from, msg)
}

func (m *majorityWasteful) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.majority.Receive(env, from, msg)
	if _, ok := msg.(maekawaRequest); ok && from != env.Self() && m.now() {
		env.Send(from, maekawaFailed{})
	}
}

// The algorithm goes on after the crash of any minority of idle nodes. It stops after the crash of one node
// more, and after a single crash if only a majority is asked.
func TestMajorityGoesOnWithoutMinorities(t *testing.T) {
	spec := majorityAlgorithm
	spec.Live &^= nodes.NoCrash // so that a stall is a failure
	crash := func(c nodes.Config, count int, seed uint64) check.Outcome {
		o := saturated(&spec, c, seed)
		o.Workload.Load, o.Workload.Think = workload.Closed, algotest.Drawn("exponential:5ms")
		var faults []chaos.Fault
		for i := range count {
			// It has asked nobody yet.
			victim := nodes.ID((int(seed) + i) % c.N)
			faults = append(faults, chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{victim}}}})
		}
		algotest.Over(&o, algotest.NetworkOf("exponential:1ms"), faults...)
		return judge(t, o, algorithm.Unbounded(0)).Outcome
	}
	for n := 3; n <= 9; n++ {
		c := nodes.Config{N: n}
		minority := n - moreThanHalf(n)
		for seed := range seeds(n) / 4 {
			for count := 1; count <= minority; count++ {
				if outcome := crash(c, count, seed); outcome != check.Valid {
					t.Fatalf("%d of %d nodes crash, seed %d: %v", count, n, seed, outcome)
				}
			}
			if outcome := crash(c, minority+1, seed); outcome != check.Violated {
				t.Fatalf("%d of %d nodes crash, seed %d: %v", minority+1, n, seed, outcome)
			}
		}
		if outcome := crash(c.With("ask", askMajority), 1, 1); outcome != check.Violated {
			t.Errorf("one of the %d nodes that are asked crashes: %v", n, outcome)
		}
	}
}
