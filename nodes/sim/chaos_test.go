package sim

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// plan reads faults as a plan has them.
func plan(t testing.TB, texts ...string) (all []chaos.Fault) {
	t.Helper()
	for _, text := range texts {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// busy is a load that lasts: faults at some tens of milliseconds are in the middle of it.
func busy(o *Options) {
	o.Entries, o.Duration = 0, 200*ms
	o.Workload.Hold = chance.Constant(2 * ms)
}

// plagued is a run of an algorithm with faults.
func plagued(t testing.TB, algorithm string, n int, texts ...string) *recorded {
	t.Helper()
	o := options(t, algorithm, n, busy)
	suffer(&o, plan(t, texts...)...)
	return mustRun(t, o)
}

// of returns the events of a kind.
func (r *recorded) of(kind history.Kind) (all []history.Event) {
	for _, e := range r.Events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// only returns the one event of a kind.
func (r *recorded) only(t testing.TB, kind history.Kind) history.Event {
	t.Helper()
	all := r.of(kind)
	if len(all) != 1 {
		t.Fatalf("%d events %v", len(all), kind)
	}
	return all[0]
}

// at reports whether something of a kind happened at a node at a time.
func (r *recorded) at(kind history.Kind, id nodes.ID, at int64) bool {
	return slices.ContainsFunc(r.Events, func(e history.Event) bool {
		return e.Kind == kind && e.Node == id && e.At == at
	})
}

// A node that is killed at a moment is down at once, and the counters balance: the run ends by itself, the
// register counts no client twice, and the other nodes go on if the algorithm lets them.
func TestKilledAtTheVeryMoment(t *testing.T) {
	for text, when := range map[string]history.Kind{
		"kill: holder, at: 30ms":                              history.Entered,
		"kill: waiter, at: 30ms":                              history.Requested,
		"kill: 1, at: 30ms, when: 1 exits":                    history.Exited,
		"kill: 1, at: 30ms, when: '1 enters #3'":              history.Entered,
		"kill: holder, at: 30ms, for: 20ms":                   history.Entered,
		"kill: 1, at: 30ms, when: 1 exits, for: 20ms":         history.Exited,
		"kill: 1, at: 30ms, when: 1 requests":                 history.Requested,
		"kill: 1, at: 30ms, when: '1 requests #2', for: 20ms": history.Requested,
		"kill: holder, at: 30ms, for: 20ms, forget: true":     history.Entered,
	} {
		for _, algorithm := range []string{"ricart-agrawala", "central", "suzuki-kasami"} {
			r := plagued(t, algorithm, 4, text)
			crashed := r.only(t, history.Crashed)
			if began := r.only(t, history.FaultBegan); began.At != crashed.At || began.Fence != 1 {
				t.Errorf("%s, %s: died at %d, and the fault is %v", algorithm, text, crashed.At, began)
			}
			if !r.at(when, crashed.Node, crashed.At) {
				t.Errorf("%s, %s: node %d died at %d, not as it has %v", algorithm, text,
					crashed.Node, crashed.At, when)
			}
			for _, e := range r.Events {
				if e.Kind == history.Entered && (e.Count < 1 || e.Count > 1) {
					t.Fatalf("%s, %s: the register says %d", algorithm, text, int32(e.Count))
				}
			}
			if rested := r.Stall == nil && r.Cut == nil; rested && len(r.of(history.Restarted)) == 0 &&
				when != history.Exited && algorithm == "suzuki-kasami" {
				t.Errorf("%s, %s: no node misses the token of the dead node", algorithm, text)
			}
		}
	}
}

// A fault on a named node records no chosen victim, even if an event at another node began the fault.
func TestAMomentElsewhere(t *testing.T) {
	r := plagued(t, "ricart-agrawala", 4, "kill: 2, at: 30ms, when: 0 enters, after: 1ms, for: 10ms")
	crashed, began := r.only(t, history.Crashed), r.only(t, history.FaultBegan)
	if crashed.Node != 2 || began.Entry != 0 || began.At != crashed.At ||
		!r.at(history.Entered, 0, crashed.At-int64(ms)) {
		t.Errorf("%v, %v", crashed, began)
	}
	if back := r.only(t, history.Restarted); back.At != crashed.At+int64(10*ms) {
		t.Errorf("up again at %d", back.At)
	}
}

// A pause inside makes the critical section that much longer. A pause between exit and release delays the
// release.
func TestPausedAtTheVeryMoment(t *testing.T) {
	for _, test := range []struct {
		text string
		when history.Kind
	}{
		{"pause: holder, at: 30ms, for: 40ms", history.Entered},
		{"pause: 1, at: 30ms, for: 40ms, when: 1 exits", history.Exited},
		{"pause: waiter, at: 30ms, for: 40ms", history.Requested},
	} {
		r := plagued(t, "ricart-agrawala", 4, test.text)
		paused, resumed := r.only(t, history.Paused), r.only(t, history.Resumed)
		id := nodes.ID(paused.Count)
		if resumed.At != paused.At+int64(40*ms) || !r.at(test.when, id, paused.At) {
			t.Errorf("%s: %v, %v", test.text, paused, resumed)
		}
		for _, e := range r.Events {
			if e.At <= paused.At || e.At >= resumed.At {
				continue
			}
			if e.Kind == history.Entered && test.when != history.Requested || e.Node == id {
				t.Errorf("%s: while node %d stands still: %v", test.text, id, e)
			}
		}
		if r.Stall != nil || r.Cut != nil {
			t.Errorf("%s: %s %v", test.text, r.Stall, r.Cut)
		}
	}
}

// The fifth token is lost, and no other message.
func TestTheFifthTokenIsLost(t *testing.T) {
	r := plagued(t, "suzuki-kasami", 4, "loss: 100%, kind: token, nth: 5, at: 30ms")
	var dropped, after uint64
	for _, l := range r.Logs {
		for _, in := range l.Instances {
			dropped += in.Dropped
		}
	}
	healed := r.only(t, history.FaultHealed)
	for _, e := range r.of(history.Entered) {
		if e.At > int64(30*ms) {
			after++
		}
	}
	if dropped != 1 || healed.Value != 1 || r.Stall == nil || after < 3 || after > 6 {
		t.Errorf("%d lost, %v, %d entries after: %s", dropped, healed, after, r.Stall)
	}
}

// alarm enters once its timer of 10 ms has run out.
type alarm struct{}

func (alarm) Request(env *nodes.Env)                      { env.SetTimer(nodes.Timer{Kind: 1}, 10*ms, 10*ms) }
func (alarm) Release(*nodes.Env)                          {}
func (alarm) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (alarm) Timeout(env *nodes.Env, _ nodes.Timer)       { env.Grant() }

// waits returns how long each client of the algorithm alarm waited, in the order of its requests.
func waits(t *testing.T, texts ...string) (all [2][]time.Duration) {
	t.Helper()
	o := options(t, "ricart-agrawala", 2, busy)
	o.Stack = stackOf(&algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "alarm",
		New:      func(nodes.Config) nodes.Machine { return &alarm{} },
		Messages: []nodes.MessageKind{{Zero: nothing{}}},
	}}, nodes.Config{N: 2})
	o.Workload.Load = workload.Closed
	o.Workload.Think = chance.Constant(8 * ms)
	suffer(&o, plan(t, texts...)...)
	var since [2]int64
	for _, e := range mustRun(t, o).Events {
		switch e.Kind {
		case history.Requested:
			since[e.Node] = e.At
		case history.Entered:
			all[e.Node] = append(all[e.Node], time.Duration(e.At-since[e.Node]))
		}
	}
	return all
}

// Requests come each 20 ms and wait for 10 ms. The fault hits node 1 in the middle of a wait, and does not
// affect node 0.
func TestClocksChangeTimers(t *testing.T) {
	right := waits(t)
	for _, test := range []struct {
		text string
		want []time.Duration // of the third to the fifth wait
	}{
		{"clock: 1, by: 3ms, at: 53ms", []time.Duration{7 * ms, 10 * ms, 10 * ms}},
		{"clock: 1, by: -3ms, at: 53ms", []time.Duration{13 * ms, 10 * ms, 10 * ms}},
		{"clock: 1, by: 1h, at: 53ms", []time.Duration{5 * ms, 10 * ms, 10 * ms}},
		{"clock: 1, rate: 2, at: 53ms", []time.Duration{7500 * time.Microsecond, 5 * ms, 5 * ms}},
		{"clock: 1, rate: 2, at: 53ms, for: 1ms", []time.Duration{9 * ms, 10 * ms, 10 * ms}},
		{"clock: 1, rate: 0.5, at: 53ms, for: 20ms", []time.Duration{15 * ms, 10 * ms, 10 * ms}},
		{"clock: 1, rate: 1, at: 53ms, for: 20ms", []time.Duration{10 * ms, 10 * ms, 10 * ms}},
	} {
		got := waits(t, test.text)
		if !slices.Equal(got[0], right[0]) {
			t.Errorf("%s: node 0 waits %v instead of %v", test.text, got[0], right[0])
		}
		if !slices.Equal(got[1][2:5], test.want) {
			t.Errorf("%s: node 1 waits %v, not %v", test.text, got[1][2:5], test.want)
		}
	}
	// A second fault that lets the clock jump does not end the wrong rate that the first fault has set.
	got := waits(t, "clock: 1, rate: 2, at: 10ms, for: 100ms", "clock: 1, by: 1ms, at: 20ms")
	if len(got[1]) < 6 || got[1][4] != 5*ms {
		t.Errorf("a jump while the clock runs at twice the rate: %v", got[1])
	}
	// A node that restarts has the wrong clock again, since the clock belongs to its machine.
	got = waits(t, "clock: 1, rate: 2, at: 10ms, for: 150ms", "kill: 1, at: 40ms, for: 10ms")
	if len(got[1]) < 6 || got[1][5] != 5*ms {
		t.Errorf("a restart while the clock runs at twice the rate: %v", got[1])
	}
}

// A fault without effect leaves the history as it is, except for the two events of the fault itself.
func TestFaultsWithoutEffect(t *testing.T) {
	for _, text := range []string{"loss: 0%", "delay: 0s", "reorder: 0s", "duplicate: 0%",
		"clock: 1, rate: 1"} {
		for _, algorithm := range []string{"ricart-agrawala", "suzuki-kasami", "maekawa", "central"} {
			o := options(t, algorithm, 4, busy)
			plain := encoded(t, o)
			suffer(&o, plan(t, text+", at: 10ms, for: 50ms", text+", at: 70ms, for: 100ms")...)
			if !bytes.Equal(encoded(t, o), plain) {
				t.Errorf("%s: %s changes the history", algorithm, text)
			}
		}
	}
}

// Up to two faults at once hit the only node: the run does not hang, and all faults are healed at the end.
func TestFaultsOfOneNode(t *testing.T) {
	for _, texts := range [][]string{
		{"kill: holder, at: 10ms, for: 10ms"}, {"pause: 0, at: 10ms"}, {"slow: 0, share: 90%, at: 10ms"},
		{"kill: holder, at: 10ms, for: 10ms", "pause: holder, at: 10ms, for: 10ms"},
		{"pause: holder, at: 10ms, for: 10ms", "pause: holder, at: 10ms, for: 20ms"},
		{"pause: 0, at: 10ms, for: 20ms", "slow: 0, share: 50%, at: 15ms, for: 25ms"},
		{"kill: successor, at: 10ms, for: 10ms"}, {"clock: 0, by: 1h, at: 10ms"}, {"loss: 5%, at: 10ms"},
		{"pause: 0, at: 10ms, for: 50ms", "kill: 0, at: 20ms, for: 10ms"},
		{"slow: 0, share: 50%, at: 10ms, for: 90ms", "kill: 0, at: 25ms, for: 10ms"},
		{"kill: 0, at: 20ms"},
	} {
		r := plagued(t, "ricart-agrawala", 1, texts...)
		if began := len(r.of(history.FaultBegan)); r.Cut != nil || r.Stall != nil || began != len(texts) {
			t.Errorf("%q: %d faults began, %v, %s", texts, began, r.Cut, r.Stall)
		}
		stops, ends := len(r.of(history.Paused)), len(r.of(history.Resumed))+len(r.of(history.Crashed))
		if stops > ends {
			t.Errorf("%q: stopped %d times, and went on %d times", texts, stops, ends)
		}
	}
}

// A slow node, narrow links, delays and reordering each cost entries, but stall no run.
func TestSlowNodesAndLinks(t *testing.T) {
	fast := len(plagued(t, "ricart-agrawala", 4).of(history.Entered))
	for _, text := range []string{"slow: 1, share: 80%", "bandwidth: 500B", "delay: 5ms",
		"reorder: uniform:5ms,9ms"} {
		r := plagued(t, "ricart-agrawala", 4, text+", at: 1ms, for: 190ms")
		if got := len(r.of(history.Entered)); got > 2*fast/3 || got < 5 || r.Stall != nil {
			t.Errorf("%s: %d entries, and %d without: %s", text, got, fast, r.Stall)
		}
	}
}

// Under any faults and any load, a run ends by itself and does not panic.
func TestRandomPlansNeverHang(t *testing.T) {
	algos, plans := mutex.Table, 300
	if testing.Short() {
		plans = 60
	}
	loads := []workload.Load{workload.Saturated, workload.Closed, workload.Open, workload.Sequential,
		workload.One}
	for seed := range uint64(plans) {
		spec := algos[seed%uint64(len(algos))]
		n := 1 + int(seed/7%6)
		c := nodes.Config{N: n}
		if spec.Validate(c) != nil {
			continue
		}
		o := Options{Stack: stackOf(spec, c), Seed: seed, Duration: 300 * ms}
		o.Workload = workload.Workload{Load: loads[seed%uint64(len(loads))], Hold: chance.Constant(ms),
			Think: chance.Constant(ms), Rate: 200}
		if spec.Detects != "" {
			beside(t, spec.Detects)(&o)
		}
		scene := &chaos.Scene{Spec: spec, Config: c, Stack: o.Stack, Measured: o.Duration,
			Simulated: true}
		p := chaos.RandomPlan(scene, seed)
		faults, err := chaos.Resolve(p.Faults, scene, seed)
		if err != nil {
			t.Errorf("%s with %d nodes, plan %d: %v", spec.Name, n, seed, err)
			continue
		}
		network := chaos.Network{Latency: chance.Constant(ms)}
		s, err := network.Simulated(faults, scene, seed)
		if err != nil {
			t.Fatal(err)
		}
		o.FaultDriver, o.Latency, o.Shaper = s.FaultDriver, s.Latency, s.Shaper
		o.Patience = 20_000
		r := mustRun(t, o)
		what := fmt.Sprintf("%s with %d nodes, plan %d (%v)", spec.Name, n, seed, o.Workload.Load)
		if r.Cut != nil {
			t.Errorf("%s: %v", what, r.Cut)
		}
		limit := time.Minute
		if _, timed := spec.Machine(c, 0).(nodes.Timed); timed {
			limit *= 10 // such a machine retries for ever, so its stall is detected later
		}
		if last := r.Events[len(r.Events)-1].At; last > int64(limit) {
			t.Errorf("%s: it ended at %v", what, time.Duration(last))
		}
		for _, e := range r.of(history.Entered) {
			if int32(e.Count) < 1 {
				t.Errorf("%s: the register says %d", what, int32(e.Count))
			}
		}
	}
}
