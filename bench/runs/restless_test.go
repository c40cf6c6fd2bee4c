package runs

import (
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// raftRun makes a simulated run of elections, of Raft with three nodes by default.
func raftRun(t *testing.T, change func(o *bench.Options)) *Run {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N = "raft-election", 3
	o.Workload = workload.Workload{Load: workload.Campaign}
	o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 12*time.Second
	o.Latency = chance.Constant(5 * time.Millisecond)
	change(&o)
	spec, err := election.Find(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The summary reports a leader that changes periodically while a link is cut, with the option that prevents
// it, but not changes when faults begin and end. It reports nodes that follow nobody for long though others
// have a leader, also for a valid run. A cut that spares the leader hits nothing, and the warning says what
// to do.
func TestWhatLeadersDoIsSaid(t *testing.T) {
	for _, test := range []struct {
		name, fault, preVote  string
		seed                  uint64
		restless, unled, miss string // empty: nothing
	}{
		{"one link of three", "cut: 0/2, at: 1s, for: 8s", "", 2, "--pre-vote on mends that: ", "", ""},
		{"mended", "cut: 0/2, at: 1s, for: 8s", "on", 1, "",
			"1 node followed nobody for up to 7.78s while others had a leader (node 0)", ""},
		{"a short cut", "cut: 0/2, at: 1s, for: 1s", "on", 1, "", "", ""},
		{"a leader crashes", "kill: leader, at: 1s, for: 4s", "", 2, "", "", ""},
		{"cuts that are over before a leader may be elected", "cut: 0/1-2, at: 1s, for: 300ms, every: 600ms", "",
			2, "", "", ""},
		{"a cut that spares the leader", "cut: 0/2, at: 1s, for: 5s", "", 5, "", "",
			"the cut touched no link of the leader, node 1: cut a link of the leader, or take another --seed"},
	} {
		r := raftRun(t, func(o *bench.Options) {
			o.Seed, o.Config = test.seed, o.Config.With("pre-vote", test.preVote)
			o.Faults = []chaos.Fault{benchtest.Faulty(t, test.fault)}
		})
		s, v, row := r.Summary(), r.Trials[0].Verdict, r.Trials[0].Row
		if says := s.Restless(); (says == "") != (test.restless == "") || !strings.Contains(says, test.restless) {
			t.Errorf("%s: it says %q, not %q", test.name, says, test.restless)
		}
		if rate, known := row.LeaderChangesPerS.Value(); (rate > 1) != (test.restless != "") {
			t.Errorf("%s: the leader changes %v times a second (%v)", test.name, rate, known)
		}
		if got := s.Unled(); test.preVote == "on" && (got != test.unled || v.Outcome != check.Valid) {
			t.Errorf("%s: %v: %q", test.name, v.Outcome, got)
		}
		if missed := strings.Join(v.Misses, ""); (missed == "") != (test.miss == "") ||
			!strings.HasSuffix(missed, test.miss) {
			t.Errorf("%s: it misses %q", test.name, missed)
		}
		// Elections end when a majority follows, under any cut.
		if most, _ := row.ElectUSMax.Value(); most > 1e6 {
			t.Errorf("%s: an election takes %v us", test.name, most)
		}
	}
}

// When the leader is cut off, the majority elects another within the timeouts; all agree after the heal.
func TestElectionsDuringACutAreCounted(t *testing.T) {
	plan, _, err := chaos.FindPlan("leader-cut-off", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := raftRun(t, func(o *bench.Options) {
		o.Config.N, o.Seed, o.Duration, o.Faults = 5, 1, plan.Duration, plan.Faults
	})
	row, fault := r.Trials[0].Row, r.Trials[0].Faults[0]
	elect, _ := row.ElectUSP99.Value()
	agreed, _ := row.AllAgreedUSP99.Value()
	during, _ := fault.Elections[measure.During].Value()
	if elect > 400e3 || agreed < 2e6 || during != 1 {
		t.Errorf("p99 of elections %v us, until all agreed %v us; %v elected during the cut", elect, agreed, during)
	}
}

// A run of one node advises to use more nodes. It does not advise a longer kill of the leader, since no other
// node could lead.
func TestOneNodeIsToldToTakeMore(t *testing.T) {
	for _, text := range []string{"kill: leader, at: 1s", "kill: leader, at: 1s, for: 500ms"} {
		r := raftRun(t, func(o *bench.Options) {
			o.Algorithm, o.Config.N, o.Duration, o.Faults = "bully", 1, 3*time.Second,
				[]chaos.Fault{benchtest.Faulty(t, text)}
		})
		if v := r.Trials[0].Verdict; v.Outcome != check.Inconclusive ||
			!strings.Contains(v.Reason, "take more nodes") {
			t.Errorf("%s: %v: %s", text, v.Outcome, v.Reason)
		}
	}
}
