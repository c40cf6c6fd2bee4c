//go:build linux

package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/internal/chance"
	"turnstile/internal/proc"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A fate defines what happens to the nodes of a trial.
type fate struct {
	algorithm string
	change    func(*bench.Options)
	// do is called about ten times a second, with the number of the call, from 0, while the run is measured or
	// drained.
	do func(t *Trial, call int, phase string) error
}

func (f *fate) options() bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Workload.Load = f.algorithm, 4, workload.Saturated
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 300*time.Millisecond, impatience
	if f.change != nil {
		f.change(&o)
	}
	return o
}

// suffer makes a run whose nodes have a fate, and returns it with its history.
func suffer(t *testing.T, f fate) (*judged, *history.History) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := takeApart(t, f.options())
	trial := run.Trial
	calls := 0
	trial.Progress = func(p Progress) {
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
	h, err := history.Load(run.history)
	if err != nil {
		t.Fatal(err)
	}
	if trouble != nil && !strings.Contains(trouble.Error(), "stalled") {
		t.Errorf("the run ended early: %v", trouble)
	}
	return got, h
}

// explained fails the test if a run is found violated although deaths explain its failures.
func explained(t *testing.T, got *judged, h *history.History) {
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
func once(id nodes.ID, forget bool) func(*Trial, int, string) error {
	return func(t *Trial, call int, _ string) error {
		switch call {
		case 0:
			return t.nodes.kill(id)
		case 1:
			return t.restart(id, forget)
		}
		return nil
	}
}

// counting sets a load of 60 entries by one node, so that the run does not end before a late kill.
func counting(o *bench.Options) {
	o.Config.N, o.Entries, o.Duration = 1, 60, 0
	o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(10*time.Millisecond)
}

// onceEntered kills node 0 once it has entered, and restarts it at once: otherwise no node would be left to
// make requests, and the run would end.
func onceEntered(forget bool) func(*Trial, int, string) error {
	return func(t *Trial, _ int, _ string) error {
		if t.nodes.lives[0].incarnation > 0 || t.sums().entries == 0 {
			return nil
		}
		if err := t.nodes.kill(0); err != nil {
			return err
		}
		return t.restart(0, forget)
	}
}

// fates returns fates with kills and, mostly, restarts.
func fates() map[string]fate {
	slow := func(o *bench.Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(80*time.Millisecond)
	}
	holding := func(hold time.Duration) func(o *bench.Options) {
		return func(o *bench.Options) { o.Workload.Hold = chance.Constant(hold) }
	}
	return map[string]fate{
		"idle":       {"central", slow, once(2, false)},
		"inside":     {"ricart-agrawala", holding(150 * time.Millisecond), once(0, false)},
		"waiting":    {"ricart-agrawala", holding(150 * time.Millisecond), once(3, false)},
		"for good":   {"central", slow, func(t *Trial, call int, _ string) error { return t.killAt(call, 0, 1) }},
		"the server": {"central", nil, once(4, false)},
		"alone": {"central-inside", func(o *bench.Options) {
			slow(o)
			o.Config.N, o.Workload.Think = 1, chance.Constant(time.Millisecond)
		}, once(0, false)},
		"open": {"lamport", func(o *bench.Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 100 },
			once(1, false)},
		"multicast": {"suzuki-kasami", func(o *bench.Options) {
			o.Multicast, o.Workload.Hold = true, chance.Constant(100*time.Microsecond)
		}, once(1, false)},
		"ring": {"token-ring", nil, once(1, false)},
		"late": {"central", holding(50 * time.Millisecond), func(t *Trial, call int, phase string) error {
			switch {
			case phase == "draining" && t.nodes.isUp(1) && t.nodes.lives[1].incarnation == 0:
				return t.nodes.kill(1)
			case phase == "draining" && !t.nodes.isUp(1):
				return t.restart(1, false)
			}
			return nil
		}},
		"one at a time": {"central", func(o *bench.Options) { o.Workload.Load = workload.Sequential },
			once(1, false)},
		"by entries": {"central", func(o *bench.Options) { slow(o); o.Entries, o.Duration = 20, 0 },
			once(1, false)},
		"all for good": {"central", func(o *bench.Options) { slow(o); o.Entries, o.Duration = 400, 0 },
			func(t *Trial, call int, _ string) error {
				return errors.Join(t.killAt(call, 0, 0), t.killAt(call, 0, 1), t.killAt(call, 0, 2),
					t.killAt(call, 0, 3))
			}},
		"stopped": {"central", slow, func(t *Trial, call int, _ string) error {
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

// Nodes are killed and restarted, and the records stay correct. The algorithm may fail, but no failure
// outside its model counts against it.
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

// restart restarts a node like a fault.
func (t *Trial) restart(id nodes.ID, forget bool) error {
	return faultCluster{t.connections, nil, t.faults}.Start(port.NodeOf(id), forget)
}

// killAt kills a node at a given call.
func (t *Trial) killAt(call, at int, id nodes.ID) error {
	if call != at {
		return nil
	}
	return t.nodes.kill(id)
}

// sound checks that no node does anything while it is down, and that its requests are numbered consecutively.
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

// A randomly drawn node is killed and restarted repeatedly, at arbitrary moments.
func TestNodesDieAgainAndAgain(t *testing.T) {
	const again = 120 * time.Millisecond // time allowed for one kill and restart
	most := soak.Pick(5, 20, 100)
	for _, algorithm := range soak.Pick(benchtest.Families[:1], benchtest.Families, benchtest.Families) {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			deaths := 0
			got, h := suffer(t, fate{algorithm, func(o *bench.Options) { o.Duration = time.Duration(most) * again },
				func(t *Trial, _ int, phase string) error {
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

// A node that dies while it changes the register leaves it in doubt. The run reports the doubt if it matters.
func TestADeathAtTheRegister(t *testing.T) {
	t.Parallel()
	got, h := suffer(t, fate{"central", func(o *bench.Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(20*time.Millisecond)
		o.Workload.Hold = chance.Constant(time.Microsecond)
	}, func(t *Trial, call int, _ string) error {
		if call != 0 {
			return nil
		}
		// All nodes are suspended, so that no other node reads the register before node 1 is killed. Node 1 must
		// have no open request: a grant to a dead node would stall the other nodes.
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
		shared := sharedOf(t)
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
func (t *Trial) signalAll(s syscall.Signal) (err error) {
	for _, id := range t.nodes.up() {
		err = errors.Join(err, t.nodes.lives[id].node.Signal(s))
	}
	return err
}

// A kill that is impossible returns an error that says why.
func TestKillsThatCannotBe(t *testing.T) {
	t.Parallel()
	suffer(t, fate{"central", nil, func(trial *Trial, call int, _ string) error {
		if call != 0 {
			return nil
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

// A run does not come to rest while a process is suspended, though no request is open: a request that was due
// before issuing ended is made when the process resumes.
func TestARunWaitsForWhoStandsStill(t *testing.T) {
	t.Parallel()
	for name, detects := range map[string]string{
		"central": "",
		// Its detectors go on until node 1 resumes: a node that was suspected must be trusted again.
		"suzuki-kasami-ft": "heartbeat:period=50ms,timeout=250ms",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waitForWhoStandsStill(t, name, detects)
		})
	}
}

func waitForWhoStandsStill(t *testing.T, name, detects string) {
	stopped := false
	got, h := suffer(t, fate{name, func(o *bench.Options) {
		o.Detector = detects
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(150*time.Millisecond)
		o.Workload.Hold, o.Duration = chance.Constant(time.Millisecond), 700*time.Millisecond
	}, func(t *Trial, call int, _ string) error {
		if stopped || call == 0 || t.sums().open() {
			return nil
		}
		stopped = true // for a second: by then the other nodes have nothing left to do
		time.AfterFunc(time.Second, func() { t.nodes.lives[1].node.Signal(syscall.SIGCONT) })
		return t.nodes.lives[1].node.Signal(syscall.SIGSTOP)
	}})
	if got.Verdict.Outcome != check.Valid {
		got.errorf(t, "%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
	}
	resumed, rested, over, late := int64(0), int64(0), false, 0
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Resumed:
			resumed = e.At
		case e.Kind == history.Marked && e.Count == history.Rested:
			rested = e.At
		case e.Kind == history.Marked && e.Count == history.Stopped:
			over = true
		case e.Kind == history.Entered && e.Node == 1 && over:
			late++
		}
	}
	if resumed == 0 || rested < resumed {
		t.Errorf("node 1 goes on at %d ns, and the run came to rest at %d ns", resumed, rested)
	}
	if late == 0 {
		t.Error("the request that was due while node 1 stood still is not made")
	}
}

// planned makes a run with planned faults and a number of entries. Clients hold and think for 5 ms each.
func planned(t *testing.T, algorithm string, entries uint64, texts ...string) (*judged, *history.History) {
	t.Helper()
	return suffer(t, fate{algorithm: algorithm, change: func(o *bench.Options) {
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(5*time.Millisecond)
		o.Workload.Hold, o.Duration, o.Entries = chance.Constant(5*time.Millisecond), 0, entries
		for _, text := range texts {
			f, err := chaos.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		}
	}})
}

// sole returns the only event of a kind or, if there are several, the one at a node.
func sole(t *testing.T, h *history.History, kind history.Kind, at nodes.ID) history.Event {
	t.Helper()
	for _, e := range h.Events {
		if e.Kind == kind && (at == nodes.None || e.Node == at) {
			return e
		}
	}
	t.Errorf("nothing is %v", kind)
	return history.Event{}
}

// A node that a fault kills at a moment dies at once: the event of that moment is the last in its log, and
// the register does not count the dead node when the next client enters.
func TestMomentsKill(t *testing.T) {
	for text, when := range map[string]history.Kind{
		"kill: holder, at: 50ms":                            history.Entered,
		"kill: holder, at: 50ms, for: 50ms":                 history.Entered,
		"kill: waiter, at: 50ms, for: 50ms":                 history.Requested,
		"kill: 2, at: 50ms, when: 2 exits, for: 50ms":       history.Exited,
		"kill: 2, at: 50ms, when: '2 enters #3', for: 50ms": history.Entered,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, h := planned(t, "central", 60, text)
			explained(t, got, h)
			sound(t, h)
			began := sole(t, h, history.FaultBegan, nodes.None)
			crashed := sole(t, h, history.Crashed, nodes.None)
			killed := sole(t, h, history.Killed, crashed.Node)
			if killed.At > crashed.At || began.At > killed.At || began.Fence != 1 {
				t.Errorf("it began at %d, and the process was killed at %d and had ended at %d",
					began.At, killed.At, crashed.At)
			}
			var last history.Event // that the victim did
			for _, e := range h.Events {
				if e.Node == crashed.Node && e.Kind != history.Killed && e.At <= crashed.At &&
					e.Kind != history.Crashed {
					last = e
				}
			}
			if last.Kind != when || last.At >= killed.At {
				t.Errorf("the last that node %d did was %v at %d, and it was killed at %d", crashed.Node,
					last.Kind, last.At, killed.At)
			}
			for _, e := range h.Events {
				if e.Kind == history.Entered && e.Count > 1 {
					t.Errorf("the register says %d", e.Count)
				}
			}
			if v := got.Verdict; v.Outcome == check.Violated && !v.OutsideModel ||
				got.Verdict.Violations > 0 {
				t.Errorf("%v: %s", v.Outcome, v.Reason)
			}
		})
	}
}

// A node suspends itself when its moment comes, and resumes when the fault is healed.
func TestMomentsPause(t *testing.T) {
	for text, when := range map[string]history.Kind{
		"pause: holder, at: 50ms, for: 50ms":           history.Entered,
		"pause: 1, at: 50ms, when: 1 exits, for: 50ms": history.Exited,
	} {
		t.Run(text, func(t *testing.T) {
			// not in parallel: runs in one process share proc.NoticeStops
			got, h := planned(t, "central", 60, text)
			if got.Verdict.Outcome != check.Valid {
				got.errorf(t, "%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
			}
			began, healed := sole(t, h, history.FaultBegan, nodes.None), sole(t, h, history.FaultHealed,
				nodes.None)
			paused := sole(t, h, history.Paused, nodes.None)
			var last history.Event
			for _, e := range h.Events {
				switch {
				case e.Node != nodes.ID(paused.Count):
				case e.At <= began.At:
					last = e
				case e.At < healed.At:
					t.Errorf("while it stands still, node %d does this: %v", e.Node, e.Kind)
				}
			}
			if last.Kind != when {
				t.Errorf("the last that node %d did was %v", paused.Count, last.Kind)
			}
		})
	}
}

// If several nodes may see a moment, or two faults begin at the same moment, each fault is carried out once.
func TestMomentsComeOnce(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]string{
		{"kill: holder, at: 50ms, for: 50ms", "pause: holder, at: 50ms, for: 50ms"},
		{"kill: 3, at: 50ms, when: any requests, for: 100ms"}, // all may stall: a grant to dead node 3 is lost
	} {
		got, h := planned(t, "central", 60, faults...)
		explained(t, got, h)
		count := map[uint32]int{}
		for _, e := range h.Events {
			if e.Kind == history.FaultBegan {
				count[e.Count]++
			}
		}
		for i := range faults {
			if count[uint32(i+1)] != 1 {
				t.Errorf("%s: the faults began so often: %v", faults, count)
			}
		}
	}
}

// Setting a clock ahead makes the timers of a machine fire sooner, and slowing it later.
func TestClocksOfProcesses(t *testing.T) {
	t.Parallel()
	got, h := planned(t, "alarmed", 100, "clock: 1, rate: 0.1, at: 50ms, for: 340ms",
		"clock: 2, by: 1h, at: 50ms")
	if got.Verdict.Outcome != check.Violated { // alarmed excludes no client
		t.Errorf("%v: %s", got.Verdict.Outcome, got.Verdict.Reason)
	}
	began := sole(t, h, history.FaultBegan, nodes.None)
	since := map[nodes.ID]int64{}
	var slow, right []time.Duration
	for _, e := range h.Events {
		switch wait := time.Duration(e.At - since[e.Node]); {
		case e.Kind == history.Requested:
			since[e.Node] = e.At
		case e.Kind == history.Entered && e.Node == 1 && since[1] > began.At+20e6 && e.At < began.At+300e6:
			slow = append(slow, wait)
		case e.Kind == history.Entered && e.Node == 0:
			right = append(right, wait)
		}
	}
	if len(slow) < 2 || slices.Min(slow) < 45*time.Millisecond || slices.Min(right) > 30*time.Millisecond {
		t.Errorf("waits while the clock runs at a tenth of the right rate: %v; others: %v", slow, right)
	}
}

// risingFences checks that a recovered node continues from the number that it saved. It shows nothing if the
// machine was so busy that all entries came before the kill.
func risingFences(t *testing.T, h *history.History, recovers bool) {
	t.Helper()
	last, fell, back, entries, after := uint64(0), false, false, 0, 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.Restarted:
			back = true
		case history.Entered:
			fell = fell || e.Fence <= last
			last = e.Fence
			entries++
			if back {
				after++
			}
		}
	}
	if after == 0 {
		t.Logf("none of %d entries came after the restart", entries)
	} else if fell == recovers || entries < 10 {
		t.Errorf("of %d entries, the numbers fell: %v", entries, fell)
	}
}

// A playedNode is a node without a process, like one on another host.
type playedNode struct {
	name     string
	say      func([]byte) []byte             // takes what the node prints
	counters atomic.Pointer[history.Watched] // nil: not known yet
	heard    []host.Order
	deaf     bool
	ended    chan struct{}
	fate     proc.Fate
}

func (p *playedNode) Name() string                        { return p.name }
func (p *playedNode) Dismiss()                            {}
func (p *playedNode) Turns() uint32                       { return 0 }
func (p *playedNode) Ended() <-chan struct{}              { return p.ended }
func (p *playedNode) Fate() proc.Fate                     { return p.fate }
func (p *playedNode) CPUTime() (time.Duration, bool)      { return 0, false }
func (p *playedNode) PeakResidentKB() (int64, bool)       { return 0, false }
func (p *playedNode) LastSeen() (int64, error)            { return 7, nil }
func (p *playedNode) Counters() (*history.Watched, error) { return p.counters.Load(), nil }

func (p *playedNode) Signal(s syscall.Signal) error {
	if s == syscall.SIGKILL {
		p.end(proc.Fate{Killed: true, Says: "signal: killed"})
	}
	return nil
}

func (p *playedNode) Tell(order []byte) error {
	if p.deaf {
		return errors.New("it is deaf")
	}
	var o host.Order
	err := json.Unmarshal(order, &o)
	p.heard = append(p.heard, o)
	return err
}

// ready sends the note that the node is ready.
func (p *playedNode) ready() { p.say([]byte("\x1e" + `{"ready":true}` + "\n")) }

func (p *playedNode) end(f proc.Fate) {
	p.fate = f
	close(p.ended)
}

// A playedSite starts nodes that the test plays.
type playedSite struct {
	*site.Site
	start func(c cluster.Command, say func([]byte) []byte) (cluster.Node, error)
}

func (p playedSite) Start(_ nodes.ID, c cluster.Command, say func([]byte) []byte) (cluster.Node, error) {
	return p.start(c, say)
}

// played returns a trial with some played nodes, and a function that returns them as they are started.
func played(t *testing.T, count int) (tr *Trial, started func(int) *playedNode) {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N = count
	j, err := bench.Resolve(catalog.Table{}, o, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	tr = &Trial{Job: j, Dir: t.TempDir(), Site: site.New(j)}
	var all []*playedNode
	start := func(c cluster.Command, say func([]byte) []byte) (cluster.Node, error) {
		p := &playedNode{name: c.Name, say: say, ended: make(chan struct{})}
		p.counters.Store(&history.Watched{Counters: new(history.Counters),
			Instances: make([]history.InstanceCounters, 1)})
		all = append(all, p)
		return p, nil
	}
	if tr.journal, err = newJournal(tr.Dir, 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.journal.Close() })
	tr.wire(t.Context())
	tr.nodes.site = playedSite{tr.Site, start}
	tr.nodes.resource, err = tr.Site.OpenResource(t.Context(), tr.resourcePath(), host.Share{Nodes: count,
		Capacities: []int{1}})
	for id := nodes.ID(0); int(id) < count && err == nil; id++ {
		err = tr.nodes.startNext(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr, func(i int) *playedNode { return all[i] }
}

// A node has joined once its counters are known: before that, it has obeyed nothing.
func TestWhatANodeCountsIsUnknownUntilItIsKnown(t *testing.T) {
	tr, node := played(t, 1)
	late, n := node(0), tr.nodes
	counters := late.counters.Swap(nil)
	late.ready()
	joined := make(chan int, 1)
	go func() {
		missing, err := n.awaitReady(0)
		if err != nil {
			t.Error(err)
		}
		joined <- missing
	}()
	select {
	case <-joined:
		t.Fatal("a node has joined though its counters are unknown")
	case <-time.After(50 * time.Millisecond):
	}
	late.counters.Store(counters)
	late.ready()
	if missing := <-joined; missing != 0 {
		t.Errorf("%d nodes are missing", missing)
	}
}

// An order counts as obeyed once the node's counters show it, and not while they are unknown.
func TestOrdersAreObeyedWhenThatIsKnown(t *testing.T) {
	tr, node := played(t, 2)
	if err := tr.orders.give(host.Order{Do: host.Park}, tr.nodes.up()...); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if heard := node(i).heard; len(heard) != 1 || heard[0].Do != host.Park {
			t.Errorf("node %d heard %v", i, heard)
		}
	}
	if tr.orders.allObeyed() {
		t.Error("nodes with unknown counters have obeyed")
	}
	for i := range 2 {
		tr.watch.of[i] = node(i).counters.Load()
		tr.watch.of[i].Instances[0].Obeyed.Store(uint64(i))
	}
	if tr.orders.obeyed(0) || !tr.orders.obeyed(1) || tr.orders.allObeyed() {
		t.Error("only node 1 has obeyed")
	}
}

// A node that ends unexpectedly ends the trial, and the error says how. It has crashed: a client that died
// inside is not inside any more.
func TestANodeThatEndsEndsTheTrial(t *testing.T) {
	tr, node := played(t, 3)
	node(1).end(proc.Fate{Killed: true, Says: "exit status 2; it printed nothing"})
	err := tr.nodes.wait(20 * time.Second)
	says := regexp.MustCompile(`^node 1 ended on its own at \d\.\d{3} s: exit status 2; it printed nothing$`)
	if err == nil || !says.MatchString(err.Error()) {
		t.Errorf("the error is %v", err)
	}
	if err := tr.nodes.Mark(tr.nodes.now(), history.Rested); err != nil {
		t.Fatal(err)
	}
	if same := tr.nodes.markHostsGone(err); same != err || tr.nodes.isUp(1) || !tr.nodes.isUp(0) {
		t.Errorf("it is not on record that node 1 crashed, and none else: %v", same)
	}
	h, err := history.Load(tr.Dir)
	if err != nil {
		t.Fatal(err)
	}
	killed := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Killed })
	if at := h.Events[max(0, killed)].At; killed < 0 || at != 7 {
		t.Errorf("it was killed at %d (event %d), not when it was last seen", at, killed)
	}
}

// A node killed by a fault is down: its requests are over, it gets no orders, and another process follows.
func TestANodeThatIsKilledIsFollowedByAnother(t *testing.T) {
	tr, node := played(t, 2)
	n := tr.nodes
	for id := range nodes.ID(2) {
		n.watch.of[id] = node(int(id)).counters.Load()
	}
	first := &n.watch.of[1].Instances[0]
	first.Requests.Store(3)
	first.Entries.Store(2)
	first.Exits.Store(2)
	if !tr.sums().open() {
		t.Error("no request is open")
	}
	if err := n.kill(1); err != nil {
		t.Fatal(err)
	}
	if n.isUp(1) || tr.sums().open() || len(n.up()) != 1 || !n.watch.lossy {
		t.Errorf("up are %v, open are %+v", n.up(), tr.sums())
	}
	if err := n.kill(1); err == nil || !strings.Contains(err.Error(), "it is down already") {
		t.Errorf("killed again: %v", err)
	}
	n.site = playedSite{tr.Site, func(c cluster.Command, say func([]byte) []byte) (cluster.Node, error) {
		p := &playedNode{name: "node 1", say: say, ended: make(chan struct{})}
		p.counters.Store(node(1).counters.Load())
		if filepath.Base(c.Log) != "node-000001.1.log" {
			t.Errorf("its log is %s", c.Log)
		}
		p.ready()
		return p, nil
	}}
	if err := n.restart(1, false); err != nil {
		t.Fatal(err)
	}
	if l := n.lives[1]; l.down || l.incarnation != 1 || l.requests[0] != 3 || len(n.all) != 3 {
		t.Errorf("restarted, it is %+v, of %d processes", l, len(n.all))
	}
}

// A client that leaves hears no more orders, which is no error, and is started again once it has ended. If
// another fault has killed and restarted it meanwhile, it is not started twice.
func TestAClientLeaves(t *testing.T) {
	tr, node := played(t, 2)
	if err := tr.restart(1, false); err != nil || len(tr.nodes.all) != 2 {
		t.Errorf("a node that is up is started again: %v, %d processes", err, len(tr.nodes.all))
	}
	node(1).deaf = true
	all := faultCluster{connections: tr.connections, faults: tr.faults}
	for range 2 {
		if err := all.Leave(port.NodeOf(1), 0); err != nil {
			t.Errorf("it is told to leave: %v", err)
		}
	}
	if err := tr.restart(1, false); !errors.Is(err, port.ErrLater) {
		t.Errorf("it has not left, and is started: %v", err)
	}
	node(1).end(proc.Fate{Well: true})
	if ended, err := tr.nodes.expectedEnd(tr.nodes.lives[1].node); !ended || err != nil || tr.nodes.isUp(1) {
		t.Errorf("it has left: %v, %v", ended, err)
	}
}

// A client that has left just before it is killed has left. One that ended badly was not killed either.
func TestAClientLeavesBeforeItIsKilled(t *testing.T) {
	tr, node := played(t, 2)
	all := faultCluster{connections: tr.connections, faults: tr.faults}
	for i, fate := range []proc.Fate{{Well: true}, {Says: "exit status 3"}} {
		id := nodes.ID(i)
		if err := all.Leave(port.NodeOf(id), 0); err != nil {
			t.Fatal(err)
		}
		node(i).end(fate)
		if err := tr.nodes.kill(id); (err == nil) != fate.Well || tr.nodes.isUp(id) == fate.Well {
			t.Errorf("%+v: it is killed: %v, up %v", fate, err, tr.nodes.isUp(id))
		}
	}
}

// A node whose counters are not known yet can be killed, and counts as having made no request.
func TestANodeIsKilledBeforeItIsKnownWhatItCounts(t *testing.T) {
	tr, _ := played(t, 2)
	if err := tr.nodes.kill(1); err != nil || tr.nodes.isUp(1) || tr.nodes.lives[1].requests != nil {
		t.Errorf("%v: it is %+v", err, tr.nodes.lives[1])
	}
}

// Only package cluster knows processes of this machine.
func TestATrialTouchesNoProcess(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, no := range []string{`"os/exec"`, "history.Watch(", "history.LastSeen(", "syscall.Kill(", ".Pid()"} {
			if !strings.HasSuffix(path, "_test.go") && strings.Contains(string(text), no) {
				t.Errorf("%s has %s: that is up to a cluster.Node", path, no)
			}
		}
	}
}

// When the counters of other hosts are late, all counters count as unknown where current ones are needed.
func TestStaleCountersAreTakenForUnknown(t *testing.T) {
	tr, node := played(t, 2)
	tr.watch.of[0] = node(0).counters.Load()
	known, renewed := false, 0
	tr.watch.refresh = func() bool {
		renewed++
		return known
	}
	m := &meter{trial: tr}
	if s := tr.sums(); !s.unknown || s.atRest() || s.same(s) || m.warm(s, int64(time.Second)) {
		t.Errorf("%+v is taken for what nodes count now", s)
	}
	tr.counts.wants = true
	counted := func() uint64 {
		events, err := history.Watch(filepath.Join(tr.Dir, "orchestrator.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer events.Close()
		before := events.EventCount.Load()
		if err := tr.counts.record(tr.now(), false); err != nil {
			t.Fatal(err)
		}
		return events.EventCount.Load() - before
	}
	tr.counts.readAhead(8, 9)
	if renewed = 0; counted() != 0 || renewed != 1 || tr.counts.ahead.moment != 0 {
		t.Error("messages are on record that were counted at another time")
	}
	known = true
	if renewed = 0; counted() != 1 || renewed != 1 {
		t.Error("no messages are on record, or messages of an earlier time")
	}
	if s := tr.sums(); s.unknown || !m.warm(s, int64(time.Second)) {
		t.Errorf("%+v is not taken for what nodes count now", s)
	}
}

// The record of a healed fault includes what it has hit at nodes of other hosts.
func TestWhatOtherHostsHaveSeenCountsForEachStep(t *testing.T) {
	tr, _ := played(t, 2)
	tr.Faults = append(tr.Faults, benchtest.Faulty(t, "loss: 10%, at: 50ms, for: 10ms"))
	if err := tr.faults.prepare(filepath.Join(tr.Dir, agent.FaultsFile)); err != nil {
		t.Fatal(err)
	}
	var did []string
	do := func(what string, err error) func() error {
		return func() error {
			did = append(did, what)
			return err
		}
	}
	tr.faults.share = do("share", nil)
	err := tr.faults.step(do("step", nil))
	if err != nil || !slices.Equal(did, []string{"share", "step", "share"}) {
		t.Errorf("it did %v: %v", did, err)
	}
	wrong := errors.New("wrong")
	did, tr.faults.share = nil, do("share", wrong)
	if err := tr.faults.step(do("step", nil)); !errors.Is(err, wrong) || !slices.Equal(did, []string{"share"}) {
		t.Errorf("it did %v: %v", did, err)
	}
}

// A lostRegister is the register of a resource process that is gone.
type lostRegister struct{ site.Resource }

func (lostRegister) TakeOut(context.Context, nodes.ID, uint32) (site.Doubt, error) {
	return site.Doubt{}, errors.New("the resource process ended before it answered")
}

// Nodes crash with their host even if the resource process, which would take them out of the register, is
// lost with the same host.
func TestNodesCrashWithTheHostThatHasTheResource(t *testing.T) {
	tr, node := played(t, 3)
	tr.nodes.resource = lostRegister{}
	why := "host a is gone: its agent has ended"
	for _, i := range []int{0, 2} {
		node(i).end(proc.Fate{Killed: true, Gone: true, Says: why, Heard: time.Now()})
	}
	err := tr.nodes.markHostsGone(hostGoneError{errors.New(why)})
	if want := why + ", so its nodes have crashed (0,2)"; err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
	if tr.nodes.isUp(0) || !tr.nodes.isUp(1) || tr.nodes.isUp(2) {
		t.Errorf("up are %v", tr.nodes.up())
	}
	tr.nodes.lives[1].node.Signal(syscall.SIGKILL)
	if err := tr.nodes.markCrashed(1); err == nil || !strings.Contains(err.Error(), "ended before it answered") {
		t.Errorf("a node whose host is there stays in the register: %v", err)
	}
}
