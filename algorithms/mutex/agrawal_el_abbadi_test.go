package mutex

import (
	"math"
	"math/bits"
	"testing"

	"turnstile/algorithms/quorum"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/replay/story"
)

func agrawalMutants() []mutant {
	change := mutantsOf[agrawal](&agrawalAlgorithm, nodes.Config{N: 3})
	crashed := func(m mutant) mutant {
		m.crashes, m.spec.Live = true, m.spec.Live&^nodes.NoCrash // one of three leaves a quorum
		return m
	}
	losing := func(m mutant) mutant { m.losses = true; return m }
	return []mutant{
		change("one child is a substitute", "exclusion",
			func(m agrawal) nodes.Machine { return &agrawalHalf{m} }),
		change("a vote is lent to all who ask for it", "exclusion",
			func(m agrawal) nodes.Machine { return &agrawalLavish{m} }),
		crashed(change("a vote is not taken back from who is down", "progress",
			func(m agrawal) nodes.Machine { return &agrawalPatient{m} })),
		crashed(change("who is suspected is not replaced", "progress",
			func(m agrawal) nodes.Machine { return &agrawalStubborn{agrawal: m} })),
		losing(change("nobody asks again", "progress",
			func(m agrawal) nodes.Machine { return &agrawalOnce{m} })),
		losing(change("nobody says that a request is over", "progress",
			func(m agrawal) nodes.Machine { return &agrawalSilent{m} })),
	}
}

type (
	agrawalHalf     struct{ agrawal }
	agrawalLavish   struct{ agrawal }
	agrawalPatient  struct{ agrawal }
	agrawalStubborn struct {
		agrawal
		lost bool // somebody is suspected
	}
	agrawalOnce   struct{ agrawal }
	agrawalSilent struct{ agrawal }
	agrawalBlank  struct{ agrawal }
	agrawalBare   struct{ agrawal }
)

func (m *agrawalHalf) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	m.agrawal.Receive(env, from, msg)
	for _, v := range m.votes {
		if v.Held && v.Arbiter > 0 && !m.inside {
			m.inside = true
			env.StopTimer(waiting)
			env.Grant()
		}
	}
}

func (m *agrawalLavish) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if _, ok := msg.(maekawaRequest); ok {
		m.voter.lent = stamp{}
	}
	m.agrawal.Receive(env, from, msg)
}

func (m *agrawalPatient) Suspect(env *nodes.Env, peer nodes.ID) {
	m.suspected.Add(peer)
	m.askOthers(env)
}

func (m *agrawalStubborn) Suspect(env *nodes.Env, peer nodes.ID) {
	m.lost = true
	m.voter.end(env, stamp{math.MaxUint64, peer})
}

func (m *agrawalStubborn) Timeout(env *nodes.Env, t nodes.Timer) {
	if !m.lost { // else it would ask the dead for ever
		m.agrawal.Timeout(env, t)
	}
}

func (m *agrawalOnce) Timeout(*nodes.Env, nodes.Timer) {}

func (m *agrawalSilent) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if q, ok := msg.(maekawaInquire); ok && q.Clock != m.ours.Clock {
		return
	}
	m.agrawal.Receive(env, from, msg)
}

func (m *agrawalBare) Timeout(env *nodes.Env, _ nodes.Timer) {
	members, _ := quorum.Tree(env.N(), env.Self(), m.suspected)
	for _, v := range m.votes {
		if !v.Held && members.Has(v.Arbiter) {
			env.Resend(v.Arbiter, maekawaRequest{m.ours.Clock})
		}
	}
	env.SetTimer(waiting, m.retry, m.retry+m.retry/4)
}

func (m *agrawalBlank) Recover(env *nodes.Env, _ nodes.Message) {
	m.agrawal.Recover(env, arbiterVote{})
}

// Crashes of fewer nodes than a path has members do not stop the algorithm, whenever they happen.
func TestTreeGoesOnWithoutSome(t *testing.T) {
	spec := agrawalAlgorithm
	spec.Live &^= nodes.NoCrash // so that a stall is a failure
	for n := 3; n <= 9; n++ {
		for seed := range soak.Pick(uint64(2*n), uint64(6*n), uint64(60*n)) {
			o := saturated(&spec, nodes.Config{N: n}, seed)
			var faults []chaos.Fault
			for i := range bits.Len(uint(n+1)) - 2 {
				victim := nodes.ID((int(seed) + i*(1+int(seed)/n)) % n)
				if i == 0 || victim != effect.TargetOf(faults[0].Effect).List[0] {
					faults = append(faults, chaos.Fault{
						Effect:   &effect.Kill{Who: effect.Target{List: nodes.Group{victim}}},
						Schedule: chaos.Schedule{When: chaos.When{What: "enters", Nth: 1 + i + int(seed%7)}}})
				}
			}
			algotest.Over(&o, algotest.NetworkOf("exponential:1ms"), faults...)
			if v := judge(t, o, algorithm.Unbounded(0)); v.Outcome != check.Valid {
				t.Fatalf("%d nodes, seed %d: %v: %s", n, seed, v.Outcome, v.Reason)
			}
		}
	}
}

// A node that has asked a substitute asks it again though the replaced node is back: otherwise a vote that
// the substitute has lent in a lost LOCKED would be missing for ever.
func TestReplacementsAreAskedAgain(t *testing.T) {
	for rule, wrap := range map[string]func(agrawal) nodes.Machine{
		"":                             func(m agrawal) nodes.Machine { return &m },
		"only a quorum is asked again": func(m agrawal) nodes.Machine { return &agrawalBare{m} },
	} {
		g, err := story.Read("testdata/agrawal-el-abbadi/replaced.txt", Find)
		if err != nil {
			t.Fatal(err)
		}
		algo := algotest.Rebuilt(&agrawalAlgorithm, wrap)
		r, err := g.Play(algo)
		if rests := err == nil && r.Violation == nil; rests != (rule == "") {
			t.Errorf("%q: %v", rule, err)
		}
	}
}

// A vote that was lent before a crash is not lent again after it, and would be if it were not saved.
func TestVotesAreSaved(t *testing.T) {
	o := explore.Space{Spec: &agrawalAlgorithm, Config: nodes.Config{N: 3}, Entries: 1, Crashes: 1,
		Restarts: true,
		States:   soak.Pick[uint64](2000, 20_000, 2_000_000)}
	x, err := explore.Run(o)
	if err != nil || x.Violation != nil {
		t.Errorf("%v, %+v", err, x)
	}
	blank := algotest.Rebuilt(&agrawalAlgorithm, func(m agrawal) nodes.Machine { return &agrawalBlank{m} })
	o.Spec, o.States = blank, 1_000_000
	if x, err = explore.Run(o); err != nil || x.Violation == nil || x.Violation.Check != replay.CheckExclusion {
		t.Errorf("nothing is saved: %v, %+v", err, x)
	}
}
