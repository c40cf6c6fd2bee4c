//go:build linux

package bench

import (
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
)

// The two networks of bully-second-network have nothing in common: while the broker of either is dead, the
// other carries what it is for. So nobody leads beside the leader, and what is lost goes on the account of
// the dead.
func TestEachNetworkHasABrokerOfItsOwn(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []string
		lost   bool // with the broker, for sure
	}{
		{"the first is dead", []string{"kill-broker: 0, at: 100ms, for: 700ms"}, true},
		{"the second is dead, and the leader", []string{
			"kill-broker: 0, network: second, at: 50ms, for: 900ms", "kill: 2, at: 100ms, for: 900ms"}, false},
		{"the second is reset, and stands still", []string{
			"reset: 1, network: second, at: 50ms, for: 100ms",
			"pause-broker: 0, network: second, at: 300ms, for: 50ms"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := suffering(t, "bully-second-network", 1, test.faults...)
			o.Config.N, o.Workload.Load, o.Workload.Hold = 3, workload.Campaign, option.Defaults().Workload.Hold
			o.Warmup, o.Duration = 0, 1500*time.Millisecond
			v := complete(t, o).Trials[0].Verdict
			for _, f := range v.Findings {
				doubtful := f.Outcome != check.Valid && (f.Check == "loss" || f.Check == "accounting")
				two := f.Check == "leaders" && test.lost && f.Says != "never were there two leaders at once"
				if f.Outcome == check.Violated || doubtful || two || strings.Contains(f.Says, "not healed") {
					t.Errorf("%s is %v: %s %q", f.Check, f.Outcome, f.Says, f.Witness)
				}
			}
			if test.lost && v.LostWithBroker == 0 {
				t.Error("nothing was lost with the broker")
			}
		})
	}
}
