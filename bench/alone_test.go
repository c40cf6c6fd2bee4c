package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A run of one node advises to take more nodes. It does not advise to keep the leader down for longer, since
// nobody else could lead.
func TestOneNodeIsToldToTakeMore(t *testing.T) {
	spec, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"kill: leader, at: 1s", "kill: leader, at: 1s, for: 500ms"} {
		fault, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config, o.Faults = spec.Name, nodes.Config{N: 1}, []chaos.Fault{fault}
		o.Workload, o.Warmup, o.WarmupLimit = workload.Workload{Load: workload.Campaign}, 0, 0
		o.Duration = 3 * time.Second
		tried, err := tryRun(t, spec, o)
		if err != nil {
			t.Fatal(err)
		}
		if v := tried.Verdict; v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, "take more nodes") {
			t.Errorf("%s: %v: %s", text, v.Outcome, v.Reason)
		}
	}
}

// A cut that cuts no link of the leader hits no message. The verdict says so, and what to do.
func TestACutThatSparesTheLeaderSaysSo(t *testing.T) {
	spec, err := election.Find("raft-election")
	if err != nil {
		t.Fatal(err)
	}
	fault, err := chaos.ParseFault("cut: 0/2, at: 1s, for: 5s")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Algorithm, o.Config, o.Faults, o.Seed = spec.Name, nodes.Config{N: 3}, []chaos.Fault{fault}, 5
	o.Workload, o.Warmup, o.WarmupLimit = workload.Workload{Load: workload.Campaign}, 0, 0
	o.Latency, o.Duration = chance.Constant(5*time.Millisecond), 8*time.Second
	tried, err := tryRun(t, spec, o)
	if err != nil {
		t.Fatal(err)
	}
	const want = "node 1 led, of which it cuts no link: cut one of these, or take another --seed"
	if v := tried.Verdict; len(v.Misses) != 1 || !strings.HasSuffix(v.Misses[0], want) {
		t.Errorf("%v: %s, %q", v.Outcome, v.Reason, v.Misses)
	}
}
