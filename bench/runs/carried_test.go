//go:build linux

package runs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// suffering returns the options of a short run of an algorithm with faults, in the syntax of plans.
func suffering(t *testing.T, algorithm string, brokers int, faults ...string) bench.Options {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Workload.Load, o.Brokers = algorithm, 4, workload.Saturated, brokers
	o.Warmup, o.Duration, o.Patience = 20*time.Millisecond, 400*time.Millisecond, impatience
	for _, text := range faults {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	return o
}

// outlast has a run end by its entries, so that it goes on after its faults are healed, however late that is.
// It lasts that long at least.
func outlast(o *bench.Options, least time.Duration) {
	o.Warmup, o.Duration, o.Entries = 0, 0, uint64(least/time.Millisecond)
	o.Workload.Hold = chance.Constant(time.Millisecond)
}

// complete makes a run of real processes, which ends early only if it stalls.
func complete(t *testing.T, o bench.Options) *Run {
	t.Helper()
	r, err := makeRun(t, o)
	if err != nil && !strings.Contains(err.Error(), "stalled") {
		t.Errorf("the run ended early: %v", err)
	}
	return r
}

// A run attributes lost messages to its faults of connections, brokers and routes. No algorithm is found
// violated for failures outside its model, and all faults are healed at the end.
func TestTheTransportSuffers(t *testing.T) {
	for i, test := range []struct {
		name    string
		faults  []string
		brokers int
		never   bool // the faults lose no message, so that the run is valid
	}{
		{"lag", []string{"lag: 1, by: 20ms, at: 50ms, for: 100ms"}, 1, true},
		{"throttle", []string{"throttle: all, to: 20KB, at: 50ms, for: 100ms"}, 1, true},
		{"stall", []string{"stall: holder, at: 50ms, for: 100ms"}, 1, true},
		{"pause", []string{"pause: broker 0, at: 50ms, for: 100ms"}, 1, true},
		{"reset", []string{"reset: random, at: 50ms, for: 50ms"}, 1, false},
		{"resets", []string{"reset: minority, at: 50ms, every: 100ms, repeat: 3"}, 1, false},
		{"kill", []string{"kill: broker 0, at: 50ms, for: 50ms"}, 1, false},
		{"routes", []string{"cut: broker 0/broker 1-2, at: 50ms, for: 50ms"}, 3, false},
		{"to the end", []string{"cut: broker 0/broker 1/broker 2, at: 200ms", "stall: 2, at: 250ms"}, 3, false},
		{"one of three, and a node", []string{"kill: broker 1, at: 50ms, for: 100ms",
			"kill: 0, at: 75ms, for: 25ms", "pause: broker 2, at: 75ms, for: 50ms"}, 3, false},
	} {
		for j, algorithm := range benchtest.Families {
			if soak.Pick(i%len(benchtest.Families) != j, false, false) {
				continue
			}
			t.Run(test.name+" "+algorithm, func(t *testing.T) {
				t.Parallel()
				o := suffering(t, algorithm, test.brokers, test.faults...)
				if test.never {
					outlast(&o, 300*time.Millisecond)
				}
				r := complete(t, o)
				v := r.Trials[0].Verdict
				if v.Outcome == check.Violated || v.Outcome == check.Inconclusive && !v.OutsideModel &&
					!strings.Contains(v.Reason, "nobody entered") || test.never && v.Outcome != check.Valid {
					r.Trials[0].errorf(t, "%v, outside its model: %v: %s", v.Outcome, v.OutsideModel, v.Reason)
				}
				for _, f := range v.Findings {
					if (f.Check == "loss" || f.Check == "accounting") && f.Outcome != check.Valid &&
						!f.OutsideModel {
						t.Errorf("%s is %v: %s", f.Check, f.Outcome, f.Says)
					}
					if f.Check == "faults" && strings.Contains(f.Says+strings.Join(f.Witness, ""),
						"not healed") {
						t.Error(f.Says)
					}
				}
				if left, _ := filepath.Glob(filepath.Join(r.Folder.LogFolder(1), "*")); len(left) > 0 {
					t.Errorf("%v are left behind", left)
				}
				t.Logf("%v: %s; %d lost with the broker", v.Outcome, v.Reason, v.LostWithBroker)
			})
		}
	}
}

// If a trial stalls, its faults do not act on the brokers and proxies in the next trial.
func TestTrialsDoNotInheritFaults(t *testing.T) {
	t.Parallel()
	o := suffering(t, "ricart-agrawala", 1, "lag: 1, by: 1ms", "loss: 100%, at: 10ms")
	o.Warmup, o.WarmupLimit, o.Duration, o.Entries, o.Trials = 0, 0, 0, 4000, 2
	r := complete(t, o)
	if len(r.Trials) != 2 {
		t.Fatalf("there were %d trials", len(r.Trials))
	}
	for _, trial := range r.Trials {
		if v := trial.Verdict; !v.OutsideModel || trial.Trouble != "" {
			t.Errorf("trial %d: %v, %s, %s", trial.Number, v.Outcome, v.Reason, trial.Trouble)
		}
	}
}

// The two networks of bully-second-network are independent: while the broker of one is down, the other works.
// So no second node leads, and the losses are attributed to the dead broker.
func TestEachNetworkHasABrokerOfItsOwn(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []string
		lost   bool // messages are surely lost with the broker
	}{
		{"the first is dead", []string{"kill: broker 0, at: 100ms, for: 700ms"}, true},
		{"the second is dead, and the leader", []string{
			"kill: broker 0, network: second, at: 50ms, for: 900ms", "kill: 2, at: 100ms, for: 900ms"}, false},
		{"the second is reset, and stands still", []string{
			"reset: 1, network: second, at: 50ms, for: 100ms",
			"pause: broker 0, network: second, at: 300ms, for: 50ms"}, false},
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
