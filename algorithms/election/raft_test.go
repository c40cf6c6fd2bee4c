package election

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// optionsOf reads options, as in "pre-vote=on heartbeat=20ms".
func optionsOf(n int, text string) nodes.Config {
	c := nodes.Config{N: n}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		c = c.With(name, value)
	}
	return c
}

// A clean election, with one node down, takes N-1 requests, N-2 votes, and N-1 announcements; a pre-vote
// takes N-1 more requests and N-2 more answers.
func TestRaftCostsWhatIsPublished(t *testing.T) {
	for _, n := range []int{3, 4, 5, 9, 16, 32} {
		s := scenario{algorithm: &raftAlgorithm, config: nodes.Config{N: n}, initiators: workload.LowestInitiates,
			faults: []chaos.Fault{down(nodes.ID(n - 1))}, duration: 2 * time.Second}
		o := s.simulated(t)
		o.leads(t, 0)
		if got := o.messages(); got != uint64(3*n-4) {
			t.Errorf("n=%d: %d messages, not %d: %v", n, got, 3*n-4, o.sent)
		}
	}
}

// An election costs the same when it replaces a crashed leader, if one node stands before any other does.
func TestARaftLeaderIsReplacedAtThePublishedCost(t *testing.T) {
	for _, n := range []int{3, 4, 5, 9, 32} {
		for _, preVote := range []string{"off", "on"} {
			clean := 0
			for seed := uint64(1); seed <= 20; seed++ {
				s := scenario{algorithm: &raftAlgorithm, config: optionsOf(n, "pre-vote="+preVote), seed: seed,
					initiators: workload.HighestInitiate, duration: 4 * time.Second,
					faults: faults(t, fmt.Sprintf("kill: %d, at: 2s", n-1))}
				o := s.simulated(t)
				want := 3*(n-1) + 3*n - 4
				switch {
				case o.sent["request"] != uint64(2*(n-1)):
					continue // several stood at once
				case preVote == "on" && o.sent["prerequest"] != uint64(n-1):
					continue
				case preVote == "on":
					want += n - 1 + n - 2
				}
				clean++
				if got := o.messages(); got != uint64(want) || o.leader() == nodes.None || o.leader() == nodes.ID(n-1) {
					t.Errorf("n=%d, pre-vote %s, seed %d: %d messages, not %d: %v; %d leads", n, preVote, seed, got,
						want, o.sent, o.leader())
				}
			}
			if clean < 3 {
				t.Errorf("n=%d, pre-vote %s: only %d clean elections", n, preVote, clean)
			}
		}
	}
}

// One node is its own majority. Of two, both are.
func TestRaftOfOneAndTwo(t *testing.T) {
	for _, options := range []string{"", "pre-vote=on", "check-quorum=off"} {
		s := scenario{algorithm: &raftAlgorithm, config: optionsOf(1, options), initiators: workload.NoneInitiates}
		one := s.simulated(t)
		one.leads(t, 0)
		if len(one.sent) > 0 {
			t.Errorf("%s: node 0 sends itself %v", options, one.sent)
		}
		s.config = optionsOf(2, options)
		two := s.simulated(t)
		if two.leader() == nodes.None || len(two.Conflicts) > 0 {
			t.Errorf("%s: of two, %d leads", options, two.leader())
		}
		s.faults = []chaos.Fault{down(1)}
		half := s.simulated(t)
		if half.leader() != nodes.None || slices.ContainsFunc(half.last(), leadsItself) {
			t.Errorf("%s: node 0 of two leads without the other", options)
		}
	}
}

// Faults that a raft has to bear: in each run one of processes, and up to three of links.
var (
	stormsOfProcesses = []string{
		"kill: random, at: 200ms, for: 30ms, every: 300ms, jitter: 200ms",
		"kill: leader, at: 300ms, for: 20ms",
		"kill: all, at: 250ms, for: 5ms, every: 400ms, jitter: 300ms",
		"pause: random, at: 400ms, for: 500ms, every: 700ms, jitter: 100ms",
		"pause: leader, at: 400ms, for: 400ms",
	}
	stormsOfLinks = []string{
		"loss: 20%, at: 100ms, for: 3s",
		"duplicate: 50%, at: 100ms, for: 3s",
		"reorder: exponential:60ms, at: 100ms, for: 3s",
		"delay: exponential:80ms, at: 100ms, for: 3s",
		"cut: minority, at: 500ms, for: 600ms, every: 1200ms, jitter: 300ms",
		"cut: bridge, at: 700ms, for: 900ms",
		"cut: 0>1, at: 300ms, for: 2s",
	}
)

// raftOptionsInStorms are some of the options of a raft.
var raftOptionsInStorms = []string{"", "pre-vote=on", "check-quorum=off", "pre-vote=on check-quorum=off",
	"election-timeout=60ms-90ms", "election-timeout=60ms-90ms check-quorum=off", "election-timeout=100ms-900ms",
	"election-timeout=100ms-900ms pre-vote=on"}

// turmoil runs an algorithm with one of some options under faults drawn by a seed. Faults end within six
// seconds.
func turmoil(t testing.TB, algo *algorithm.Algorithm, seed uint64, options ...string) turmoilOutcome {
	t.Helper()
	count := uint64(0)
	below := func(n int) int {
		count++
		return chance.Dice(seed).Below(chance.Roll{Purpose: chance.ForPlan, Count: count}, n)
	}
	pick := func(all ...string) string { return all[below(len(all))] }
	n := []int{3, 3, 4, 5, 5, 7}[below(6)]
	s := scenario{algorithm: algo, seed: seed, duration: 10 * time.Second, reordering: below(2) == 0,
		config: optionsOf(n, pick(options...))}
	latency := pick("1ms", "uniform:1ms,40ms", "exponential:15ms")
	s.network = algotest.NetworkOf(latency)
	texts := []string{pick(stormsOfProcesses...)}
	for range below(4) {
		texts = append(texts, pick(stormsOfLinks...))
	}
	for _, f := range faults(t, texts...) {
		if f.Every > 0 {
			f.Repeat = int(4 * time.Second / f.Every)
		}
		f.At += time.Duration(below(1000)) * time.Millisecond
		s.faults = append(s.faults, f)
	}
	return turmoilOutcome{s.simulated(t), latency == "1ms"}
}

// A turmoilOutcome is the outcome of turmoil.
type turmoilOutcome struct {
	outcome
	calm bool // messages take less than a heartbeat once all is over
}

// wrong says which safety promise of a raft is broken in a run; empty: no such promise.
func (o *outcome) wrong() string {
	leaders := map[uint64]nodes.ID{}
	for _, b := range o.Beliefs {
		if b.Leads() {
			leaders[b.Term] = b.Node
		}
	}
	switch {
	case len(o.Conflicts) > 0:
		return fmt.Sprintf("two leaders in one term: %+v", o.Conflicts[0])
	case len(o.Backwards) > 0:
		return fmt.Sprintf("a term went backwards: %+v", o.Backwards[0])
	}
	for _, b := range o.Beliefs {
		if leader, some := leaders[b.Term]; b.Leader != nodes.None && (!some || leader != b.Leader) {
			return fmt.Sprintf("%d takes %d for the leader of term %d: %v", b.Node, b.Leader, b.Term, leaders)
		}
	}
	return ""
}

// stormSeeds is how many storms breaksInStorms tries at most.
const stormSeeds = 400

// Under any faults of messages and processes, at most one node leads in a term, all nodes that name a leader
// of a term name that one, and no term goes backwards. When all is over, and messages take less than a
// heartbeat, one leads.
func TestRaftInStorms(t *testing.T) {
	elections, storms := 0, soak.Pick[uint64](100, stormSeeds, 20_000)
	for seed := uint64(1); seed <= storms; seed++ {
		o := turmoil(t, &raftAlgorithm, seed, raftOptionsInStorms...)
		if wrong := o.wrong(); wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		if o.calm && o.leader() == nodes.None {
			t.Errorf("seed %d: nobody leads, long after all is over: %v", seed, o.last())
		}
		elections += len(o.Agreements)
	}
	if elections < 10*int(storms) {
		t.Errorf("%d elections in %d runs", elections, storms)
	}
}

// A leader in a minority steps down within its lapse, at any moment of the cut.
func TestARaftLeaderWithoutMajorityStepsDown(t *testing.T) {
	for _, options := range []string{"", "pre-vote=on", "election-timeout=90ms-300ms", "heartbeat=20ms",
		"election-timeout=400ms-500ms heartbeat=70ms"} {
		for cut, n := range map[string]int{"0/1": 2, "0/1-2": 3, "0-1/2-4": 5, "0-1/2-3": 4, "1-4>0": 5} {
			for seed := range soak.Pick[uint64](2, 5, 200) {
				s := scenario{algorithm: &raftAlgorithm, config: optionsOf(n, options),
					initiators: workload.LowestInitiates,
					seed:       seed + 1, duration: 5 * time.Second, network: algotest.NetworkOf("uniform:1ms,20ms"),
					faults: faults(t, "cut: "+cut+", at: 2s, jitter: 100ms, for: 2s")}
				if late := s.lapse(t); late > 0 {
					t.Errorf("%s, cut %s, seed %d: the leader led on, %v longer than it says", options, cut, seed, late)
				}
				s.config = s.config.With("check-quorum", "off")
				if late := s.lapse(t); late < time.Second {
					t.Errorf("%s, cut %s, seed %d: the leader stepped down, though it does not check", options, cut, seed)
				}
			}
		}
	}
}

// lapse returns for how long node 0 led after the cut, beyond the lapse of its algorithm.
func (s scenario) lapse(t testing.TB) time.Duration {
	t.Helper()
	o := s.simulated(t)
	cut := int64(2*time.Second + 100*time.Millisecond)
	for _, b := range o.Beliefs {
		if b.Leads() && b.Node == 0 && b.From < int64(time.Second) {
			if b.To < int64(2*time.Second) {
				t.Fatalf("node 0 gave up before the cut: %+v", b)
			}
			return time.Duration(b.To-cut) - s.algorithm.Elector.Lapse(s.config)
		}
	}
	t.Fatal("node 0 does not lead")
	return 0
}

// A node that was cut off comes back in a higher term, and so deposes the leader. With a pre-vote it has
// stayed in its term.
func TestPreVoteProtectsALeaderFromOneThatComesBack(t *testing.T) {
	for _, n := range []int{3, 5} {
		for seed := uint64(1); seed <= 20; seed++ {
			for _, preVote := range []string{"on", "off"} {
				s := scenario{algorithm: &raftAlgorithm, config: optionsOf(n, "pre-vote="+preVote), seed: seed,
					initiators: workload.LowestInitiates,
					faults:     faults(t, fmt.Sprintf("cut: 0-%d/%d, at: 2s, for: 3s", n-2, n-1))}
				o := s.simulated(t)
				if deposed := len(o.Flaps) > 0; deposed != (preVote == "off") || o.leader() == nodes.None {
					t.Errorf("n=%d, pre-vote %s, seed %d: deposed %t; %v", n, preVote, seed, deposed, o.last())
				}
				if last := o.last()[0]; (last.Term == 1) != (preVote == "on") {
					t.Errorf("n=%d, pre-vote %s, seed %d: the last term is %d", n, preVote, seed, last.Term)
				}
			}
		}
	}
}

// leadsItself reports whether the node that holds a belief takes itself for the leader.
func leadsItself(b leadership.Belief) bool { return b.Leads() }
