package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A leader that changes again and again while a link is cut is told of, with the option that mends that; one
// that changes when faults begin and end is not.
func TestRestlessLeadersAreToldOf(t *testing.T) {
	for _, test := range []struct {
		name, scheme, fault, preVote string
		says                         string // empty: nothing
	}{
		{"one link of three", "raft-election", "cut: 0/2, at: 1s, for: 8s", "", "--pre-vote on mends that: "},
		{"mended", "raft-election", "cut: 0/2, at: 1s, for: 8s", "on", ""},
		{"a leader crashes", "raft-election", "kill: leader, at: 1s, for: 4s", "", ""},
		{"cuts that are over before a leader may be elected", "raft-election",
			"cut: 0/1-2, at: 1s, for: 300ms, every: 600ms", "", ""},
	} {
		spec, err := election.Find(test.scheme)
		if err != nil {
			t.Fatal(err)
		}
		fault, err := chaos.ParseFault(test.fault)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config, o.Seed = spec.Name, nodes.Config{N: 3}.With("pre-vote", test.preVote), 2
		o.Workload = workload.Workload{Load: workload.Campaign, Initiators: "0"}
		o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 10*time.Second
		o.Latency, o.Faults = chance.Constant(5*time.Millisecond), []chaos.Fault{fault}
		r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
		if err != nil {
			t.Fatal(err)
		}
		says := r.Summary().Restless()
		if test.says == "" && says != "" || !strings.Contains(says, test.says) {
			t.Errorf("%s: it says %q, not %q", test.name, says, test.says)
		}
		row := r.Trials[0].Row
		if rate, known := row.LeaderChangesPerS.Value(); (rate > 1) != (test.says != "") {
			t.Errorf("%s: the leader changes %v times a second (%v)", test.name, rate, known)
		}
		// Elections are over when a majority follows, whatever is cut.
		if most, _ := row.ElectUSMax.Value(); most > 1e6 {
			t.Errorf("%s: an election takes %v us", test.name, most)
		}
	}
}

// That nodes follow nobody for long though others have a leader is said, also of a run that is valid.
func TestNodesWithoutALeaderAreToldOf(t *testing.T) {
	for _, test := range []struct{ fault, want string }{
		{"cut: 0/2, at: 1s, for: 8s", "1 node followed nobody for up to 7.78s while others had a leader (node 0)"},
		{"cut: 0/2, at: 1s, for: 1s", ""},
		{"kill: leader, at: 1s, for: 8s", ""},
	} {
		spec, err := election.Find("raft-election")
		if err != nil {
			t.Fatal(err)
		}
		fault, err := chaos.ParseFault(test.fault)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config, o.Seed = spec.Name, nodes.Config{N: 3}.With("pre-vote", "on"), 1
		o.Workload = workload.Workload{Load: workload.Campaign}
		o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 12*time.Second
		o.Latency, o.Faults = chance.Constant(5*time.Millisecond), []chaos.Fault{fault}
		r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Summary().Unled(); got != test.want || r.Outcome() != check.Valid {
			t.Errorf("%s: %v: %q", test.fault, r.Outcome(), got)
		}
	}
}

// With its leader cut off, the majority has another within its timeouts; all agree once the cut is healed.
func TestElectionsDuringACutAreCounted(t *testing.T) {
	spec, err := election.Find("raft-election")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := chaos.FindPlan("leader-cut-off", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Algorithm, o.Config, o.Seed, o.Faults = spec.Name, nodes.Config{N: 5}, 1, plan.Faults
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
	o.Warmup, o.WarmupLimit, o.Duration, o.Latency = 0, 0, plan.Duration, chance.Constant(time.Millisecond)
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	row, fault := r.Trials[0].Row, r.Trials[0].Faults[0]
	elect, _ := row.ElectUSP99.Value()
	agreed, _ := row.AllAgreedUSP99.Value()
	during, _ := fault.Elections[measure.During].Value()
	if elect > 400e3 || agreed < 2e6 || during != 1 {
		t.Errorf("p99 of elections %v us, until all agreed %v us; %v elected during the cut", elect, agreed, during)
	}
}
