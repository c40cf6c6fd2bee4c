package election

import (
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// verdict runs the scenario and returns what the checks say, and how many messages were sent.
func (s scenario) verdict(t testing.TB) (check.Verdict, int) {
	t.Helper()
	stack := s.stack(t)
	network := s.network
	if network == nil {
		network = algotest.NetworkOf(hop.String())
	}
	setting := check.SettingOf(stack)
	setting.Delay, setting.Bounded = network.Bound()
	setting.Even = network.Constant()
	scene := &chaos.Scene{Spec: s.algorithm, Config: stack.Instances()[0].Config, Stack: stack,
		Measured: s.duration}
	setting.Promise = check.PromiseOf(s.algorithm, s.config, network.Longest())
	if len(s.faults) > 0 {
		resolved, err := chaos.Resolve(s.faults, scene, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range resolved {
			setting.Faults = append(setting.Faults, check.Fault{Text: resolved[i].What()})
		}
	}
	sections := check.Sections(history.Header{}, setting)
	checks := check.New(sections, setting)
	s.beside = sections
	o := s.simulated(t)
	return checks.Verdict(), int(o.messages())
}

// Ring electors that send needless messages, but no more than the published maximum.
type (
	sinclairTwice struct{ hirschbergSinclair }
	franklinSure  struct {
		franklin
		sure bool
	}
	dolevWhole struct{ dolevKlaweRodeh }
)

// A reply is sent twice.
func (h *sinclairTwice) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	h.hirschbergSinclair.Receive(env, from, m)
	if m, ok := m.(sinclairProbe); ok && h.open && m.Election == h.election && m.Identity > h.identity &&
		m.Hops == 1 {
		env.Send(h.to(!m.Forward), sinclairReply{m.Election, m.Identity, m.Phase, m.Forward})
	}
}

// The last candidate goes round once more.
func (f *franklinSure) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(franklinIdentity); ok && f.open && f.active && !f.sure && m.Identity == f.identity &&
		m.Round == f.round && f.came[side(!m.Forward)][m.Round%2].identity == f.identity {
		f.sure = true
		f.send(env, f.round+1)
		return
	}
	f.franklin.Receive(env, from, m)
}

// The last candidate sends the second value of its last round too.
func (d *dolevWhole) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(dolevValue); ok && d.open && d.active && !d.second && m.Value == d.value &&
		m.Round == d.round {
		env.Send(d.next, dolevValue{d.election, d.round, true, m.Value})
	}
	d.dolevKlaweRodeh.Receive(env, from, m)
}

// efficientBeats goes on with its heartbeats when it has given way.
type efficientBeats struct{ omegaEfficient }

func (o *efficientBeats) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	led := o.leader == env.Self()
	o.omegaEfficient.Receive(env, from, m)
	if led && o.leader != env.Self() {
		env.SetTimer(nodes.Timer{Kind: omegaBeat}, o.heartbeat, o.heartbeat)
	}
}

// A judgedMutant is an algorithm with one rule changed. The verdict of a simulated run finds it violated.
type judgedMutant struct {
	rule      string
	algorithm *algorithm.Algorithm // that is changed
	mutant    *algorithm.Algorithm
	in        scenario // where it shows
	says      string   // text of the finding
	check     string
	below     bool // it sends fewer messages than are published as the most
}

func judgedMutants(t testing.TB) []judgedMutant {
	ring := scenario{config: nodes.Config{N: 16}.With(idsOption.Name, "random:1"), duration: time.Second}
	healed := scenario{config: nodes.Config{N: 5}, faults: faults(t, "cut: 0-1/2-4, at: 2s, for: 2s")}
	late := scenario{config: nodes.Config{N: 4}, network: algotest.NetworkOf("uniform:0s,600ms"),
		duration: time.Minute}
	impatient := func(algo *algorithm.Algorithm, make func(c nodes.Config) nodes.Machine) *algorithm.Algorithm {
		changed := *algo
		changed.New = make
		return &changed
	}
	return []judgedMutant{
		{"a reply is sent twice", &hirschbergSinclairAlgorithm, algotest.Rebuilt(&hirschbergSinclairAlgorithm,
			func(m hirschbergSinclair) nodes.Machine { return &sinclairTwice{m} }), ring,
			"but this order of identities takes", "cost", true},
		{"the last candidate goes round once more", &franklinAlgorithm, algotest.Rebuilt(&franklinAlgorithm,
			func(m franklin) nodes.Machine { return &franklinSure{franklin: m} }), ring,
			"but this order of identities takes", "cost", true},
		{"the last round is a whole one", &dolevKlaweRodehAlgorithm, algotest.Rebuilt(&dolevKlaweRodehAlgorithm,
			func(m dolevKlaweRodeh) nodes.Machine { return &dolevWhole{m} }), ring,
			"but this order of identities takes", "cost", true},
		{"heartbeats go on after giving way", &omegaEfficientAlgorithm, algotest.Rebuilt(&omegaEfficientAlgorithm,
			func(m omegaEfficient) nodes.Machine { return &efficientBeats{m} }), healed,
			"sent by others than the leader while all agreed on it", "senders", false},
		{"patience never grows", &omegaAlgorithm, impatient(&omegaAlgorithm, func(c nodes.Config) nodes.Machine {
			o := &omega{patience: patienceOf(c), leader: nodes.None}
			o.grow = 0
			return o
		}), late, "without faults; if no message takes longer", "stability", false},
		{"patience never grows", &omegaEfficientAlgorithm, impatient(&omegaEfficientAlgorithm,
			func(c nodes.Config) nodes.Machine {
				o := &omegaEfficient{patience: patienceOf(c), leader: nodes.None}
				o.grow = 0
				return o
			}), late, "without faults; if no message takes longer", "stability", false},
	}
}

// The verdict of a run checks what an algorithm promises of its messages and of how long its leaders stay: it
// finds each of the judgedMutants violated, and the sound algorithm, in the same scenario, valid.
func TestMutantsAreFoundByTheVerdict(t *testing.T) {
	for _, m := range judgedMutants(t) {
		t.Run(m.algorithm.Name+"/"+m.rule, func(t *testing.T) {
			finding := func(algo *algorithm.Algorithm) (check.Finding, int) {
				m.in.algorithm = algo
				v, sent := m.in.verdict(t)
				if algo == m.mutant && v.Outcome != check.Violated {
					t.Errorf("the verdict is %v: %s", v.Outcome, v.Reason)
				}
				for _, f := range v.Findings {
					if f.Check == m.check {
						return f, sent
					}
				}
				t.Fatalf("there is no check %s", m.check)
				return check.Finding{}, 0
			}
			if f, sent := finding(m.mutant); f.Outcome != check.Violated || !strings.Contains(f.Says, m.says) {
				t.Errorf("it survives: %v: %s", f.Outcome, f.Says)
			} else if m.below && sent > m.algorithm.Elector.Costs(m.in.config).Most {
				t.Errorf("%d messages are more than are published anyway", sent)
			}
			if f, _ := finding(m.algorithm); f.Outcome != check.Valid || f.NotJudged {
				t.Errorf("the algorithm itself: %v: %s", f.Outcome, f.Says)
			}
		})
	}
}
