//go:build linux

package bench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/hosts/agent"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// overHosts returns the options of a short run of an algorithm over hosts.
func overHosts(algorithm string, n, hosts int) Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Hosts = algorithm, n, hosts
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 200*time.Millisecond, impatience
	return o
}

// faulty parses a fault.
func faulty(t *testing.T, text string) chaos.Fault {
	t.Helper()
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A run over several hosts is judged, and takes as many messages, as one on this machine.
func TestRunsOverAgents(t *testing.T) {
	for name, test := range map[string]struct {
		options  Options
		change   func(*Options)
		messages string // per entry; empty: that depends
	}{
		"two trials": {overHosts("ricart-agrawala", 6, 3), func(o *Options) { o.Trials = 2 }, "10"},
		"one request at a time": {overHosts("ricart-agrawala", 4, 2), func(o *Options) {
			o.Workload.Load, o.Entries, o.Duration = workload.Sequential, 10, 0
		}, "6"},
		"one broker": {overHosts("ricart-agrawala", 4, 4), func(o *Options) { o.Brokers = 1 }, "6"},
		"elections": {overHosts("bully", 4, 2), func(o *Options) {
			o.Workload = workload.Workload{Load: workload.Campaign}
		}, ""},
		"a node that is killed": {overHosts("ricart-agrawala-ft", 4, 2), func(o *Options) {
			o.Faults = []chaos.Fault{faulty(t, "kill: 1, at: 50ms, for: 100ms")}
			o.Detector = "heartbeat:period=10ms,timeout=400ms"
		}, ""},
		"a node that is paused": {overHosts("ricart-agrawala", 4, 2), func(o *Options) {
			o.Faults = []chaos.Fault{faulty(t, "pause: 1, at: 50ms, for: 100ms")}
		}, "6"},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			if test.change != nil {
				test.change(&o)
			}
			r, err := makeRun(t, o)
			if err != nil {
				t.Error(err)
			}
			if len(r.Trials) != o.Trials {
				t.Errorf("%d trials", len(r.Trials))
			}
			for _, tr := range r.Trials {
				if v := tr.Verdict; v.Outcome != check.Valid {
					t.Errorf("trial %d: %v: %s", tr.Number, v.Outcome, v.Reason)
				}
				if got := tr.Row.MessagesPerEntry.String(); test.messages != "" && got != test.messages {
					t.Errorf("trial %d takes %s messages per entry, not %s", tr.Number, got, test.messages)
				}
			}
		})
	}
}

// Nodes ask a resource process over hosts, and all speak TLS.
func TestHostsSpeakTLS(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	o.Resource = option.ResourceProcess
	r := takeApart(t, o)
	got, err := r.make(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Outcome != check.Valid || got.Row.MessagesPerEntry.String() != "6" {
		t.Errorf("%v, with %v messages per entry: %s", v.Outcome, got.Row.MessagesPerEntry, v.Reason)
	}
	url := r.trial.transport.url(0, 0)
	if conn, err := nats.Connect(url, nats.Token(r.trial.transport.token())); err == nil {
		conn.Close()
		t.Errorf("%s lets a client in that does not know its certificate", url)
	}
}

// A hit is done to an agent of a run of one trial while that is measured.
type hit struct {
	*takenApart
	at  time.Time
	its []int // processes that the agent has started
}

// hitHost does something, once, to the agent of host 1.
func hitHost(t *testing.T, o Options, do func(*hit)) *hit {
	t.Helper()
	h := &hit{takenApart: takeApart(t, o)}
	h.trial.progress = func(p Progress) {
		if p.Phase == "measuring" && p.Elapsed > 50*time.Millisecond && h.at.IsZero() {
			h.at = time.Now()
			h.its = childrenOf(h.trial.transport.site.fleet.hosts[1].PID)
			do(h)
		}
	}
	return h
}

func (h *hit) agent() process { return h.trial.transport.site.fleet.agents[1] }

// A process takes signals.
type process interface{ Signal(syscall.Signal) error }

// runs reports whether a process has not ended.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// childrenOf returns the processes that another has started.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, _ := os.ReadFile(path)
		_, after, _ := strings.Cut(string(b), ") ")
		var state string
		var of, pid int
		fmt.Sscan(after, &state, &of)
		if fmt.Sscanf(path, "/proc/%d/stat", &pid); of == parent && state != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone wants the trial to have ended since host 1 is gone, its nodes to have crashed with it, and no
// process of it to be left.
func (h *hit) gone(t *testing.T, trial *Trial, err error, says string) {
	t.Helper()
	v := trial.Verdict
	if err == nil || v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, says) ||
		!strings.Contains(v.Reason, "so its nodes have crashed (1,3)") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
	stored, err := history.Load(h.Folder.HistoryFile(1))
	if err != nil {
		t.Fatal(err)
	}
	killed, crashed := 0, 0
	for _, e := range stored.Events {
		switch {
		case e.Kind == history.Killed && e.At > 0:
			killed++
		case e.Kind == history.Crashed && (e.Node == 1 || e.Node == 3):
			crashed++
		}
	}
	if killed != 2 || crashed != 2 {
		t.Errorf("%d nodes are on record as killed, %d as crashed", killed, crashed)
	}
	if len(h.its) < 3 {
		t.Errorf("the agent had the processes %v", h.its)
	}
	for _, pid := range h.its {
		for late := time.Now().Add(20 * time.Second); runs(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("process %d of the host is left behind", pid)
			}
		}
	}
}

// With an agent that is killed its nodes have crashed, and the run ends with a verdict.
func TestAHostThatIsKilledEndsTheRun(t *testing.T) {
	for _, load := range []workload.Load{workload.Saturated, workload.Sequential} {
		o := overHosts("ricart-agrawala", 4, 2)
		o.Workload.Load, o.Duration = load, time.Minute
		if load == workload.Sequential {
			o.Entries, o.Duration = 1_000_000, 0
		}
		h := hitHost(t, o, func(h *hit) { h.agent().Signal(syscall.SIGKILL) })
		trial, err := h.make(t.Context(), t)
		h.gone(t, trial, err, "host h1 is gone: ")
		if took := time.Since(h.at); took > 5*time.Second {
			t.Errorf("the run ended %v later", took)
		}
	}
}

// An agent that stands still for a short time delays the run, and costs it nothing.
func TestAHostThatStandsStillGoesOn(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	h := hitHost(t, o, func(h *hit) {
		h.agent().Signal(syscall.SIGSTOP)
		time.AfterFunc(300*time.Millisecond, func() { h.agent().Signal(syscall.SIGCONT) })
	})
	trial, err := h.make(t.Context(), t)
	if v := trial.Verdict; err != nil || v.Outcome != check.Valid || h.at.IsZero() {
		t.Errorf("%v: %s (%v)", v.Outcome, v.Reason, err)
	}
	if got := trial.Row.MessagesPerEntry.String(); got != "6" {
		t.Errorf("%s messages per entry", got)
	}
}

// One that stands still for too long is gone.
func TestAHostThatIsSilentForTooLongIsGone(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	o.Duration = time.Minute
	h := hitHost(t, o, func(h *hit) {
		h.trial.transport.site.fleet.attend(500 * time.Millisecond) // instead of 10 s
		h.agent().Signal(syscall.SIGSTOP)
	})
	trial, err := h.make(t.Context(), t)
	if took := time.Since(h.at); took < 500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it ended %v later", took)
	}
	h.agent().Signal(syscall.SIGKILL) // or its processes end with the run
	h.gone(t, trial, err, "host h1 is gone: it has not answered for ")
}

// Of two hosts one has a clock that is 200 ms ahead and runs 300 ppm faster. That is measured, and stamps are
// corrected: a sound algorithm is found so, and one that is broken is found out.
func TestHostsWithDifferentClocks(t *testing.T) {
	begun := agent.Monotonic()
	const ahead, ppm = int64(200 * time.Millisecond), 300
	t.Setenv(testClock, fmt.Sprintf("%d %d %d", begun, ahead, ppm))
	for algorithm, want := range map[string]check.Outcome{
		"ricart-agrawala": check.Valid, "naive-broadcast": check.Violated,
	} {
		o := overHosts(algorithm, 4, 2)
		o.Duration = 600 * time.Millisecond
		if err := o.Workload.Hold.Set("20ms"); err != nil {
			t.Fatal(err)
		}
		r := takeApart(t, o)
		got, err := r.make(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Verdict; v.Outcome != want {
			t.Errorf("%s: %v: %s", algorithm, v.Outcome, v.Reason)
		}
		if bound, known := got.Row.ClockErrorUS.Value(); !known || bound < 1 || bound > 100_000 {
			t.Errorf("%s: its clocks agree within %v us", algorithm, bound)
		}
		clocks := r.trial.transport.site.fleet.clocks
		if !clocks[0].same || clocks[1].same {
			t.Fatal("it is not known whose clock is another")
		}
		now := agent.Monotonic()
		clocks[1].mu.Lock()
		offset, bound, known := clocks[1].estimator.Offset(now)
		clocks[1].mu.Unlock()
		ahead := ahead + (now-begun)*ppm/1_000_000
		if off := math.Abs(float64(offset - ahead)); !known || off > float64(bound) {
			t.Errorf("the clock is %d ns ahead, and measured as %d within %d", ahead, offset, bound)
		}
		if want == check.Violated && !strings.Contains(got.Verdict.Reason, "overlapped") {
			t.Errorf("it is found out by other witnesses alone: %s", got.Verdict.Reason)
		}
	}
}

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
		{"pause: broker 1, at: 20ms, for: 80ms", "6"},
	}
	loses := []string{"cut: 0-1/2-3, at: 20ms, for: 60ms", "loss: 50%, at: 20ms, for: 60ms",
		"duplicate: 50%, at: 20ms, for: 60ms", "kill: 1, at: 20ms, for: 60ms", "reset: 2, at: 20ms, for: 60ms",
		"kill: broker 1, at: 20ms, for: 60ms", "cut: broker 0/broker 1-2, at: 20ms, for: 60ms"}
	short := []string{"stall", "cut"}
	told := map[string]bool{}
	one := func(fault, algorithm, messages string) {
		key, _, _ := strings.Cut(fault, ":")
		f, err := chaos.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		told[effect.KindOf(f.Effect).Name()] = true
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
		if !told[k.Name()] && k.Role != port.Host && k.Layer != effect.OfServers { // services run on one machine
			t.Errorf("%s is not tried over hosts", k.Name())
		}
	}
}

// dealtOut returns options of a run over four hosts, with a fault as plans write it.
func dealtOut(t *testing.T, fault string) Options {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Hosts, o.Seed = "ricart-agrawala", 8, 4, 1
	o.Latency, o.Workload = chance.Constant(time.Millisecond), workload.Workload{Load: workload.Saturated}
	if fault != "" {
		f, err := chaos.ParseFault(fault + ", at: 1s, for: 200ms")
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = []chaos.Fault{f}
	}
	return o
}

// A run over hosts says how many there were and who was where, and its faults name the nodes. It is the same
// run as one whose plan names these.
func TestPlacesOfRuns(t *testing.T) {
	t.Parallel()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, fault := range []string{"pause: host 1", "pause: 2,3", "cut: host 0, kernel: true"} {
		o := dealtOut(t, fault)
		o.Place = "blocks"
		r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows()[0]
		if row.Text("hosts") != "4" || row.Text("place") != "blocks" {
			t.Errorf("the row has %s hosts, %q", row.Text("hosts"), row.Text("place"))
		}
		stored, err := ReadRecord(r.Folder)
		if err != nil {
			t.Fatal(err)
		}
		if p := stored.Places; len(p) != 4 || p[1].Name != "h1" || !slices.Equal(p[1].Nodes, []nodes.ID{2, 3}) {
			t.Errorf("the places on record are %v", stored.Places)
		}
		if a := audited(t, r.Folder); len(a.Differences) > 0 || len(a.Remarks) > 0 {
			t.Errorf("%s: what is stored is not what its history says: %v", fault, a)
		}
		if text := stored.Trials[0].Faults[0].What(); strings.HasPrefix(fault, "pause") && text != "pause 2-3" {
			t.Errorf("%s is on record as %s", fault, text)
		}
		if f := stored.Options.Faults[0].What(); !strings.Contains(fault, ",") && !strings.Contains(f, "host ") {
			t.Errorf("%s is to be repeated as %s", fault, f)
		}
		rows[fault] = fmt.Sprint(row.Verdict, row.Figures)
	}
	if rows["pause: host 1"] != rows["pause: 2,3"] {
		t.Errorf("a host is not its nodes:\n%s\n%s", rows["pause: host 1"], rows["pause: 2,3"])
	}
	o := dealtOut(t, "")
	o.Hosts = 0
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil || r.Rows()[0].Asked.Cell("hosts") != "1" || r.Record.Places != nil {
		t.Errorf("a run on one machine has %s hosts, %v, %v", r.Rows()[0].Asked.Cell("hosts"), r.Record.Places, err)
	}
}

// The verdict of a run with a cut network is the same when it is judged again from its files: a client beside
// the coordinator enters, though it reaches no majority.
func TestACutNetworkIsJudgedAsStored(t *testing.T) {
	t.Parallel()
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := dealtOut(t, "cut: host 0, kernel: true")
	o.Algorithm, o.Place, o.Workload.Load = "central", "0,8@0,1-2@1,3-5@2,6-7@3", workload.One
	r, err := simulateRun(t, spec, o, Setup{Results: t.TempDir(), Set: "set"})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.Rows()[0].EntriesInMinority.Value(); n < 10 {
		t.Errorf("%v entries were made in a minority", n)
	}
	if a := audited(t, r.Folder); len(a.Differences) > 0 || len(a.Remarks) > 0 {
		t.Errorf("what is stored is not what its history says: %v", a)
	}
}

// The nodes of a run are dealt out to the hosts that there are, if these are as many as it takes.
func TestHostsAreNamed(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	j, err := Resolve(dealtOut(t, ""), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.PlaceOn([]string{"a", "b", "c"}); err == nil {
		t.Error("four hosts are placed on three")
	}
	if err := j.PlaceOn([]string{"a", "b", "c", "d"}); err != nil {
		t.Fatal(err)
	}
	if p := j.Placement(); p.Name(2) != "c" || p.HostOf(6) != 2 || j.Scene().Placement.Name(3) != "d" {
		t.Errorf("the hosts are %v", p.All())
	}
}

// Regions that are hosts delay messages by where nodes are.
func TestRegionsOfHostsInARun(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	o := dealtOut(t, "")
	o.Latency = chance.Distribution{}
	if o.Regions, err = chaos.ReadRegions(strings.NewReader(
		"regions: [host 0-1, host 2-3]\nlatency: [[1ms, 9ms], [9ms, 1ms]]")); err != nil {
		t.Fatal(err)
	}
	j, err := Resolve(o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	network := j.network()
	if want := []int{0, 0, 1, 1, 0, 0, 1, 1}; !slices.Equal(network.RegionOf, want) {
		t.Errorf("nodes are in the regions %v, and not %v", network.RegionOf, want)
	}
}

// A fakeCutter notes what is asked of the kernels of hosts.
type fakeCutter struct {
	did  []string
	fail error
}

func (f *fakeCutter) cutNetwork(number int, hosts []int) error {
	f.did = append(f.did, fmt.Sprint("cut ", number, hosts))
	return f.fail
}

func (f *fakeCutter) healNetwork(number int) error {
	f.did = append(f.did, fmt.Sprint("heal ", number))
	return f.fail
}

// Messages may be lost from the cut of a network until all is connected again.
func TestNetworksAreCut(t *testing.T) {
	t.Parallel()
	c, f := carried(t, 1, false).connections, &fakeCutter{}
	c.cutter = f
	between := func(hosts ...int) (s port.Strain) { // these and host 3
		for _, h := range hosts {
			s.Links = append(s.Links, port.Link{A: port.Member{Role: port.Host, I: h},
				B: port.Member{Role: port.Host, I: 3}})
		}
		return s
	}
	if err := c.strain(3, between(1, 2)); err != nil || !c.outage.away || !c.nodes.watch.lossy || !c.resets[3] {
		t.Errorf("once it is cut, the network is connected: %v, %v", !c.outage.away, err)
	}
	if _, err := c.relieve(3); err != nil || c.outage.back == 0 || c.resets[3] {
		t.Errorf("once it is healed, nodes may not be back: %v, %v", c.outage, err)
	}
	if want := []string{"cut 3 [1 2]", "heal 3"}; !slices.Equal(f.did, want) {
		t.Errorf("the hosts did %q, and not %q", f.did, want)
	}
	f.fail = errors.New("host b: it has no NET_ADMIN")
	err := c.strain(4, between(0))
	_, after := c.relieve(4)
	if err := errors.Join(err, after); err == nil ||
		strings.Count(err.Error(), "NET_ADMIN") != 2 {
		t.Errorf("a host that cannot says %v", err)
	}
}
