package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

const ms = time.Millisecond

// beside puts a failure detector beside the algorithm.
func beside(t testing.TB, text string) func(*Options) {
	return func(o *Options) {
		in, err := detector.Parse(text, o.Stack.N(), nodes.Delays{})
		if err != nil {
			t.Fatal(err)
		}
		all := o.Stack.Instances()
		o.Stack = stackOf(all[0].Algorithm, all[0].Config, append(all[1:len(all):len(all)], in)...)
	}
}

// thinking is a light load for two seconds.
func thinking(o *Options) {
	o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(20*ms)
	o.Entries, o.Duration, o.Latency = 0, 2*time.Second, 5*ms
}

// An opinion says when the detector of a node began to suspect another node, or to trust it again.
type opinion struct {
	by, of nodes.ID
	at     time.Duration
}

func (r *recorded) opinions(kind history.Kind) (all []opinion) {
	for _, e := range r.Events {
		if e.Kind == kind {
			all = append(all, opinion{e.Node, nodes.ID(e.Count), time.Duration(e.At)})
		}
	}
	return all
}

// All other nodes, servers too, suspect a crashed node or server in time, and trust it once it is up again.
// They suspect no other node.
func TestCrashesAreDetected(t *testing.T) {
	const latency, crash, down = 5 * ms, 333 * ms, 700 * ms
	for _, test := range []struct {
		detector      string
		detect, trust time.Duration
	}{
		{"heartbeat:period=50ms,timeout=200ms", 250*ms + latency, 50*ms + latency},
		{"heartbeat:period=50ms,timeout=200ms,adapt=1s", 250*ms + latency, 50*ms + latency},
		{"probe:period=50ms,timeout=200ms", 250 * ms, 50*ms + 2*latency},
		// The mean is 10 ticks of 5ms, the least deviation 4: 35 ticks are more than 5.6 deviations above.
		{"phi:period=50ms,deviation=20ms", 175*ms + latency, 50*ms + latency},
		// A peer probes the node within two rounds of 4 periods, for 1 period; the node has 3 periods to refute.
		{"swim:period=50ms,timeout=15ms,suspicion=1", 12 * 50 * ms, 4 * 50 * ms},
		{"swim:period=50ms,timeout=15ms,suspicion=0,order=random,in-step=yes", 12 * 50 * ms, 4 * 50 * ms},
		{"perfect:delay=7ms", 7 * ms, 7 * ms},
	} {
		for _, id := range []nodes.ID{0, 2, 4} { // 4 is the server
			o := options(t, "central", 4, thinking, beside(t, test.detector))
			suffer(&o, chaos.Fault{Effect: &effect.Kill{Who: effect.Target{List: nodes.Group{id}}},
				Schedule: chaos.Schedule{At: crash, For: down}})
			r := mustRun(t, o)
			suspected, trusted := r.opinions(history.Suspected), r.opinions(history.Trusted)
			if len(suspected) != 4 || len(trusted) != 4 {
				t.Errorf("%s: %v, %v", test.detector, suspected, trusted)
			}
			for _, s := range suspected {
				if s.of != id || s.at < crash || s.at > crash+test.detect {
					t.Errorf("%s: node %d went down at %v, and node %d suspects %d at %v", test.detector, id, crash,
						s.by, s.of, s.at)
				}
			}
			for _, s := range trusted {
				if s.of != id || s.at < crash+down || s.at > crash+down+test.trust {
					t.Errorf("%s: %d trusts %d at %v", test.detector, s.by, s.of, s.at)
				}
			}
		}
	}
}

// A node that comes up again learns which nodes are still down.
func TestWhoComesUpLearnsWhoIsDown(t *testing.T) {
	for _, text := range []string{"heartbeat", "probe", "phi", "swim", "perfect"} {
		o := options(t, "ricart", 4, thinking, beside(t, text))
		suffer(&o, crash(1, 100*ms, 0), crash(2, 120*ms, 20*ms))
		r := mustRun(t, o)
		if got := len(r.opinions(history.Suspected)); got < 3 || r.Cut != nil {
			t.Errorf("%s: %v, %v", text, r.opinions(history.Suspected), r.Cut)
		}
		last := r.opinions(history.Suspected)
		if !knows(last, 2, 1) || !knows(last, 0, 1) || !knows(last, 3, 1) {
			t.Errorf("%s: not all suspect node 1: %v", text, last)
		}
	}
}

func knows(all []opinion, by, of nodes.ID) bool {
	for _, o := range all {
		if o.by == by && o.of == of {
			return true
		}
	}
	return false
}

// A node is not suspected if its messages take less than the timeout, and all equally long.
func TestNobodyIsSuspectedWronglyInTime(t *testing.T) {
	for _, test := range []struct {
		detector string
		latency  time.Duration
		wrong    bool
	}{
		{"heartbeat:period=50ms,timeout=200ms", 199 * ms, false},
		{"heartbeat:period=50ms,timeout=200ms", 251 * ms, true},
		{"probe:period=50ms,timeout=200ms", 99 * ms, false},
		{"probe:period=50ms,timeout=200ms", 126 * ms, true},
		{"phi:period=50ms,deviation=40ms", 270 * ms, false}, // it waits for the first heartbeat
		{"phi:period=50ms,deviation=40ms", 290 * ms, true},
		{"swim:period=50ms,timeout=15ms,suspicion=0", 24 * ms, false},
		{"swim:period=50ms,timeout=15ms,suspicion=0", 26 * ms, true},
		{"swim:period=50ms,timeout=15ms", 60 * ms, false}, // a suspected node refutes it in time
		{"perfect:delay=0s", time.Second, false},
	} {
		for seed := range uint64(5) {
			o := options(t, "ricart", 5, thinking, beside(t, test.detector))
			o.Latency, o.Duration, o.Seed = test.latency, 5*time.Second, seed
			if got := mustRun(t, o).opinions(history.Suspected); (len(got) > 0) != test.wrong {
				t.Errorf("%s, %v: %v", test.detector, test.latency, got)
			}
		}
	}
}

// A node that stands still is suspected wrongly, which breaks the assumption of a perfect detector, and is
// trusted again. Its own pause does not make it suspect other nodes.
func TestPausesAreTakenForCrashes(t *testing.T) {
	for text, within := range map[string]time.Duration{"heartbeat:period=50ms,timeout=200ms": 260 * ms,
		"probe:period=50ms,timeout=200ms": 260 * ms, "phi:period=50ms,deviation=30ms": 260 * ms,
		"swim:period=50ms,timeout=15ms,suspicion=1": 400 * ms} {
		o := options(t, "ricart", 4, thinking, beside(t, text))
		suffer(&o, chaos.Fault{Effect: &effect.Pause{Who: effect.Target{List: nodes.Group{1}}},
			Schedule: chaos.Schedule{At: 500 * ms, For: 600 * ms}})
		r := mustRun(t, o)
		suspected, trusted := r.opinions(history.Suspected), r.opinions(history.Trusted)
		if len(suspected) != 3 || len(trusted) != 3 {
			t.Fatalf("%s: %v, %v", text, suspected, trusted)
		}
		for i := range suspected {
			if s, back := suspected[i], trusted[i]; s.of != 1 || s.at < 600*ms || s.at > 500*ms+within ||
				back.of != 1 || back.at < 1100*ms || back.at > 1160*ms {
				t.Errorf("%s: %v, %v", text, s, back)
			}
		}
		f := check.Sections(history.Header{}, check.Setting{})
		r.Run(f)
		if f.Wrong != 3 || f.Suspicions != 3 || f.Detected+f.Undetected > 0 {
			t.Errorf("%s: %+v", text, f.Detection)
		}
		wrong := section.Wrong{By: suspected[0].by, Of: 1,
			Window: section.Window{From: int64(suspected[0].at), To: int64(trusted[2].at)}}
		if len(f.Wrongs) != 1 || f.Wrongs[0] != wrong {
			t.Errorf("%s: a node that was up was suspected at %v, not %v", text, f.Wrongs, wrong)
		}
	}
}

// If messages take longer than the timeout, a detector that adapts stops suspecting in the end, and a
// detector that does not adapt goes on.
func TestAdaptingDetectorsBecomePerfect(t *testing.T) {
	for _, name := range []string{"heartbeat", "probe"} {
		for adapt, most := range map[string]int{"0s": 1e6, "50ms": 12 * 13} { // 13 steps turn 100ms into 750ms
			least := map[bool]int{true: 500, false: 1}[adapt == "0s"]
			o := options(t, "ricart", 4, thinking, beside(t, name+":period=50ms,timeout=100ms,adapt="+adapt))
			o.Duration = 60 * time.Second
			network := chaos.Network{Latency: uniform("10ms,300ms")}
			over(&o, network)
			if got := len(mustRun(t, o).opinions(history.Suspected)); got < least || got > most {
				t.Errorf("%s, adapt %s: %d suspicions in a minute", name, adapt, got)
			}
		}
	}
}

func uniform(text string) (d chance.Distribution) {
	if err := d.Set("uniform:" + text); err != nil {
		panic(err)
	}
	return d
}

// A detector beside an algorithm changes neither what the algorithm does, nor that it comes to rest.
func TestDetectorsChangeNothingBeside(t *testing.T) {
	for _, algo := range mutex.Table {
		algorithm := algo.Name
		if algo.Flaw != nil {
			continue
		}
		for _, load := range []workload.Load{workload.Saturated, workload.Sequential, workload.Closed} {
			alone := options(t, algorithm, 5)
			alone.Workload.Load, alone.Workload.Think = load, chance.Constant(30*ms)
			want := mustRun(t, alone)
			for _, text := range []string{"heartbeat:period=10ms,timeout=50ms", "probe:period=10ms,timeout=50ms",
				"swim:period=10ms,timeout=3ms", "perfect"} {
				o := alone
				beside(t, text)(&o)
				r := mustRun(t, o)
				if got := told(r); got != told(want) || r.Stall != nil {
					t.Errorf("%s beside %s, %s: another history\n%s", text, algorithm, load, r.Stall)
				}
				sum, sent := history.Sum(r.Logs), uint64(0)
				for i, k := range sum.Kinds {
					if k.Sent != k.Delivered && algorithm != "token-ring" {
						t.Errorf("%s: of kind %d, %d were sent and %d delivered", text, i, k.Sent, k.Delivered)
					}
					sent += k.Sent
				}
				if text != "perfect" && sent <= want.Deliveries {
					t.Errorf("%s beside %s, %s: no heartbeats", text, algorithm, load)
				}
			}
		}
	}
}

// told prints the events of a history, except Rested, which comes later if the detectors come to rest last.
func told(r *recorded) string {
	rested := history.Event{Kind: history.Marked, Count: history.Rested, Node: nodes.None}
	return fmt.Sprint(slices.DeleteFunc(slices.Clone(r.Events), func(e history.Event) bool {
		e.At = 0
		return e == rested
	}), len(r.Events))
}

// A deadlock is found with a detector beside the algorithm, as without one.
func TestStallsAreFoundBesideDetectors(t *testing.T) {
	for _, text := range []string{"", "heartbeat", "probe", "phi", "swim", "perfect",
		"heartbeat:period=1ms,timeout=2ms"} {
		stalls := 0
		for seed := range uint64(20) {
			o := options(t, "maekawa-textbook", 9)
			o.Seed = seed
			over(&o, chaos.Network{Latency: uniform("10us,3ms")})
			if text != "" {
				beside(t, text)(&o)
			}
			r := mustRun(t, o)
			if r.Stall == nil {
				continue
			}
			stalls++
			if !slices.ContainsFunc(r.Events, func(e history.Event) bool {
				return e.Kind == history.Marked && e.Count == history.Stalled && e.Value == 0
			}) {
				t.Errorf("%s: the stall is not on record", text)
			}
		}
		if stalls == 0 {
			t.Errorf("beside %q nothing stalls", text)
		}
	}
}

// A run counts as stalled only after the detectors noticed the crash: the algorithm might then go on.
func TestStallsAreNotCalledBeforeDetectorsHaveSpoken(t *testing.T) {
	for _, text := range []string{"heartbeat", "probe:period=1s,timeout=20s", "phi:period=1s,deviation=10s",
		"swim:suspicion=100", "perfect:delay=1m"} {
		o := options(t, "ricart", 4, beside(t, text))
		suffer(&o, crash(3, 50*ms, 0))
		r := mustRun(t, o)
		if got := r.opinions(history.Suspected); len(got) != 3 || r.Stall == nil {
			t.Errorf("%s: %v, stall %q", text, got, r.Stall)
		}
	}
}

// A mutex that hears of suspicions goes on without nodes that are down, and asks nodes that are up again.
func TestMutexesHearOfSuspicions(t *testing.T) {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "heir",
		New:      func(nodes.Config) nodes.Machine { return &heir{} },
		Messages: []nodes.MessageKind{{Zero: heirAsk{}}},
		Live:     nodes.NoLoss,
	}}
	for _, text := range []string{"heartbeat", "probe", "phi", "swim", "perfect"} {
		o := Options{Stack: stackOf(spec, nodes.Config{N: 3}), Seed: 1, Entries: 40, Latency: ms,
			Workload: workload.Workload{Load: workload.One, Think: chance.Constant(ms)}}
		beside(t, text)(&o)
		suffer(&o, crash(1, 20*ms, 0), crash(2, 3*time.Second, time.Second))
		r := mustRun(t, o)
		entries := 0
		for _, e := range r.Events {
			if e.Kind == history.Entered {
				entries++
			}
		}
		if r.Stall != nil || entries != int(o.Entries) {
			t.Errorf("%s: %d entries\n%s", text, entries, r.Stall)
		}
	}
}

// An heir is a mutex of node 0 that asks every other node that it does not suspect.
type heir struct {
	waits     bool
	asked     nodes.Set
	suspected nodes.Set
}

type heirAsk struct{ Answer bool }

func (h *heir) Request(env *nodes.Env) {
	h.waits, h.asked = true, env.Peers()
	for id := range h.suspected.All() {
		h.asked.Remove(id)
	}
	for id := range h.asked.All() {
		env.Send(id, heirAsk{})
	}
	h.enter(env)
}

func (h *heir) Release(*nodes.Env) {}

func (h *heir) enter(env *nodes.Env) {
	if h.waits && h.asked.Empty() {
		h.waits = false
		env.Grant()
	}
}

func (h *heir) Suspect(env *nodes.Env, peer nodes.ID) {
	h.suspected.Add(peer)
	h.asked.Remove(peer)
	h.enter(env)
}

func (h *heir) Trust(_ *nodes.Env, peer nodes.ID) { h.suspected.Remove(peer) }

func (h *heir) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if !m.(heirAsk).Answer {
		env.Send(from, heirAsk{Answer: true})
		return
	}
	h.asked.Remove(from)
	h.enter(env)
}
