package bench

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A latency of messages that is longer than the timeouts of an elector bear excuses it, if these were asked
// for; a shorter one is no matter.
func TestSlowMessagesOfElectors(t *testing.T) {
	for _, row := range election.Table {
		if row.Flaw != nil {
			continue
		}
		o := Options{Algorithm: row.Name, Config: row.Explicit(nodes.Config{N: 5}), Duration: 20 * time.Second,
			Trials: 1, Seed: 1, Patience: time.Second, Workload: workload.Workload{Load: workload.Campaign}}
		const ms = time.Millisecond
		bears := map[string]time.Duration{"answer": 50 * ms, "election-timeout": 15 * ms, "silence": 200 * ms,
			"wait": 50 * ms}
		shortest := time.Duration(0) // no timeout bears more
		for name := range o.Config.Options {
			if b := bears[name]; b > 0 && (shortest == 0 || b < shortest) {
				shortest = b
			}
		}
		timed := shortest > 0
		if !timed {
			shortest = time.Second
		}
		for _, latency := range []time.Duration{shortest * 9 / 10, shortest, 2 * shortest, 4 * shortest,
			10 * shortest} {
			o.Latency = chance.Constant(latency)
			tried, err := tryRun(t, row, o)
			if err != nil {
				t.Fatal(err)
			}
			v, short := tried.Verdict, timed && latency >= shortest
			if got := len(drafted(t, row, o, true).TooShort()) > 0; got != short {
				t.Errorf("%s, messages that take %v: its timeouts are too short: %v, want %v", row.Name, latency,
					got, short)
			}
			if v.Outcome == check.Violated && !v.OutsideModel || !short && timed && v.Outcome != check.Valid {
				t.Errorf("%s, messages that take %v: %v: %s", row.Name, latency, v.Outcome, v.Reason)
			}
		}
	}
}
