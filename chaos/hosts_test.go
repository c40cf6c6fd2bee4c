package chaos

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/nodes"
)

// placed returns a placement.
func placed(t *testing.T, text string, total, hosts int) place.Placement {
	t.Helper()
	p, err := place.Parse(text, total, hosts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// onHosts is a scene of five nodes on three hosts: 0 and 3, 1 and 4, 2.
func onHosts(t *testing.T) *Scene {
	t.Helper()
	s := scene(t, "ricart-agrawala")
	s.Placement = placed(t, place.Turns, s.total(), 3)
	return s
}

// Wherever a plan names hosts, the resolved faults name the nodes on them, in real and in simulated runs.
func TestHostsAreTheNodesThere(t *testing.T) {
	for text, want := range map[string]string{
		"cut: host 0/host 1-2":                   "cut 0,3/1-2,4",
		"cut: host 0>host 2":                     "cut 0,3>2",
		"cut: host 2/0,1":                        "cut 2/0-1",
		"cut: host 1":                            "cut 1,4/0,2-3",
		"kill: host 1, for: 100ms":               "kill 1,4",
		"pause: host 0,2":                        "pause 0,2-3",
		"slow: host 2, share: 50%":               "slow 2 by 50%",
		"clock: host 1, by: 1s":                  "clock 1,4 by 1s",
		"reset: host 0":                          "reset 0,3",
		"lag: host 0, by: 1ms":                   "lag 0,3 by 1ms",
		"delay: 5ms, between: host 0/host 1":     "delay 5ms between 0,3/1,4",
		"loss: 10%, between: host 1>host 0,2":    "loss 10% between 1,4>0,2-3",
		"pause: 0, when: host 1 enters":          "pause 0 at 1s for 500ms",
		"kill: 0, when: 'host 0 sends reply #3'": "kill 0 when 0,3 sends reply #3",
	} {
		for _, simulated := range []bool{false, true} {
			s := onHosts(t)
			s.Simulated = simulated
			plan := read(t, text+", at: 1s")
			if plan[0].For == 0 {
				plan[0].For = 500 * time.Millisecond
			}
			if hasEffect[*effect.Clock](&plan[0]) {
				plan[0].For = 0
			}
			asked := plan[0].String()
			all, err := Resolve(plan, s, 1)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			got, _, _ := strings.Cut(all[0].What()+all[0].Schedule.String(), " (simulated as")
			if strings.HasPrefix(text, "pause: 0") {
				got, want = all[0].When.String(), "1,4 enters"
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s is %q, and not %q", text, got, want)
			}
			if plan[0].String() != asked {
				t.Errorf("resolving changed the plan to %v", &plan[0])
			}
			again, err := ResolveMore(nil, all, s, 1)
			if err != nil || !same(again, all) {
				t.Errorf("%s: what came of it comes to %v, %v", text, again, err)
			}
		}
	}
}

// A fault that names hosts is the same once it is written and read.
func TestFaultsOfHostsAreWrittenAsTheyAreRead(t *testing.T) {
	for _, text := range []string{"cut: host 0/host 1-2", "cut: host 1", "kill: host 0,2",
		"cut: host 1-2, kernel: true", "loss: 5%, between: host 0>host 1", "pause: 1, when: host 1 enters"} {
		f := read(t, text)[0]
		written, err := json.Marshal(f)
		var back Fault
		if err == nil {
			err = json.Unmarshal(written, &back)
		}
		if err != nil || back.String() != f.String() || !strings.Contains(f.String(), "host ") {
			t.Errorf("%s is written %s and read as %v: %v", text, written, &back, err)
		}
	}
}

func TestHostsThatAreNotThereAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"kill: host 3":               "kill host 3: there is no host 3: they are 0 to 2",
		"cut: host 0/3":              "node 3 is on one side by its number and on another by its host",
		"cut-network: 1":             "since it has one group",
		"kill: host 0, mid-input: 1": "mid-input takes one node",
		"cut: host 1, kernel: true, network: second": "cut of hosts takes no network",
	} {
		f, err := ParseFault(text)
		if err == nil {
			err = f.Check(onHosts(t))
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, which does not say %q", text, err, says)
		}
	}
	for text, says := range map[string]string{
		"kill: host 0":              "kill host 0: the run has no hosts: say how many, as in --hosts 4",
		"cut: host 0, kernel: true": "it takes hosts with networks of their own and NET_ADMIN",
	} {
		if err := read(t, text)[0].Check(scene(t, "ricart-agrawala")); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, which does not say %q", text, err, says)
		}
	}
	s := scene(t, "ricart-agrawala")
	s.Placement = placed(t, "", s.total(), 1)
	if err := read(t, "cut: host 0, kernel: true")[0].Check(s); err == nil ||
		!strings.Contains(err.Error(), "no other host") {
		t.Errorf("with one host: %v", err)
	}
}

// A cut by kernels of hosts has consequences after its heal, since TCP waits before it sends packets again.
func TestACutNetworkLeavesATail(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"cut: host 1, kernel: true, for: 2s": 12 * time.Second,
		"cut: host 1, kernel: true":          130 * time.Second,
	} {
		all, err := Resolve(read(t, text), onHosts(t), 1)
		if err != nil || all[0].Leaves() != want {
			t.Errorf("%s leaves something for %v, and not %v: %v", text, all[0].Leaves(), want, err)
		}
		s := onHosts(t)
		s.Simulated = true
		if all, err = Resolve(read(t, text), s, 1); err != nil || all[0].Leaves() != 0 {
			t.Errorf("%s leaves something for %v in a simulation: %v", text, all[0].Leaves(), err)
		}
	}
	if all := read(t, "cut: host 1, kernel: true"); !CutsNetworks(all) || !Disconnects(all) ||
		NeedsProxies(all) ||
		CutsNetworks(read(t, "cut: host 1")) {
		t.Error("what it takes of a run is wrong")
	}
}

// With several hosts, random plans cut some hosts off. A placement on one host changes no plan.
func TestRandomPlansCutHostsOff(t *testing.T) {
	for _, name := range []string{"ricart-agrawala", "central"} {
		s, one, plain := onHosts(t), scene(t, name), scene(t, name)
		s.Spec, s.Config, s.Measured = plain.Spec, plain.Config, plain.Measured
		s.Placement = placed(t, "", s.total(), 3)
		one.Placement = placed(t, "", s.total(), 1)
		hosts := 0
		for seed := range uint64(200) {
			p := RandomPlan(s, seed)
			for i := range p.Faults {
				if len(effect.HostsOf(p.Faults[i].Effect)) > 0 {
					hosts++
				}
			}
			if _, err := Resolve(p.Faults, s, seed); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if !reflect.DeepEqual(RandomPlan(one, seed), RandomPlan(plain, seed)) {
				t.Errorf("seed %d: one host makes another plan", seed)
			}
		}
		if hosts < 10 {
			t.Errorf("%s: %d faults are for hosts", name, hosts)
		}
	}
}

// In a simulation a cut network cuts the links between hosts, on all networks. Its text names the hosts.
func TestACutNetworkIsSimulatedAsACut(t *testing.T) {
	for text, lost := range map[string]string{ // from row to column, 1 if packets are lost
		"host 0":   "01101 10010 10010 01101 10010",
		"host 0,2": "01101 10110 11011 01101 10110",
		"host 0-2": "01101 10110 11011 01101 10110",
	} {
		s := onHosts(t)
		s.Simulated = true
		all, err := Resolve(read(t, "cut-network: "+text+", at: 1s, for: 500ms"), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := NewSharedState(5)
		b.faults[0].begin(1, int64(time.Second))
		shaper, err := (&Network{}).Shaper(1, all, b, s.codec())
		if err != nil {
			t.Fatal(err)
		}
		stored := read(t, "cut-network: "+text)
		cut := OnHosts(stored, &s.Placement)[0].Parts()
		for from := range nodes.ID(5) {
			for to := range nodes.ID(5) {
				want := strings.Fields(lost)[from][to] == '1'
				for network := range uint8(2) {
					p := nodes.Packet{From: from, To: to, Number: 1, At: 5, Net: network}
					if got := shaper.Shape(&p, nil); (len(got) == 0) != want {
						t.Errorf("%s: from %d to %d on network %d the fate is %v", text, from, to, network, got)
					}
				}
				if cut.Parts(from, to, nodes.None) != want || all[0].Parts().Separates(from, to) != want {
					t.Errorf("%s: it says that it parts %d from %d: %v", text, from, to, !want)
				}
			}
		}
		if stored[0].Parts() != nil {
			t.Errorf("%s: the placement is not known, and it parts them", text)
		}
	}
}
