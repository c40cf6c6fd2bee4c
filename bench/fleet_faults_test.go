//go:build linux

package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/check"
)

// Each fault that a run on one machine can have does the same to one over hosts: one plan and one seed give
// one verdict and, where nothing is lost, as many messages per entry.
func TestFaultsOverHosts(t *testing.T) {
	never := []struct { // that lose nothing
		fault, messages string
	}{
		{"delay: 2ms, at: 20ms, for: 80ms", "6"},
		{"reorder: uniform:0s,2ms, at: 20ms, for: 80ms", "6"},
		{"bandwidth: 100KB, at: 20ms, for: 80ms", "6"},
		{"pause: 1, at: 20ms, for: 80ms", "6"},
		{"slow: 1, share: 50%, at: 20ms, for: 80ms", "6"},
		{"clock: 2, by: 3s, at: 20ms", "6"},
		{"lag: 2, by: 5ms, at: 20ms, for: 80ms", "6"},
		{"throttle: 2, to: 100KB, at: 20ms, for: 80ms", "6"},
		{"stall: 2, at: 20ms, for: 80ms", "6"},
		{"pause-broker: 1, at: 20ms, for: 80ms", "6"},
	}
	loses := []string{"cut: 0-1/2-3, at: 20ms, for: 60ms", "loss: 50%, at: 20ms, for: 60ms",
		"duplicate: 50%, at: 20ms, for: 60ms", "kill: 1, at: 20ms, for: 60ms", "reset: 2, at: 20ms, for: 60ms",
		"kill-broker: 1, at: 20ms, for: 60ms", "cut-routes: 0/1-2, at: 20ms, for: 60ms"}
	short := []string{"stall", "cut"}
	told := map[string]bool{}
	one := func(fault, algorithm, messages string) {
		key, _, _ := strings.Cut(fault, ":")
		told[key] = true
		if !slices.Contains(short, key) && soak.Pick(true, false, false) {
			return
		}
		t.Run(key, func(t *testing.T) {
			var outcomes []check.Outcome
			for _, hosts := range []int{0, 3} {
				o := suffering(t, algorithm, 3, fault)
				o.Hosts, o.Duration = hosts, 250*time.Millisecond
				r := complete(t, o)
				if len(r.Trials) != 1 {
					t.Fatal("there is no trial")
				}
				tr := r.Trials[0]
				outcomes = append(outcomes, tr.Verdict.Outcome)
				if got := tr.Row.MessagesPerEntry.String(); messages != "" && got != messages {
					t.Errorf("on %d hosts an entry takes %s messages, not %s", hosts, got, messages)
				}
				if missed, _ := tr.Row.FaultsMissed.Value(); missed > 0 {
					t.Errorf("on %d hosts the fault did not take place", hosts)
				}
				if tr.Verdict.Outcome == check.Violated {
					t.Errorf("on %d hosts: %s", hosts, tr.Verdict.Reason)
				}
			}
			if messages != "" && (outcomes[0] != check.Valid || outcomes[1] != check.Valid) {
				t.Errorf("the verdicts are %v", outcomes)
			}
		})
	}
	for _, test := range never {
		one(test.fault, "ricart-agrawala", test.messages)
	}
	for _, fault := range loses {
		one(fault, "ricart-agrawala", "")
	}
	for _, k := range effect.Kinds {
		if !told[k.Key] && k.Key != "cut-network" && k.Layer != effect.OfServers { // services run on one machine
			t.Errorf("%s is not tried over hosts", k.Key)
		}
	}
}
