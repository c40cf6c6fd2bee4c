package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"turnstile/nodes/port"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// A trial is a stack to be run by all three hosts: package host, the simulator and the explorer.
type trial struct {
	instances []algorithm.Instance
	workload  workload.Workload
	shaper    func() nodes.Shaper // nil: it has none
	entries   uint64              // entries of all clients together, simulated or real
	each      int                 // entries of each client in the explorer; 0: one
}

// stack returns what the nodes of the trial are made of.
func (tr trial) stack(t *testing.T) *algorithm.Stack {
	t.Helper()
	stack, err := algorithm.Assemble(tr.instances[0], tr.instances[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// simulated and real run the trial and return what was recorded.
func (tr trial) simulated(t *testing.T, driver ...port.FaultDriver) *history.History {
	t.Helper()
	h := &history.History{}
	o := sim.Options{Stack: tr.stack(t), Workload: tr.workload, Entries: tr.entries, Seed: 7,
		Latency: time.Millisecond}
	if tr.shaper != nil {
		o.Shaper = tr.shaper()
	}
	if len(driver) > 0 {
		o.FaultDriver = driver[0]
	}
	r, err := sim.Run(o, h)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cut != nil || r.Stall != nil {
		t.Fatalf("%v\n%s", r.Cut, r.Stall)
	}
	return h
}

func (tr trial) real(t *testing.T) *history.History {
	t.Helper()
	s := beginStack(t, tr.stack(t), func(c *host.Config) {
		c.Workload, c.Entries = tr.workload, tr.entries
		if tr.shaper != nil {
			c.Shaper = tr.shaper()
		}
	})
	s.order(host.Order{Do: host.Issue, Begin: 1})
	s.awaitRest(tr.entries)
	return s.end()
}

// explored explores every order of events, and fails if it finds a violation.
func (tr trial) explored(t *testing.T, change ...func(*explore.Space)) *explore.Result {
	t.Helper()
	o := explore.Space{Spec: tr.instances[0].Algorithm, Config: tr.instances[0].Config,
		Beside: tr.instances[1:],
		Take:   tr.workload.Take, Entries: max(1, tr.each), States: 300_000}
	for _, c := range change {
		c(&o)
	}
	x, err := explore.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if x.Violation != nil {
		t.Fatalf("%s: %s\n%v", x.Violation.Check, x.Violation.Says, x.Violation.Schedule)
	}
	t.Logf("%d states", x.States)
	if !x.Exhausted || !x.Progress || x.Entries == 0 {
		t.Errorf("%+v", x)
	}
	return x
}

// everywhere runs the trial in the simulator and for real, and has a check look at each history.
func (tr trial) everywhere(t *testing.T, check func(t *testing.T, h *history.History)) {
	t.Run("simulated", func(t *testing.T) { check(t, tr.simulated(t)) })
	t.Run("real", func(t *testing.T) { check(t, tr.real(t)) })
}

// seen counts the events of a kind by instance and node.
func seen(h *history.History, kind history.Kind) map[string]int {
	all := map[string]int{}
	for _, e := range h.Events {
		if e.Kind == kind {
			all[fmt.Sprintf("instance %d node %d", e.Instance, e.Node)]++
		}
	}
	return all
}

func instance(spec *algorithm.Algorithm, n int) algorithm.Instance {
	return algorithm.Instance{Algorithm: spec, Config: nodes.Config{N: n}}
}

func algorithmOf(t *testing.T, name string) *algorithm.Algorithm {
	t.Helper()
	spec, err := mutex.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// kept is a keeper with a unit for each of n nodes.
func kept(mark uint64, n int) algorithm.Instance {
	return algorithm.Instance{Algorithm: keepers(mark), Config: nodes.Config{N: n, Units: n}}
}

// Two mutexes, an elector and a detector live on one node, and do not disturb each other: each has its
// clients, its messages, its timers and its counters.
func TestFourInstancesOnOneNode(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{instance(algorithmOf(t, "ricart"), 2),
		instance(algorithmOf(t, "ricart"), 2),
		instance(elders(), 2), instance(watchers(time.Minute), 2)}, entries: 80,
		workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(100 * time.Microsecond)}}
	tr.everywhere(t, func(t *testing.T, h *history.History) {
		inside, entries := map[uint16]int{}, 0
		both := false
		for _, e := range h.Events {
			switch e.Kind {
			case history.Entered:
				entries++
				if inside[e.Instance]++; inside[e.Instance] > 1 || e.Count != 1 {
					t.Fatalf("two are inside instance %d, the register says %d", e.Instance, e.Count)
				}
				both = both || inside[1-e.Instance] > 0
			case history.Exited:
				inside[e.Instance]--
			case history.Elected:
				if e.Instance != 2 || e.Count != 1 || e.Value != 1 {
					t.Errorf("%+v: not node 1, in term 1, by instance 2", e)
				}
			}
		}
		if entries != 80 || !both {
			t.Errorf("%d entries; at the same time in both: %v", entries, both)
		}
		for _, l := range h.Logs {
			if l.Node == nodes.None {
				continue
			}
			for i, kind := range []int{0, 0, -1, 2} {
				for k, of := range l.Instances[i].Kinds {
					want := kind >= 0 && (k == kind || i < 2 && k == 1) // requests and replies, or heartbeats
					if (of.Sent > 0) != want {
						t.Errorf("node %d, instance %d sent %d of kind %d", l.Node, i, of.Sent, k)
					}
				}
			}
		}
	})
	t.Run("explored", func(t *testing.T) {
		tr.instances[0], tr.instances[1] = instance(algorithmOf(t, "central"),
			2), instance(algorithmOf(t, "central"), 2)
		tr.explored(t)
	})
}

// A violation in one instance is found, and its schedule names this instance.
func TestExplorerTellsOfTheInstance(t *testing.T) {
	x, err := explore.Run(explore.Space{Spec: algorithmOf(t, "ricart"), Config: nodes.Config{N: 2}, Entries: 1,
		Beside: []algorithm.Instance{instance(algorithmOf(t, "naive"), 2)}})
	if err != nil {
		t.Fatal(err)
	}
	v := x.Violation
	if v == nil || v.Check != replay.CheckExclusion || len(v.Schedule.Steps) != 6 ||
		!strings.Contains(v.Schedule.String(), "req 0@1\nreq 1@1\n") ||
		!strings.Contains(v.Schedule.String(), "0>1 naive-broadcast.request@1\n") {
		t.Errorf("%+v", v)
	}
}

// Each instance recovers its own save, and continues with the fence numbers that follow.
func TestInstancesRecoverWhatTheySaved(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{kept(1, 1), kept(2, 1)}, each: 2,
		workload: workload.Workload{Load: workload.Closed, Hold: chance.Constant(time.Millisecond)}, entries: 40}
	amnesia := []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{0}}},
		Schedule: chaos.Schedule{At: 5500 * time.Microsecond, For: time.Millisecond}}}
	first := tr.instances[0]
	driver, err := chaos.NewDriver(amnesia, chaos.NewSharedState(first.Config.N), first.Config.N,
		first.Spec.Codec())
	if err != nil {
		t.Fatal(err)
	}
	h := tr.simulated(t, driver)
	last := map[uint16]uint64{}
	for _, e := range h.Events {
		if e.Kind != history.Entered {
			continue
		}
		if e.Fence != last[e.Instance]+1 {
			t.Errorf("instance %d is entered under fence %d after %d", e.Instance, e.Fence, last[e.Instance])
		}
		last[e.Instance] = e.Fence
	}
	if last[0]+last[1] != 40 {
		t.Errorf("the last fences are %v", last)
	}
	tr.explored(t, func(o *explore.Space) { o.Crashes, o.Restarts, o.Amnesia = 1, true, true })
	for i, fence := range map[int32]uint64{0: 0, 1: 0} {
		for _, e := range tr.real(t).Events {
			if e.Kind == history.Entered && int32(e.Instance) == i {
				if fence++; e.Fence != fence {
					t.Fatalf("instance %d is entered under fence %d, not %d", i, e.Fence, fence)
				}
			}
		}
	}
}

// A resource has units: readers share it, and a writer has it alone.
func TestUnitsAreShared(t *testing.T) {
	library := instance(libraries(), 4)
	library.Config.Units = shelves
	tr := trial{instances: []algorithm.Instance{library}, entries: 200,
		workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(time.Millisecond),
			Take: workload.Take{Whole: 0.3}}}
	tr.everywhere(t, func(t *testing.T, h *history.History) {
		wants, taken, most, whole := map[nodes.ID]uint32{}, uint32(0), uint32(0), 0
		for _, e := range h.Events {
			switch e.Kind {
			case history.Requested:
				wants[e.Node] = e.Count
				if e.Count == shelves {
					whole++
				}
			case history.Entered:
				taken += wants[e.Node]
				most = max(most, taken)
				if e.Count > shelves || taken > shelves {
					t.Fatalf("%d units are taken, the register says %d", taken, e.Count)
				}
			case history.Exited:
				taken -= wants[e.Node]
			}
		}
		if whole < 20 || whole > 100 || most != shelves {
			t.Errorf("%d of 200 want all units; at most %d were taken", whole, most)
		}
	})
	t.Run("explored", func(t *testing.T) {
		small := tr
		small.instances[0].Config.N = 2
		small.explored(t)
		broken := libraries()
		broken.NewServer = func(nodes.Config, nodes.ID) nodes.Machine { return &librarian{taken: -1} }
		x, err := explore.Run(explore.Space{Spec: broken, Config: small.instances[0].Config, Entries: 1,
			Take: tr.workload.Take})
		if err != nil || x.Violation == nil || x.Violation.Check != replay.CheckExclusion ||
			!strings.Contains(x.Violation.Schedule.String(), "units 3") {
			t.Errorf("a unit too many is not found: %+v, %v", x, err)
		}
	})
}

// A lease that runs out ends a critical section without a release, and the client asks again.
func TestRevokedClientsLeave(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{instance(tenants(), 1)}, entries: 10,
		workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(time.Second)}}
	tr.everywhere(t, func(t *testing.T, h *history.History) {
		const client = "instance 0 node 0"
		entered, revoked, exited := seen(h, history.Entered), seen(h, history.Revoked), seen(h, history.Exited)
		if entered[client] != 10 || revoked[client] != 10 || len(exited) != 0 {
			t.Errorf("entered %v, revoked %v, exited %v", entered, revoked, exited)
		}
		for _, e := range h.Events {
			if e.Kind == history.Entered && e.Count != 1 {
				t.Errorf("the register says %d: a revoked client is still in it", e.Count)
			}
		}
	})
	tr.explored(t)
}

// A suspicion reaches the elector, which elects another leader. So does the end of a suspicion.
func TestSuspicionsReachTheElector(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{kept(1, 2), instance(elders(), 2),
		instance(watchers(20*time.Millisecond), 2)},
		shaper: func() nodes.Shaper { return &deaf{} }, entries: 20,
		workload: workload.Workload{Load: workload.Closed, Think: chance.Constant(10 * time.Millisecond)}}
	tr.everywhere(t, func(t *testing.T, h *history.History) {
		var leaders []uint32
		for _, e := range h.Events {
			if e.Kind == history.Elected && e.Node == 0 {
				leaders = append(leaders, e.Count)
			}
		}
		if fmt.Sprint(leaders) != "[1 0 1]" {
			t.Errorf("node 0 takes %v for leaders", leaders)
		}
	})
	t.Run("explored", func(t *testing.T) {
		// Timers run out at any moment, so that suspicions come in all orders, some false.
		tr.instances[0] = instance(algorithmOf(t, "central"), 2)
		tr.explored(t, func(o *explore.Space) { o.Crashes, o.Restarts = 1, true })
	})
}

// In an anonymous network nodes know ports, but not their ID.
func TestStrangersKnowPortsAlone(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{instance(strangers(), 3)}, entries: 12,
		workload: workload.Workload{Load: workload.One}}
	tr.everywhere(t, func(t *testing.T, h *history.History) {
		if entered := seen(h, history.Entered); entered["instance 0 node 0"] != 12 {
			t.Errorf("entered %v", entered)
		}
	})
	curious := toy("nosy", func() nodes.Machine { return &nosy{} }, strangerAsk{})
	curious.Ports = strangers().Ports
	x, err := explore.Run(explore.Space{Spec: curious, Config: nodes.Config{N: 3}, Entries: 1})
	if err != nil || x.Violation == nil || x.Violation.Check != replay.CheckPanic ||
		!strings.Contains(x.Violation.Says, "asks who it is in an anonymous network") {
		t.Errorf("%+v, %v", x, err)
	}
}

// A node asks for one of several resources at a time, in the order that the workload draws, which is the same
// in simulated and real runs. Under an open load it may ask for several at once.
func TestRequestsNameOneOfSeveralResources(t *testing.T) {
	for load, several := range map[workload.Load]bool{workload.Saturated: false, workload.Open: true} {
		tr := trial{instances: []algorithm.Instance{instance(algorithmOf(t, "ricart"), 3),
			instance(algorithmOf(t, "ricart"), 3),
			instance(algorithmOf(t, "ricart"), 3)}, entries: 240,
			workload: workload.Workload{Load: load, Rate: 2000, Zipf: 1,
				Hold: chance.Constant(300 * time.Microsecond)}}
		tr.everywhere(t, func(t *testing.T, h *history.History) {
			open, at, together := map[nodes.ID]int{}, map[nodes.ID]uint64{}, false
			for _, e := range h.Events {
				switch e.Kind {
				case history.Requested:
					open[e.Node]++
					at[e.Node]++
					together = together || open[e.Node] > 1
					named := tr.workload.Names(7, e.Node, at[e.Node], 3)
					if load == workload.Saturated && int(e.Instance) != named {
						t.Fatalf("request %d of node %d names resource %d, not %d", at[e.Node], e.Node, e.Instance, named)
					}
				case history.Exited:
					open[e.Node]--
				}
			}
			if together != several {
				t.Errorf("%s load: a node has several requests open: %v", load, together)
			}
			for i := range uint16(3) {
				if seen(h, history.Entered)[fmt.Sprintf("instance %d node 0", i)] == 0 {
					t.Errorf("node 0 never enters resource %d", i)
				}
			}
		})
	}
}
