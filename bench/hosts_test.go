package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/nodes/workload"
)

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
	for _, fault := range []string{"pause: host 1", "pause: 2,3", "cut-network: host 0"} {
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
	o := dealtOut(t, "cut-network: host 0")
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

// A run is refused before it starts whose hosts cannot be as they are asked for.
func TestHostsAreValidated(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	regions := chaos.Regions{Names: []string{"host 0"}, Latency: [][]chance.Distribution{{{}}}}
	for says, change := range map[string]func(*Options){
		"9 hosts, and the run has 8 nodes":          func(o *Options) { o.Hosts = 9 },
		"says where nodes are, and the run has no ": func(o *Options) { o.Hosts, o.Place = 0, "blocks" },
		"node 4 is on no host":                      func(o *Options) { o.Hosts, o.Place = 1, "0-3@a" },
		"host 1 is in no region":                    func(o *Options) { o.Regions = regions },
		"region host 0: the run has no hosts":       func(o *Options) { o.Hosts, o.Regions = 0, regions },
	} {
		o := dealtOut(t, "")
		change(&o)
		if _, err := Resolve(o, spec, true); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, and should say %q", err, says)
		}
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
	if err := c.CutNetwork(3, []int{1, 2}); err != nil || c.Connected() || !c.nodes.watch.lossy || !c.resets[3] {
		t.Errorf("once it is cut, the network is connected: %v, %v", c.Connected(), err)
	}
	if err := c.HealNetwork(3); err != nil || c.outage.back == 0 || c.resets[3] {
		t.Errorf("once it is healed, nodes may not be back: %v, %v", c.outage, err)
	}
	if want := []string{"cut 3 [1 2]", "heal 3"}; !slices.Equal(f.did, want) {
		t.Errorf("the hosts did %q, and not %q", f.did, want)
	}
	f.fail = errors.New("host b: it has no NET_ADMIN")
	if err := errors.Join(c.CutNetwork(4, []int{0}), c.HealNetwork(4)); err == nil ||
		strings.Count(err.Error(), "NET_ADMIN") != 2 {
		t.Errorf("a host that cannot says %v", err)
	}
}
