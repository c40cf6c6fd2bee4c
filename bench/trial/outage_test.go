//go:build linux

package trial

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A brokerKiller kills the broker of a running trial, and starts another in its place.
type brokerKiller struct {
	*testing.T
	*Trial
	planned bool                        // the trial is told before each kill
	expects bool                        // the trial survives planned kills of the broker
	soon    bool                        // a restarted broker is killed while nodes connect to it
	when    func(*Trial, Progress) bool // reports whether to kill the broker for the first time
	times   int                         // how many more times the broker is killed
	back    time.Duration               // time from a kill to the restart; 0: no restart
	awayAt  time.Time
}

// look is called while the trial runs.
func (k *brokerKiller) look(p Progress) {
	switch {
	case k.awayAt.IsZero() && k.times > 0 && k.when(k.Trial, p):
		if k.planned {
			if err := (brokers{k.connections}).Kill(0); err != nil {
				k.Error(err)
			}
		} else {
			k.Site.Broker(0).Signal(syscall.SIGKILL)
			<-k.Site.Broker(0).Ended()
		}
		k.times--
		k.awayAt = time.Now()
		if k.Workload.Load == workload.Sequential { // look is not called again until the request is served
			time.Sleep(k.back)
			k.bringBack()
		}
	case k.back > 0 && !k.awayAt.IsZero() && time.Since(k.awayAt) >= k.back:
		k.bringBack()
	}
}

func (k *brokerKiller) bringBack() {
	if err := (brokers{k.connections}).Start(0, false); err != nil {
		k.Error(err)
	}
	k.awayAt = time.Time{}
	k.when = func(*Trial, Progress) bool { return k.soon || !k.connections.outage.away } // or after the outage
}

// killBrokers makes a run whose broker is killed as k says.
func killBrokers(t *testing.T, algorithm string, change func(*bench.Options), k brokerKiller) (
	*judged, error) {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Workload.Load = algorithm, 4, workload.Saturated
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 400*time.Millisecond, impatience
	if change != nil {
		change(&o)
	}
	run := takeApart(t, o)
	k.T, k.Trial = t, run.Trial
	k.reconnects, k.Progress = k.expects, k.look
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return run.make(ctx, t)
}

// measuringFor reports whether a trial has been measured for a share of its time.
func measuringFor(done float64) func(*Trial, Progress) bool {
	return func(_ *Trial, p Progress) bool { return p.Phase == "measuring" && p.Done >= done }
}

// A broker that ends and comes back costs messages, and all losses are explained. The algorithm may fail, but
// no failure outside its model counts against it.
func TestBrokersComeBack(t *testing.T) {
	for _, test := range []struct {
		name, algorithm string
		change          func(*bench.Options)
		killer          brokerKiller
	}{
		{"multicast", "lamport", func(o *bench.Options) { o.Multicast = true },
			brokerKiller{when: measuringFor(0.2), times: 1}},
		{"beside heartbeats", "ricart-agrawala", func(o *bench.Options) {
			o.Detector, o.Latency = "heartbeat:period=5ms,timeout=50ms", chance.Constant(20*time.Millisecond)
		}, brokerKiller{when: measuringFor(0.2), times: 1}},
		{"a ring beside probes", "token-ring", func(o *bench.Options) {
			o.Detector = "probe:period=5ms,timeout=50ms"
		}, brokerKiller{when: measuringFor(0.2), times: 1}},
		{"three times", "token-ring", nil, brokerKiller{when: measuringFor(0.1), times: 3}},
		{"again and again", "ricart-agrawala", nil,
			brokerKiller{when: measuringFor(0.1), times: 3, soon: true}},
		{"parked", "token-ring", nil,
			brokerKiller{when: func(t *Trial, p Progress) bool { return p.Phase == "draining" && !t.sums().open() },
				times: 1}},
		{"one at a time", "ricart-agrawala", func(o *bench.Options) { o.Workload.Load = workload.Sequential },
			brokerKiller{when: measuringFor(0.2), times: 1}},
		{"draining", "ricart-agrawala", nil,
			brokerKiller{when: func(_ *Trial, p Progress) bool { return p.Phase == "draining" }, times: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.killer.planned, test.killer.expects, test.killer.back = true, true, 100*time.Millisecond
			got, trouble := killBrokers(t, test.algorithm, test.change, test.killer)
			v := got.Verdict
			if v.Outcome == check.Violated || v.Outcome == check.Inconclusive && !v.OutsideModel {
				got.errorf(t, "%v, outside its model: %v: %s (%v)", v.Outcome, v.OutsideModel, v.Reason, trouble)
			}
			for _, f := range v.Findings {
				if (f.Check == "loss" || f.Check == "accounting") && f.Outcome != check.Valid {
					t.Errorf("%s is %v: %s", f.Check, f.Outcome, f.Says)
				}
			}
			t.Logf("%v: %s; %d lost with the broker", v.Outcome, v.Reason, v.LostWithBroker)
		})
	}
}

// A broker that ends unexpectedly ends the run, whether or not nodes would survive that.
func TestABrokerThatDiesEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, expects := range []bool{false, true} {
		got, trouble := killBrokers(t, "ricart-agrawala", nil,
			brokerKiller{when: measuringFor(0.2), times: 1, expects: expects})
		if trouble == nil || !strings.HasPrefix(trouble.Error(), "the broker ended on its own") ||
			got.Verdict.Outcome != check.Inconclusive {
			t.Errorf("%v: %v", got.Verdict.Outcome, trouble)
		}
	}
}
