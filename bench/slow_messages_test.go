package bench

import (
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A latency of messages that is longer than the timeouts of an elector allow for excuses it, and a shorter
// one is no matter.
func TestSlowMessagesOfElectors(t *testing.T) {
	for _, row := range election.Table {
		if row.Broken != "" {
			continue
		}
		o := Options{Algorithm: row.Name, Config: row.Explicit(nodes.Config{N: 5}), Duration: 20 * time.Second,
			Trials: 1, Seed: 1, Patience: time.Second, Workload: workload.Workload{Load: workload.Campaign}}
		bears := time.Second
		if row.Leads.Bears != nil {
			bears = row.Leads.Bears(o.Config)
		}
		for _, latency := range []time.Duration{bears * 9 / 10, bears, 2 * bears, 4 * bears, 10 * bears} {
			o.Latency = chance.Constant(latency)
			tried, err := Try(t.Context(), row, o)
			if err != nil {
				t.Fatal(err)
			}
			v := tried.Verdict
			short := latency < bears && row.Leads.Bears != nil
			if v.Outcome == check.Violated && !v.OutsideModel || short && v.Outcome != check.Valid {
				t.Errorf("%s, messages that take %v: %v: %s", row.Name, latency, v.Outcome, v.Reason)
			}
		}
	}
}
