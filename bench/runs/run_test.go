//go:build linux

package runs

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
)

func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], []string{bareArgument}) {
		if err := runBareNode(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	benchtest.Main(m)
}

// setup returns how tests make runs: all processes are this program again.
func setup(t testing.TB) Setup {
	t.Helper()
	p := benchtest.ThisProgram(t)
	return Setup{Results: t.TempDir(), Set: "set",
		Setup: site.Setup{Node: p.Node, Broker: p.Broker, Proxy: p.Proxy, Agent: p.Agent,
			Resource: p.Resource}}
}

// Every run ends, even if its nodes misbehave, and says what they did.
func TestEveryRunEnds(t *testing.T) {
	const heartbeat, probe = "heartbeat:period=5ms,timeout=100ms", "probe:period=5ms,timeout=100ms"
	for _, test := range []struct {
		algorithm string
		load      workload.Load
		outcome   check.Outcome
		says      string
		detectors []string // heartbeats are no progress, and no livelock either
	}{
		{"silent", workload.Saturated, check.Violated, "no progress: nothing moves, with 2 requests unserved",
			[]string{"", heartbeat}},
		{"silent", workload.One, check.Valid, "all of", []string{probe}},
		{"pestering", workload.Saturated, check.Violated,
			"messages were handled since anybody entered, with 2", []string{""}},
		{"impatient", workload.Saturated, check.Violated, "since anybody entered, with 3 requests unserved",
			[]string{"", probe}},
		{"skipping ring", workload.Saturated, check.Violated,
			"since anybody entered, with 1 request unserved", []string{"", heartbeat}},
		{"chattering", workload.One, check.Inconclusive,
			"messages go on without end, though no request is open", []string{"", heartbeat}},
	} {
		for _, detector := range test.detectors {
			t.Run(test.algorithm+" "+detector, func(t *testing.T) {
				t.Parallel()
				o := option.Defaults()
				o.Algorithm, o.Config.N, o.Workload.Load = test.algorithm, 3, test.load
				o.Detector = detector
				o.Workload.Hold = chance.Constant(20 * time.Millisecond)
				o.Warmup, o.WarmupLimit = 0, 0
				o.Duration, o.Patience = 300*time.Millisecond, impatience
				r, err := makeRun(t, o)
				got, text := r.Trials[0], ""
				for _, f := range got.Verdict.Findings {
					text += fmt.Sprintln(f.Outcome, f.Check, f.Says)
				}
				text += fmt.Sprintln(got.Verdict.Reason, err)
				if got.Verdict.Outcome != test.outcome || !strings.Contains(text, test.says) {
					got.errorf(t, "%v, want %v and %q:\n%s", got.Verdict.Outcome, test.outcome, test.says, text)
				}
			})
		}
	}
}

// Under a sequential load, the next request does not wait until a leader stops sending heartbeats. This is so
// in a simulation, too.
func TestSequentialLoadBesideALeaderWithHeartbeats(t *testing.T) {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Config.Elect, o.Seed = "central-failover", 3, "bully-majority", 1
	o.Latency, o.Workload.Load = chance.Constant(60*time.Millisecond), workload.Sequential
	o.Duration, o.Warmup, o.WarmupLimit, o.Entries, o.Patience = 0, 0, 0, 4, 300*time.Millisecond
	made, err := makeRun(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := made.Trials[0].Verdict; v.Outcome != check.Valid {
		made.Trials[0].errorf(t, "%v: %s", v.Outcome, v.Reason)
	}
}

const impatience = benchtest.Impatience

// makeRun makes a run of real processes.
func makeRun(t *testing.T, o bench.Options) (*Run, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	spec, err := benchtest.Algorithm(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(ctx, resolved(t, spec, o), setup(t))
	if r == nil || len(r.Trials) == 0 {
		t.Fatalf("there is no trial: %v", err)
	}
	return r, err
}

// errorf fails a test, or skips it if the trial shows nothing because the machine was busy.
func (t *TrialResult) errorf(of *testing.T, format string, args ...any) {
	of.Helper()
	benchtest.Errorf(of, &t.Verdict, &t.Row.Figures, format, args...)
}

// A run ends although its only request is never served and a fault of its plan still waits for an entry: once
// the time for requests is over, no entry comes.
func TestARunEndsThoughAFaultIsStillArmed(t *testing.T) {
	t.Parallel()
	o := option.Defaults()
	o.Algorithm, o.Config = "ricart-agrawala", nodes.Config{N: 3}
	o.Workload = workload.Workload{Load: workload.Sequential, Hold: chance.Constant(100 * time.Microsecond)}
	o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 600*time.Millisecond
	for _, text := range []string{"cut: 0/1/2, at: 100ms, for: 400ms", "pause: holder, at: 300ms, for: 10ms"} {
		fault, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, fault)
	}
	r, err := makeRun(t, o)
	if v := r.Trials[0].Verdict; v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, "no progress") {
		r.Trials[0].errorf(t, "%v: %s; %v", v.Outcome, v.Reason, err)
	}
}
