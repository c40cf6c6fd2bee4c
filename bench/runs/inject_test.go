//go:build linux

package runs

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/bench/trial"
	"turnstile/chaos"
	"turnstile/hosts/control"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// Several processes may inject faults into a run and heal them at the same time, from the beginning of the
// measurement until the run takes no more faults.
func TestManyAskARun(t *testing.T) {
	t.Parallel()
	spec, err := mutex.Find("ricart")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config, o.Workload = nodes.Config{N: 3}, workload.Workload{Load: workload.Closed,
		Think: chance.Constant(2 * time.Millisecond)}
	o.Warmup, o.Duration, o.WarmupLimit = 50*time.Millisecond, 500*time.Millisecond, 0
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	setup := setup(t)
	asked := make(chan int)
	asking := 0
	setup.Progress = func(p Progress) {
		for ; p.Phase == "measuring" && asking < 3; asking++ {
			go func() { asked <- askForFaults(t, setup.Results+"/latest") }()
		}
	}
	r, err := Make(ctx, resolved(t, spec, o), setup)
	if err != nil {
		t.Fatal(err)
	}
	injected := 0
	for range asking {
		injected += <-asked
	}
	if got := len(r.Record.Trials[0].Faults); injected == 0 || got != injected {
		t.Errorf("%d faults were injected, and %d are on record", injected, got)
	}
	if _, err := r.Record.job(catalog.Table{}, r.Folder); err != nil {
		t.Errorf("what was injected cannot be judged again: %v", err)
	}
}

// askForFaults injects faults into a run until the run refuses more for good, and returns how many it took.
func askForFaults(t *testing.T, folder string) (injected int) {
	c, err := control.Dial(folder)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer c.Close()
	texts := []string{"clock: 0, by: 1ms", "delay: 1ms, for: 20ms", "pause: 1, for: 20ms",
		"duplicate: 10%, for: 1s", "pause: holder, for: 10ms"}
	for {
		f, err := chaos.ParseFault(texts[injected%len(texts)])
		if err != nil {
			t.Error(err)
		}
		reply, err := c.Ask(context.Background(), control.Request{Do: control.Inject, Faults: []chaos.Fault{f}})
		switch {
		case err != nil || reply.Refused != "" && !reply.Later:
			return injected
		case reply.Refused != "":
			time.Sleep(time.Millisecond)
			continue
		}
		injected++
		heal := control.Request{Do: control.Heal, Number: reply.Numbers[0]}
		if _, err := c.Ask(context.Background(), heal); err != nil {
			return injected
		}
	}
}

// An injected fault of the leader hits the node that already leads, both in a run about leaders and in a run
// with an elector beside the algorithm.
func TestInjectedFaultHitsWhoLeadsAlready(t *testing.T) {
	elect, follow := option.Defaults(), option.Defaults()
	elect.Algorithm, elect.Workload = "raft-election", workload.Workload{Load: workload.Campaign}
	follow.Algorithm, follow.Config.Elect = "central-failover", "bully"
	follow.Workload = workload.Workload{Load: workload.Closed, Think: chance.Constant(5 * time.Millisecond)}
	for _, o := range []bench.Options{elect, follow} {
		t.Run(o.Algorithm, func(t *testing.T) {
			t.Parallel()
			o.Config.N, o.Warmup, o.Duration = 3, 0, time.Hour
			spec, err := benchtest.Algorithm(o.Algorithm)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			setup, once := setup(t), new(sync.Once)
			setup.Progress = func(p Progress) {
				if p.Phase == "measuring" {
					once.Do(func() { go injectTwice(ctx, cancel, t, setup.Results+"/latest", "pause: leader, for: 20ms") })
				}
			}
			r, err := Make(ctx, resolved(t, spec, o), setup)
			if !errors.Is(err, trial.ErrInterrupted) || len(r.Record.Trials) != 1 {
				t.Fatalf("%v", err)
			}
			if f := r.Record.Trials[0].Faults; len(f) != 2 || f[0].Hit == nil || f[1].Hit == nil {
				t.Errorf("the leader was not hit: %v; %s", f, r.Trials[0].Verdict.Reason)
			}
		})
	}
}

// injectTwice injects a fault into a run once the same fault is over, so that the second one begins when the
// first has found what it hits. Then it ends the run.
func injectTwice(ctx context.Context, end func(), t *testing.T, folder, text string) {
	defer end()
	c, err := control.Dial(folder)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Error(err)
	}
	for number := 1; number <= 2; time.Sleep(time.Millisecond) {
		reply, err := c.Ask(ctx, control.Request{Do: control.Inject, Faults: []chaos.Fault{f}})
		for err == nil && len(reply.Faults) == number && reply.Faults[number-1].State != chaos.Healed {
			time.Sleep(time.Millisecond)
			reply, err = c.Ask(ctx, control.Request{Do: control.List})
		}
		if err != nil || reply.Refused != "" && !reply.Later {
			t.Errorf("the run refuses %s, or does not carry it out: %s, %v", text, reply.Refused, err)
			return
		}
		if len(reply.Faults) == number {
			number++
		}
	}
}
