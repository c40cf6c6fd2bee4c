package election

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/algotest"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// hop is how long every message takes in a scenario, unless it says otherwise.
const hop = time.Millisecond

// A scenario is a simulated election run.
type scenario struct {
	algorithm  *algorithm.Algorithm
	config     nodes.Config
	initiators workload.Initiators
	detector   string         // beside the algorithm; empty: the algorithm's own; "none": none
	network    *chaos.Network // nil: every message takes one hop
	faults     []chaos.Fault
	duration   time.Duration // zero: ten seconds
	reordering bool
	seed       uint64
	beside     history.Fold // one more fold of the history; nil: no further fold
}

// An outcome is the result of a scenario.
type outcome struct {
	*leadership.Fold
	sections *section.Fold
	sent     map[string]uint64 // messages of the algorithm by kind, over the whole run
	stack    *algorithm.Stack
	codec    *nodes.Codec
}

// down has nodes be down from the beginning.
func down(all ...nodes.ID) chaos.Fault {
	return chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: all}}}
}

// stack returns the stack of instances on every node: the algorithm, and the instances beside it.
func (s scenario) stack(t testing.TB, beside ...algorithm.Instance) *algorithm.Stack {
	t.Helper()
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: s.algorithm,
		Config: s.algorithm.Explicit(s.config)}, beside...)
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// simulated runs the scenario.
func (s scenario) simulated(t testing.TB) outcome {
	t.Helper()
	var beside []algorithm.Instance
	if text := cmp.Or(s.detector, s.algorithm.Detects); text != "" && text != "none" {
		in, err := detector.Parse(text, s.config.N, nodes.Delays{})
		if err != nil {
			t.Fatal(err)
		}
		beside = append(beside, in)
	}
	stack := s.stack(t, beside...)
	o := sim.Options{Stack: stack, Seed: cmp.Or(s.seed, 1), Latency: hop,
		Workload: workload.Workload{Load: workload.Campaign, Initiators: s.initiators}, Reordering: s.reordering,
		Duration: cmp.Or(s.duration, 10*time.Second)}
	config := stack.Instances()[0].Config
	if len(s.faults) > 0 || s.network != nil {
		algotest.Over(&o, cmp.Or(s.network, algotest.NetworkOf(hop.String())), s.faults...)
	}
	out := outcome{Fold: leadership.New(config, s.algorithm.Elector), sections: section.New(0, nil),
		stack: stack, codec: stack.Codec(), sent: map[string]uint64{}}
	counts := countFold(func(logs []*history.NodeLog) { out.count(logs) })
	folds := []history.Fold{out.Fold, out.sections, counts}
	if s.beside != nil {
		folds = append(folds, s.beside)
	}
	if result, err := sim.Run(o, folds...); err != nil {
		t.Fatal(err)
	} else if result.Cut != nil {
		t.Fatal(result.Cut)
	}
	return out
}

// sends counts the messages of an algorithm that circulates, by their sender, and notes when the first was
// sent.
type sends struct {
	from, to int64 // in the run; to zero: to the end
	by       map[nodes.ID]int
	first    int64
}

func (s *sends) Add(e history.Event) {
	if e.Kind != history.Sent || e.Instance != 0 || e.At < s.from || s.to > 0 && e.At >= s.to {
		return
	}
	if s.by == nil {
		s.by, s.first = map[nodes.ID]int{}, e.At
	}
	s.by[e.Node]++
}

func (*sends) Close([]*history.NodeLog) {}

// countFold is called when a history is over.
type countFold func([]*history.NodeLog)

func (countFold) Add(history.Event)               {}
func (f countFold) Close(logs []*history.NodeLog) { f(logs) }

func (o *outcome) count(logs []*history.NodeLog) {
	for _, l := range logs {
		if len(l.Instances) == 0 {
			continue
		}
		for kind, k := range l.Instances[0].Kinds {
			if k.Sent > 0 {
				o.sent[o.codec.Name(kind)] += k.Sent
			}
		}
	}
}

// messages returns how many messages the algorithm sent that are no heartbeats.
func (o *outcome) messages() (all uint64) {
	for kind := range o.codec.Kinds() {
		if !o.codec.Kind(kind).Heartbeat {
			all += o.sent[o.codec.Name(kind)]
		}
	}
	return all
}

// leader returns the leader on which all live nodes agreed at the end; None: they did not agree.
func (o *outcome) leader() nodes.ID {
	if last := o.AgreedAtEnd(); last != nil {
		return last.Leader
	}
	return nodes.None
}

// leads demands that all agree on a leader at the end, and that no two led at once or in one term.
func (o *outcome) leads(t testing.TB, want nodes.ID) {
	t.Helper()
	if got := o.leader(); got != want {
		t.Errorf("node %d leads, not %d: %v", got, want, o.last())
	}
	if len(o.Overlaps)+len(o.Conflicts)+len(o.Backwards) > 0 {
		t.Errorf("two leaders at once %v, in one term %v; terms that went backwards %v",
			o.Overlaps, o.Conflicts, o.Backwards)
	}
}

// last returns what each node believed when the run ended.
func (o *outcome) last() (all []leadership.Belief) {
	for _, b := range slices.Backward(o.Beliefs) {
		if !slices.ContainsFunc(all, func(a leadership.Belief) bool { return a.Node == b.Node }) {
			all = append(all, b)
		}
	}
	return all
}

// An option refuses a wrong value. The error names a right value. says is empty for valid values.
func TestOptionsAreRefused(t *testing.T) {
	for _, test := range []struct {
		algorithm     *algorithm.Algorithm
		n             int
		options, says string
	}{
		{&bullyAlgorithm, 5, "answer=0s", "answer: 0s is not from 1ms to 1m0s"},
		{&bullyMajorityAlgorithm, 5, "lapse=250ms answer=200ms", "take 400ms or more"},
		// without a majority, lapse has no effect
		{&bullySecondNetworkAlgorithm, 5, "lapse=250ms answer=200ms", ""},
		{&bullySharedDiskAlgorithm, 5, "lock=500ms answer=200ms", "take 800ms or more"},
		{&raftAlgorithm, 3, "election-timeout=soon-later", "is not a range of times"},
		{&raftAlgorithm, 3, "election-timeout=150-300", "did you mean 150ms?"},
		{&raftAlgorithm, 3, "election-timeout=300ms-150ms", "the wrong way round: write 150ms-300ms"},
		{&raftAlgorithm, 3, "election-timeout=150ms-150ms", "leaves nothing to chance"},
		{&raftAlgorithm, 3, "election-timeout=50ms-100ms", "is not longer than the heartbeat of 50ms"},
		{&raftAlgorithm, 3, "heartbeat=200ms", "take some heartbeats, such as 600ms-1.2s"},
		{&raftAlgorithm, 3, "election-timeout=2m-3m", "is too long: the shortest may be up to 1000"},
		{&raftAlgorithm, 3, "election-timeout=51ms-52ms", ""},
		{&omegaAlgorithm, 3, "silence=50ms", "take some heartbeats, such as 250ms"},
		{&omegaEfficientAlgorithm, 3, "silence=2m", "send them less often"},
		{&omegaEfficientAlgorithm, 3, "silence=51ms", ""},
		{&changRobertsAlgorithm, 3, "ids=1,0,1", "nodes 0 and 2 both have the identity 1"},
		{&changRobertsAlgorithm, 3, "ids=0,1", "2 identities for 3 nodes"},
		{&changRobertsAlgorithm, 3, "ids=0,1,x", "is neither increasing, decreasing, random:SEED nor a list"},
		{&changRobertsAlgorithm, 3, "ids=random", "did you mean random:1?"},
		{&changRobertsAlgorithm, 3, "ids=random:x", `"x" is not a seed`},
		{&itaiRodehAlgorithm, 1, "draws=1", ""},
		{&itaiRodehAlgorithm, 2, "draws=1", "draws:"},
		{&itaiRodehAlgorithm, 3, "draws=two", "draws:"},
		{&itaiRodehAlgorithm, 6, "draws=2", ""},
		{&itaiRodehAlgorithm, 100, "draws=2", "draws:"},
		{&itaiRodehAlgorithm, 1000, "draws=n", ""},
	} {
		err := test.algorithm.Validate(optionsOf(test.n, test.options))
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s of %d, %s: %v, want %q", test.algorithm.Name, test.n, test.options, err, test.says)
		}
	}
}
