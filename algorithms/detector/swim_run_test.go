package detector

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

const ms = time.Millisecond

// A trial is a simulated run of a detector beside clients that request nothing, with faults.
type trial struct {
	options string
	n       int
	lasts   time.Duration
	faults  []chaos.Fault
}

// said is what detectors said in a run, in the order of time, and how many messages they sent.
type said struct {
	suspected, trusted []history.Event
	sent               uint64
}

func (x *trial) run(t *testing.T, spec *algorithm.Algorithm, seed uint64) (s said) {
	t.Helper()
	in, err := algorithm.ParseInstance("failure detector", []*algorithm.Algorithm{spec}, spec.Name+x.options,
		x.n,
		nodes.Delays{})
	if err != nil {
		t.Fatal(err)
	}
	ricart, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: ricart, Config: nodes.Config{N: x.n}}, in)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Stack: stack, Seed: seed,
		Duration: x.lasts, Workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(2 * x.lasts)}}
	algotest.Over(&o, algotest.NetworkOf(ms.String()), x.faults...)
	h := algotest.History(t, o)
	for _, e := range h.Events {
		switch e.Kind {
		case history.Suspected:
			s.suspected = append(s.suspected, e)
		case history.Trusted:
			s.trusted = append(s.trusted, e)
		}
	}
	for _, k := range history.Sum(h.Logs).Kinds {
		s.sent += k.Sent
	}
	return s
}

// Each member sends a ping and an ack per period, however many there are, as long as nothing goes wrong;
// and a few more when a tenth of all messages is lost.
func TestSwimLoadDoesNotDependOnN(t *testing.T) {
	const periods = 50
	for _, n := range []int{8, 32, 128} {
		x := trial{options: ":period=100ms", n: n, lasts: periods * 100 * ms}
		load := func() float64 { return float64(x.run(t, &swimAlgorithm, 1).sent) / float64(n*periods) }
		if got := load(); got < 1.97 || got > 2.03 {
			t.Errorf("%d members: %v messages per member and period", n, got)
		}
		x.faults = []chaos.Fault{lossy(0.1)}
		if got := load(); got < 2.5 || got > 5 {
			t.Errorf("%d members, with losses: %v messages per member and period", n, got)
		}
	}
}

// A promise is a property that a detector must have in a trial. says is the error if it does not.
type promise struct {
	says  string
	trial trial
	keeps func(said) bool
}

// quiet says that nobody is declared faulty.
func quiet(s said) bool { return len(s.suspected) == 0 }

var swimPromises = []promise{
	{"a member that stands still for less than the time to refute is not declared faulty",
		trial{"", 8, 3 * time.Second, []chaos.Fault{
			{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{1}}},
				Schedule: chaos.Schedule{At: 500 * ms, For: 400 * ms}}}}, quiet},
	{"a member that one other cannot reach is reached by others",
		trial{":suspicion=0", 5, 5 * time.Second, []chaos.Fault{cut("0/1", 0, 4*time.Second)}}, quiet},
	{"where messages are lost, hardly anybody is declared faulty",
		trial{":period=50ms,timeout=15ms", 8, 10 * time.Second, []chaos.Fault{lossy(0.2)}}, quiet},
	{"all learn of a crash long before each has probed the member",
		trial{"", 32, 3 * time.Second, []chaos.Fault{
			{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{1}}},
				Schedule: chaos.Schedule{At: 500 * ms}}}}, func(s said) bool {
			return len(s.suspected) == 31 && s.suspected[30].At-s.suspected[0].At < int64(500*ms)
		}},
	// Once the cut is healed, a declaration of the other side may be heard before its refutation.
	{"whoever was declared faulty wrongly is trusted again by all, soon after a cut is healed",
		trial{"", 6, 6 * time.Second, []chaos.Fault{cut("0-2/3-5", 500*ms, 3*time.Second)}},
		func(s said) bool {
			return len(s.suspected) >= 18 && len(s.trusted) == len(s.suspected) &&
				s.trusted[len(s.trusted)-1].At < int64(4500*ms)
		}},
	{"a restarted member is trusted at once", trial{"", 8, 6 * time.Second, []chaos.Fault{
		{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{1}}},
			Schedule: chaos.Schedule{At: 500 * ms, For: 2 * time.Second}}}}, func(s said) bool {
		return len(s.suspected) == 7 && len(s.trusted) == 7 && s.trusted[6].At < int64(2500*ms+400*ms)
	}},
}

func cut(text string, at, lasts time.Duration) chaos.Fault {
	c, err := effect.ParseCut(text)
	if err != nil {
		panic(err) // a wrong text in swimPromises
	}
	return chaos.Fault{Effect: &effect.Partition{Cut: c}, Schedule: chaos.Schedule{At: at, For: lasts}}
}

// lossy loses a share of all messages.
func lossy(share effect.Share) chaos.Fault {
	return chaos.Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: share}}}
}

// broken lists the promises that a detector breaks in some of a few runs.
func broken(t *testing.T, algo *algorithm.Algorithm) (all []string) {
	for _, p := range swimPromises {
		for seed := range uint64(4) {
			if s := p.trial.run(t, algo, seed); !p.keeps(s) {
				all = append(all, fmt.Sprintf("%s: seed %d: %v, %v", p.says, seed, s.suspected, s.trusted))
				break
			}
		}
	}
	return all
}

func TestSwimKeepsItsPromises(t *testing.T) {
	for _, b := range broken(t, &swimAlgorithm) {
		t.Error(b)
	}
}

// A swimMutant is swim with one rule changed: it takes no notice of a message, or of a part of its gossip.
type swimMutant struct {
	swim
	rule uint8
}

var swimMutants = []string{"a suspicion is not refuted", "an ack that others pass on is ignored",
	"what is heard of others is ignored", "nobody is said to be alive"}

func (s *swimMutant) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch ack, isAck := m.(swimPingAck); {
	case s.rule == 0:
		m = gossiping(m, func(u swimUpdate) bool { return u.Member != env.Self() })
	case s.rule == 1 && isAck && ack.For == env.Self() && from != s.target:
		return
	case s.rule == 2:
		m = gossiping(m, func(u swimUpdate) bool { return u.Member == env.Self() })
	case s.rule == 3:
		m = gossiping(m, func(u swimUpdate) bool { return u.State != swimAlive })
	}
	s.swim.Receive(env, from, m)
}

// gossiping returns a message with only the updates for which stay is true.
func gossiping(m nodes.Message, stay func(swimUpdate) bool) nodes.Message {
	of := func(g swimGossip) swimGossip {
		updates := slices.Clone(g.Updates)
		return swimGossip{g.Incarnation, slices.DeleteFunc(updates, func(u swimUpdate) bool { return !stay(u) })}
	}
	switch m := m.(type) {
	case swimPing:
		m.Gossip = of(m.Gossip)
		return m
	case swimPingReq:
		m.Gossip = of(m.Gossip)
		return m
	case swimPingAck:
		m.Gossip = of(m.Gossip)
		return m
	case swimPingNack:
		m.Gossip = of(m.Gossip)
		return m
	}
	return m
}

func TestSwimMutantsBreakPromises(t *testing.T) {
	for rule, says := range swimMutants {
		algo := swimAlgorithm
		algo.New = func(c nodes.Config) nodes.Machine { return &swimMutant{*swimOf(c), uint8(rule)} }
		all := broken(t, &algo)
		if len(all) == 0 {
			t.Errorf("no promise shows that %s", says)
		}
		for _, b := range all {
			t.Logf("%s: %s", says, b[:min(len(b), 100)])
		}
	}
}
