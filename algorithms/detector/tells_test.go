package detector

import (
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

type (
	swimMute     struct{ swim }
	heartbeatLax struct{ heartbeat }
	phiLax       struct{ phi }
	probeLax     struct{ probe }
)

// Timeout never declares a member faulty: a suspicion has no end.
func (s *swimMute) Timeout(env *nodes.Env, t nodes.Timer) {
	s.suspicion = 1 << 30
	s.swim.Timeout(env, t)
}

func (h *heartbeatLax) Timeout(env *nodes.Env, t nodes.Timer) {
	h.timeout = 1 << 30
	h.heartbeat.Timeout(env, t)
}

func (p *phiLax) Timeout(env *nodes.Env, t nodes.Timer) {
	p.bound = 1 << 20
	p.phi.Timeout(env, t)
}

func (p *probeLax) Timeout(env *nodes.Env, t nodes.Timer) {
	p.timeout += 10
	p.probe.Timeout(env, t)
	p.timeout -= 10
}

// told judges a run of an algorithm beside a detector under faults, and returns the finding about detection.
func told(t *testing.T, in algorithm.Instance, n int, seed uint64, faults ...chaos.Fault) (f check.Finding) {
	t.Helper()
	ricart, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: ricart, Config: nodes.Config{N: n}}, in)
	if err != nil {
		t.Fatal(err)
	}
	lasts := 30 * time.Second
	o := sim.Options{Stack: stack, Seed: seed, Duration: lasts,
		Workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(2 * lasts)}}
	algotest.Over(&o, algotest.NetworkOf("uniform:0s,2ms"), faults...)
	s := check.SettingOf(stack)
	s.Bounded, s.Delay = true, 2*time.Millisecond
	v := check.Judge(algotest.History(t, o), s)
	for _, f := range v.Findings {
		if f.Check == "detection" {
			return f
		}
	}
	t.Fatalf("no crash was judged: %+v", v)
	return f
}

func kill(id nodes.ID, at, last time.Duration) chaos.Fault {
	return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{id}}},
		Schedule: chaos.Schedule{At: at, For: last}}
}

// Each detector tells of a crash within the time that it promises.
func TestCrashesAreToldInTime(t *testing.T) {
	for _, text := range []string{"heartbeat", "probe", "phi", "swim", "swim:order=random", "swim:in-step=yes",
		"swim:k=0", "swim:suspicion=0", "perfect"} {
		for seed := range soak.Pick[uint64](3, 30, 1000) {
			n := 2 + int(seed%7)
			in, err := Parse(text, n, nodes.Delays{Message: 2 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			at := time.Duration(seed%11) * 37 * time.Millisecond
			f := told(t, in, n, seed, kill(1, at, 0), kill(0, at+9*time.Second, 8*time.Second))
			if f.Outcome != check.Valid || f.NotJudged {
				t.Errorf("%s, %d nodes, seed %d: %v: %s", text, n, seed, f.Outcome, f.Says)
			}
		}
	}
}

// A detector that does not tell of a crash, or tells later than it promises, is found out.
func TestLateDetectorsAreFound(t *testing.T) {
	for _, lax := range []*algorithm.Algorithm{
		algotest.Rebuilt(&swimAlgorithm, func(s swim) nodes.Machine { return &swimMute{s} }),
		algotest.Rebuilt(&heartbeatAlgorithm, func(h heartbeat) nodes.Machine { return &heartbeatLax{h} }),
		algotest.Rebuilt(&phiAlgorithm, func(p phi) nodes.Machine { return &phiLax{p} }),
		algotest.Rebuilt(&probeAlgorithm, func(p probe) nodes.Machine { return &probeLax{p} }),
	} {
		in, err := algorithm.ParseInstance("failure detector", []*algorithm.Algorithm{lax}, lax.Name, 5,
			nodes.Delays{})
		if err != nil {
			t.Fatal(err)
		}
		f := told(t, in, 5, 1, kill(2, time.Second, 0))
		if f.Outcome != check.Violated || f.OutsideModel || !strings.Contains(f.Says, "node 2") {
			t.Errorf("%s: %v: %s", lax.Name, f.Outcome, f.Says)
		}
	}
}
