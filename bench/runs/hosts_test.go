//go:build linux

package runs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// A run over several hosts is valid, and takes as many messages per entry as a run on this machine.
func TestRunsOverAgents(t *testing.T) {
	for name, test := range map[string]struct {
		options  bench.Options
		change   func(*bench.Options)
		messages string // messages per entry; empty: not checked
	}{
		"two trials": {benchtest.OverHosts("ricart-agrawala", 6, 3), func(o *bench.Options) { o.Trials = 2 }, "10"},
		"one request at a time": {benchtest.OverHosts("ricart-agrawala", 4, 2), func(o *bench.Options) {
			o.Workload.Load, o.Entries, o.Duration = workload.Sequential, 10, 0
		}, "6"},
		"one broker": {benchtest.OverHosts("ricart-agrawala", 4, 4), func(o *bench.Options) { o.Brokers = 1 }, "6"},
		"elections": {benchtest.OverHosts("bully", 4, 2), func(o *bench.Options) {
			o.Workload = workload.Workload{Load: workload.Campaign}
		}, ""},
		"a node that is killed": {benchtest.OverHosts("ricart-agrawala-ft", 4, 2), func(o *bench.Options) {
			outlast(o, 300*time.Millisecond)
			o.Faults = []chaos.Fault{benchtest.Faulty(t, "kill: 1, at: 50ms, for: 100ms")}
			o.Detector = "heartbeat:period=10ms,timeout=400ms"
		}, ""},
		"a node that is paused": {benchtest.OverHosts("ricart-agrawala", 4, 2), func(o *bench.Options) {
			outlast(o, 300*time.Millisecond)
			o.Faults = []chaos.Fault{benchtest.Faulty(t, "pause: 1, at: 50ms, for: 100ms")}
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
					tr.errorf(t, "trial %d: %v: %s", tr.Number, v.Outcome, v.Reason)
				}
				if got := tr.Row.MessagesPerEntry.String(); test.messages != "" && got != test.messages {
					t.Errorf("trial %d takes %s messages per entry, not %s", tr.Number, got, test.messages)
				}
			}
		})
	}
}

// Each fault of a run on one machine has the same effect in a run over hosts: under the same plan and seed,
// neither run is violated and, if no message is lost, both take the same number of messages per entry.
func TestFaultsOverHosts(t *testing.T) {
	never := []string{ // faults that lose no message: an entry takes 6
		"delay: 2ms, at: 20ms, for: 80ms",
		"reorder: uniform:0s,2ms, at: 20ms, for: 80ms",
		"bandwidth: 100KB, at: 20ms, for: 80ms",
		"pause: 1, at: 20ms, for: 80ms",
		"slow: 1, share: 50%, at: 20ms, for: 80ms",
		"clock: 2, by: 3s, at: 20ms",
		"lag: 2, by: 5ms, at: 20ms, for: 80ms",
		"throttle: 2, to: 100KB, at: 20ms, for: 80ms",
		"stall: 2, at: 20ms, for: 80ms",
		"pause: broker 1, at: 20ms, for: 80ms",
	}
	loses := []string{"cut: 0-1/2-3, at: 20ms, for: 60ms", "loss: 50%, at: 20ms, for: 60ms",
		"duplicate: 50%, at: 20ms, for: 60ms", "kill: 1, at: 20ms, for: 60ms", "reset: 2, at: 20ms, for: 60ms",
		"kill: broker 1, at: 20ms, for: 60ms", "cut: broker 0/broker 1-2, at: 20ms, for: 60ms"}
	short := []string{"stall", "cut"}
	told := map[string]bool{}
	one := func(fault string, loses bool) {
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
			for _, hosts := range []int{0, 3} {
				o := suffering(t, "ricart-agrawala", 3, fault)
				o.Hosts, o.Duration = hosts, 250*time.Millisecond
				if !loses {
					outlast(&o, 250*time.Millisecond)
				}
				r := complete(t, o)
				if len(r.Trials) != 1 {
					t.Fatal("there is no trial")
				}
				tr := r.Trials[0]
				if v := tr.Verdict; v.Outcome == check.Violated || !loses && v.Outcome != check.Valid {
					tr.errorf(t, "on %d hosts: %v: %s", hosts, v.Outcome, v.Reason)
				}
				if got := tr.Row.MessagesPerEntry.String(); !loses && got != "6" {
					t.Errorf("on %d hosts an entry takes %s messages, not 6", hosts, got)
				}
				if missed, _ := tr.Row.FaultsMissed.Value(); missed > 0 {
					t.Errorf("on %d hosts the fault did not take place", hosts)
				}
			}
		})
	}
	for _, fault := range never {
		one(fault, false)
	}
	for _, fault := range loses {
		one(fault, true)
	}
	for _, k := range effect.Kinds {
		served := k.Layer == effect.OfServers || k == effect.Find("leave") // services run on one machine
		if !told[k.Name()] && k.Role != port.Host && !served {
			t.Errorf("%s is not tried over hosts", k.Name())
		}
	}
}

// dealtOut returns options of a run over four hosts, with a fault in the syntax of plans.
func dealtOut(t *testing.T, fault string) bench.Options {
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

// A run over hosts records how many hosts it had and which node was on which, and its faults name the nodes.
// A plan that names a host makes the same run as a plan that names the nodes on it.
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

// The verdict of a run with a cut network is the same when it is judged again from its files: a client on the
// coordinator's side enters, though it reaches no majority.
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

// The nodes of a run are spread over the available hosts, if there are enough.
func TestHostsAreNamed(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	j, err := bench.Resolve(catalog.Table{}, dealtOut(t, ""), spec, false)
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

// If regions are sets of hosts, each node is in the region of its host.
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
	j, err := bench.Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	network := j.Network()
	if want := []int{0, 0, 1, 1, 0, 0, 1, 1}; !slices.Equal(network.RegionOf, want) {
		t.Errorf("nodes are in the regions %v, and not %v", network.RegionOf, want)
	}
}
