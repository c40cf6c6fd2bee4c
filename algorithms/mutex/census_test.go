package mutex

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// A teller takes a census each time its client asks, and lets the client in when the census is complete. It
// reports the epoch that it had promised before the census.
type teller struct {
	census census[tellerReport]
	rule   string // that is changed; empty: none
	prior  uint64
	told   func(epoch, prior uint64) // is called for each complete census; prior is the highest in its reports
}

type tellerReport struct{ Prior uint64 }

func (m *teller) Start(env *nodes.Env) { m.census.start(env) }

func (m *teller) Recover(env *nodes.Env, saved nodes.Message) {
	if m.rule == "a promise is forgotten" {
		saved = censusPromise{}
	}
	m.census.recover(env, saved)
	if m.prior = m.census.epoch; m.rule == "who has forgotten joins at once" {
		m.census.forgot, m.census.joining, m.census.open = false, false, false
	}
}

func (m *teller) Request(env *nodes.Env) {
	if !m.census.open && !m.census.joining {
		m.prior = m.census.epoch
		if m.rule == "all take the next epoch" {
			m.census.raise(env, m.prior+1)
			m.census.ask(env, m.prior+1)
			m.census.count(env, env.Self(), tellerReport{m.prior})
		} else {
			m.tell(env, m.census.begin(env, tellerReport{m.prior}))
		}
	}
	env.SetTimer(tired, tiredAfter, 2*tiredAfter)
}

func (m *teller) Release(env *nodes.Env) {}

func (m *teller) Suspect(env *nodes.Env, peer nodes.ID) { m.tell(env, m.census.suspect(env, peer)) }
func (m *teller) Trust(env *nodes.Env, peer nodes.ID)   { m.census.trust(env, peer) }

func (m *teller) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == tired {
		m.Request(env)
		return
	}
	m.census.again(env)
}

func (m *teller) Receive(env *nodes.Env, from nodes.ID, message nodes.Message) {
	switch a := message.(type) {
	case censusAsk:
		if a.Epoch > m.census.epoch {
			m.prior = m.census.epoch
		}
		m.census.answer(env, from, a, tellerReport{m.prior})
		if m.rule == "a promise is not kept" && a.Epoch > 0 {
			m.census.epoch = m.prior
		}
	case censusAnswer[tellerReport]:
		done := m.census.hear(env, from, a)
		if m.rule == "no majority is waited for" && !done && m.census.open && m.census.asked > 0 {
			done, m.census.open = true, false
		}
		m.tell(env, done)
	}
}

func (m *teller) tell(env *nodes.Env, complete bool) {
	if !complete {
		return
	}
	prior := uint64(0)
	for id := range m.census.answered.All() {
		prior = max(prior, m.census.reports[id].Prior)
	}
	m.told(m.census.epoch, prior)
	env.StopTimer(tired)
	env.Grant()
}

// tellers takes censuses while nodes crash and come up again, some without what they saved, messages are lost
// and doubled, and nodes are suspected wrongly. It returns what failed, and the number of complete censuses.
func tellers(t *testing.T, rule string, n int, seed uint64) (fault string, complete int) {
	priors := map[uint64]uint64{}
	told := func(epoch, prior uint64) {
		if _, twice := priors[epoch]; twice {
			fault = "an epoch is complete twice"
		}
		for lower := range priors {
			if lower < epoch && prior < lower || epoch < lower && priors[lower] < epoch {
				fault = "nobody has answered two epochs that are complete, the lower one first"
			}
		}
		priors[epoch] = prior
	}
	spec := algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "tellers",
		Messages: censusKinds[tellerReport](),
		Options:  []nodes.Option{retryOption},
		Detects:  jumpy,
		New: func(c nodes.Config) nodes.Machine {
			return &teller{census: newCensus[tellerReport](c.With("retry", "5ms")), rule: rule, told: told}
		},
	}}
	o := sim.Options{Stack: algotest.StackOf(&spec, nodes.Config{N: n}, besides(&spec, n, jumpy)...), Seed: seed,
		Duration: 400 * time.Millisecond, Patience: 10_000,
		Workload: workload.Workload{Load: workload.Closed, Think: algotest.Drawn("exponential:10ms")}}
	faults := []chaos.Fault{{Effect: &effect.Loss{Of: effect.Losses{Rate: 0.05}}},
		{Effect: &effect.Duplicate{Of: 0.05}}}
	for i := range 12 {
		victim := nodes.ID((i + int(seed)) % n)
		faults = append(faults, chaos.Fault{
			Effect:   &effect.Kill{Who: effect.Target{List: nodes.Group{victim}}, Forget: seed%2 == 0},
			Schedule: chaos.Schedule{At: time.Duration(5+15*i) * time.Millisecond, For: 20 * time.Millisecond}})
	}
	algotest.Over(&o, algotest.NetworkOf("exponential:1ms"), faults...)
	r, err := sim.Run(o, &history.History{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cut != nil {
		t.Fatal(r.Cut)
	}
	return fault, len(priors)
}

// The proved properties of censuses hold, and one of them fails if a rule is changed.
func TestCensuses(t *testing.T) {
	for _, rule := range []string{"", "no majority is waited for", "a promise is not kept",
		"a promise is forgotten", "all take the next epoch", "who has forgotten joins at once"} {
		fault, complete := "", 0
		tries := uint64(3000) // the most seeds for a mutant
		if rule == "" {
			tries = soak.Pick[uint64](50, 300, 5000)
		}
		for seed := uint64(0); seed < tries && fault == ""; seed++ {
			says, count := tellers(t, rule, 3+int(seed%3), seed)
			fault, complete = says, complete+count
		}
		t.Logf("%q: %d censuses", rule, complete)
		if (rule == "") != (fault == "") || rule == "" && complete < 1000 {
			t.Errorf("%q: %q, after %d complete censuses", rule, fault, complete)
		}
	}
}

func TestFenceNumbersRise(t *testing.T) {
	for _, n := range []int{1, 2, 5, 32, 1000, 100_000} {
		last := fence(n, 1000*uint64(n), mostSerial(n))
		if last > nodes.MostFence {
			t.Errorf("%d nodes: %d is too high", n, last)
		}
		if first := fence(n, 1, 1); fence(n, 0, mostSerial(n)) >= first || first >= fence(n, 1, 2) ||
			mostSerial(n) < 100 {
			t.Errorf("%d nodes: fence numbers do not rise", n)
		}
	}
}
