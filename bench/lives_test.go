//go:build linux

package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A fate says what is done to the nodes of a trial while it goes on.
type fate struct {
	algorithm string
	change    func(*Options)
	// do is called some ten times a second, with the number of the call from 0 while the run is measured or
	// drained.
	do func(t *trial, call int, phase string) error
}

func (f *fate) options() Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Workload.Load = f.algorithm, 4, workload.Saturated
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 300*time.Millisecond, impatience
	if f.change != nil {
		f.change(&o)
	}
	return o
}

// suffer makes a run whose nodes have a fate, and returns it with its history.
func suffer(t *testing.T, f fate) (*Trial, *history.History) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := takeApart(t, f.options())
	trial := run.trial
	calls := 0
	trial.progress = func(p Progress) {
		if f.do == nil || p.Phase != "measuring" && p.Phase != "draining" {
			return
		}
		if err := f.do(trial, calls, p.Phase); err != nil {
			t.Error(err)
			cancel()
		}
		calls++
	}
	got, trouble := run.make(ctx, t)
	for _, p := range trial.nodes.all {
		select {
		case <-p.Ended():
		default:
			t.Errorf("%s is left behind", p.Name())
		}
	}
	h, err := history.Load(run.Folder.HistoryFile(1))
	if err != nil {
		t.Fatal(err)
	}
	if trouble != nil && !strings.Contains(trouble.Error(), "stalled") {
		t.Errorf("the run ended early: %v", trouble)
	}
	return got, h
}

// explained fails the test if something is held against a run that deaths explain.
func explained(t *testing.T, got *Trial, h *history.History) {
	t.Helper()
	v := got.Verdict
	if v.Outcome == check.Violated && !v.OutsideModel {
		t.Errorf("violated: %s", v.Reason)
	}
	inDoubt := slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Crashed && e.Count > 0
	})
	for _, f := range v.Findings {
		switch f.Check {
		case "loss", "accounting", "witnesses", "register":
			mayDoubt := f.Check == "register" && f.Outcome == check.Inconclusive && inDoubt
			if f.Outcome != check.Valid && !f.OutsideModel && !mayDoubt {
				t.Errorf("%s is %v: %s %q", f.Check, f.Outcome, f.Says, f.Witness)
			}
		}
	}
	t.Logf("%v: %s; %d entries, %s, %d lost to deaths", v.Outcome, v.Reason, v.Entries, happened(h),
		v.LostToDeaths)
}

// happened counts the deaths and restarts of a history.
func happened(h *history.History) string {
	count := map[history.Kind]int{}
	for _, e := range h.Events {
		count[e.Kind]++
	}
	return fmt.Sprintf("%d killed, %d crashed, %d restarted", count[history.Killed], count[history.Crashed],
		count[history.Restarted])
}

// once kills a node at the first call and restarts it at the second.
func once(id nodes.ID, forget bool) func(*trial, int, string) error {
	return func(t *trial, call int, _ string) error {
		switch call {
		case 0:
			return t.nodes.kill(id)
		case 1:
			return t.restart(id, forget)
		}
		return nil
	}
}

// counting is the load of one node that goes on until it has entered so often, however late it is killed.
func counting(o *Options) {
	o.Config.N, o.Entries, o.Duration = 1, 60, 0
	o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(10*time.Millisecond)
}

// onceEntered kills node 0 when it has entered, and restarts it: at once, since otherwise nobody would be
// left to make requests, and the run would be over.
func onceEntered(forget bool) func(*trial, int, string) error {
	return func(t *trial, _ int, _ string) error {
		if t.nodes.lives[0].incarnation > 0 || t.sums().entries == 0 {
			return nil
		}
		if err := t.nodes.kill(0); err != nil {
			return err
		}
		return t.restart(0, forget)
	}
}

// fates are those of nodes that are killed and, as a rule, restarted.
func fates() map[string]fate {
	slow := func(o *Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(80*time.Millisecond)
	}
	holding := func(hold time.Duration) func(o *Options) {
		return func(o *Options) { o.Workload.Hold = chance.Constant(hold) }
	}
	return map[string]fate{
		"idle":       {"central", slow, once(2, false)},
		"inside":     {"ricart-agrawala", holding(150 * time.Millisecond), once(0, false)},
		"waiting":    {"ricart-agrawala", holding(150 * time.Millisecond), once(3, false)},
		"for good":   {"central", slow, func(t *trial, call int, _ string) error { return t.killAt(call, 0, 1) }},
		"the server": {"central", nil, once(4, false)},
		"alone": {"central-inside", func(o *Options) {
			slow(o)
			o.Config.N, o.Workload.Think = 1, chance.Constant(time.Millisecond)
		}, once(0, false)},
		"open": {"lamport", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 100 },
			once(1, false)},
		"multicast": {"suzuki-kasami", func(o *Options) {
			o.Multicast, o.Workload.Hold = true, chance.Constant(100*time.Microsecond)
		}, once(1, false)},
		"ring": {"token-ring", nil, once(1, false)},
		"late": {"central", holding(50 * time.Millisecond), func(t *trial, call int, phase string) error {
			switch {
			case phase == "draining" && t.nodes.isUp(1) && t.nodes.lives[1].incarnation == 0:
				return t.nodes.kill(1)
			case phase == "draining" && !t.nodes.isUp(1):
				return t.restart(1, false)
			}
			return nil
		}},
		"one at a time": {"central", func(o *Options) { o.Workload.Load = workload.Sequential }, once(1, false)},
		"by entries": {"central", func(o *Options) { slow(o); o.Entries, o.Duration = 20, 0 },
			once(1, false)},
		"all for good": {"central", func(o *Options) { slow(o); o.Entries, o.Duration = 400, 0 },
			func(t *trial, call int, _ string) error {
				return errors.Join(t.killAt(call, 0, 0), t.killAt(call, 0, 1), t.killAt(call, 0, 2),
					t.killAt(call, 0, 3))
			}},
		"stopped": {"central", slow, func(t *trial, call int, _ string) error {
			if call == 0 {
				t.nodes.lives[2].node.Signal(syscall.SIGSTOP)
				time.Sleep(50 * time.Millisecond)
			}
			return once(2, true)(t, call, "")
		}},
		"keeping":    {"keeping", counting, onceEntered(false)},
		"forgetting": {"keeping", counting, onceEntered(true)},
	}
}

// Nodes are killed and restarted, and everything stays true: what comes of the algorithm is its own affair,
// but nothing is held against it that its model excuses.
func TestNodesDieAndComeBack(t *testing.T) {
	for name, f := range fates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, h := suffer(t, f)
			explained(t, got, h)
			if strings.HasPrefix(happened(h), "0 killed") {
				t.Error("nobody was killed")
			}
			if name == "keeping" || name == "forgetting" {
				risingFences(t, h, name == "keeping")
			}
			sound(t, h)
		})
	}
}

// restart is what a fault does to a node that is down.
func (t *trial) restart(id nodes.ID, forget bool) error {
	return faultCluster{t.connections, nil, t.faults}.Restart(id, forget)
}

// killAt kills a node at a call.
func (t *trial) killAt(call, at int, id nodes.ID) error {
	if call != at {
		return nil
	}
	return t.nodes.kill(id)
}

// sound checks that no node does anything while it is down, and that its requests are numbered through.
func sound(t *testing.T, h *history.History) {
	t.Helper()
	down, last := map[nodes.ID]bool{}, map[nodes.ID]uint32{}
	for _, e := range h.Events {
		switch e.Kind {
		case history.Crashed:
			down[e.Node] = true
		case history.Restarted:
			down[e.Node] = false
		case history.Requested:
			if e.Entry <= last[e.Node] || e.Entry > last[e.Node]+2 { // a number may be lost with its process
				t.Errorf("node %d makes its request %d after %d", e.Node, e.Entry, last[e.Node])
			}
			last[e.Node] = e.Entry
			fallthrough
		default:
			if e.Node >= 0 && down[e.Node] {
				t.Errorf("node %d does something though it is down: %v", e.Node, e.Kind)
			}
		}
	}
}

// families are an algorithm that asks all, one that passes a token, and one with a coordinator.
var families = []string{"ricart-agrawala", "token-ring", "central"}

// Again and again a node that is drawn is killed and restarted, at a moment that nobody chooses.
func TestNodesDieAgainAndAgain(t *testing.T) {
	const again = 120 * time.Millisecond // and a little more
	most := soak.Pick(5, 20, 100)
	for _, algorithm := range soak.Pick(families[:1], families, families) {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			deaths := 0
			got, h := suffer(t, fate{algorithm, func(o *Options) { o.Duration = time.Duration(most) * again },
				func(t *trial, _ int, phase string) error {
					if phase != "measuring" || deaths == most {
						return nil
					}
					deaths++
					id := nodes.ID(rand.IntN(t.Config.N))
					time.Sleep(time.Duration(rand.IntN(int(2 * time.Millisecond))))
					if err := t.nodes.kill(id); err != nil {
						return err
					}
					time.Sleep(time.Duration(rand.IntN(int(5 * time.Millisecond))))
					return t.restart(id, rand.IntN(2) == 0)
				}})
			explained(t, got, h)
			sound(t, h)
		})
	}
}

// A node that dies while it changes the register leaves it unknown, and the run says so if that shows.
func TestADeathAtTheRegister(t *testing.T) {
	t.Parallel()
	got, h := suffer(t, fate{"central", func(o *Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(20*time.Millisecond)
		o.Workload.Hold = chance.Constant(time.Microsecond)
	}, func(t *trial, call int, _ string) error {
		if call != 0 {
			return nil
		}
		// The others would see the register before node 1 is killed, and stall if it were killed while it
		// waits.
		idle := false
		for !idle {
			if err := t.signalAll(syscall.SIGSTOP); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
			c := &t.watch.of[1].Instances[0]
			if idle = c.Exits.Load() == c.Requests.Load(); !idle {
				if err := t.signalAll(syscall.SIGCONT); err != nil {
					return err
				}
				time.Sleep(time.Millisecond)
			}
		}
		shared := t.nodes.resource.(sharedFile).of
		shared.Of(0).Taken.Add(1)
		shared.Share(0, 1).Entering(1)
		return errors.Join(t.nodes.kill(1), t.signalAll(syscall.SIGCONT))
	}})
	if !strings.HasPrefix(happened(h), "1 killed") {
		t.Error("nobody was killed")
	}
	for _, f := range got.Verdict.Findings {
		if f.Check == "register" && f.Outcome != check.Inconclusive {
			t.Errorf("%v: %s", f.Outcome, f.Says)
		}
		if f.Outcome == check.Violated {
			t.Errorf("violated: %s", f.Says)
		}
	}
}

// signalAll sends a signal to the nodes that are up.
func (t *trial) signalAll(s syscall.Signal) (err error) {
	for _, id := range t.nodes.up() {
		err = errors.Join(err, t.nodes.lives[id].node.Signal(s))
	}
	return err
}

// A kill that is impossible returns an error that says why.
func TestKillsThatCannotBe(t *testing.T) {
	t.Parallel()
	suffer(t, fate{"central", nil, func(trial *trial, call int, _ string) error {
		if call != 0 {
			return nil
		}
		if err := trial.restart(1, false); err == nil || !strings.Contains(err.Error(), "it is up") {
			t.Errorf("a node that is up is restarted: %v", err)
		}
		if err := trial.nodes.kill(1); err != nil {
			return err
		}
		if err := trial.nodes.kill(1); err == nil || !strings.Contains(err.Error(), "it is down already") {
			t.Errorf("a node that is down is killed: %v", err)
		}
		return nil
	}})
}
