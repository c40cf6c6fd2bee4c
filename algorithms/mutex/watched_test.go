package mutex

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// A watched machine has an observer around each of its handlers.
type watched struct {
	machine nodes.Machine
	around  observer
}

// An observer gets the machine, the message that the machine receives (or nil), and the handler to call once.
type observer func(m nodes.Machine, received nodes.Message, handle func())

func (w *watched) Start(env *nodes.Env) {
	if s, ok := w.machine.(nodes.Starter); ok {
		w.around(w.machine, nil, func() { s.Start(env) })
	}
}

func (w *watched) Request(env *nodes.Env) {
	w.around(w.machine, nil, func() { w.machine.(nodes.Mutex).Request(env) })
}

func (w *watched) Release(env *nodes.Env) {
	w.around(w.machine, nil, func() { w.machine.(nodes.Mutex).Release(env) })
}

func (w *watched) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	w.around(w.machine, m, func() { w.machine.Receive(env, from, m) })
}

func (w *watched) Timeout(env *nodes.Env, t nodes.Timer) {
	w.around(w.machine, nil, func() { w.machine.(nodes.Timed).Timeout(env, t) })
}

func (w *watched) Suspect(env *nodes.Env, peer nodes.ID) {
	w.around(w.machine, nil, func() { w.machine.(nodes.Suspecter).Suspect(env, peer) })
}

func (w *watched) Trust(env *nodes.Env, peer nodes.ID) {
	w.around(w.machine, nil, func() { w.machine.(nodes.Truster).Trust(env, peer) })
}

// runWatched simulates an algorithm and has its machines watched. The error says why the run ended early.
func runWatched(t *testing.T, algo *algorithm.Algorithm, n int, seed uint64, around observer) error {
	t.Helper()
	r, err := sim.Run(watchedOptions(algo, nodes.Config{N: n}, seed, around))
	if err != nil {
		t.Fatal(err)
	}
	return r.Cut
}

// watchedOptions returns a run of an algorithm that has its machines watched. The run copies and reorders
// messages if the model of the algorithm allows that.
func watchedOptions(algo *algorithm.Algorithm, c nodes.Config, seed uint64, around observer) sim.Options {
	w := *algo
	w.New = func(c nodes.Config) nodes.Machine { return &watched{algo.New(c), around} }
	w.NewServer = func(c nodes.Config, id nodes.ID) nodes.Machine {
		return &watched{algo.NewServer(c, id), around}
	}
	var faults []chaos.Fault
	if (algo.Safe|algo.Live)&nodes.NoDuplication == 0 {
		faults = append(faults, chaos.Fault{Effect: &effect.Duplicate{Of: 0.3}})
	}
	o := sim.Options{Stack: algotest.StackOf(&w, c), Seed: seed, Entries: 60,
		Reordering: algo.Safe&nodes.FIFO == 0,
		Workload: workload.Workload{Load: workload.Closed, Think: algotest.Drawn("exponential:4ms"),
			Hold: chance.Constant(time.Millisecond)}}
	algotest.Over(&o, algotest.NetworkOf("exponential:1ms"), faults...)
	return o
}

// A singleEntry is an entry that was the only one asked for.
type singleEntry struct {
	node     nodes.ID
	messages int
}

// singleEntries has nodes drawn at random enter one after another, with all at rest in between.
func singleEntries(t *testing.T, algo *algorithm.Algorithm, c nodes.Config, count int) (all []singleEntry) {
	t.Helper()
	h := &history.History{}
	_, err := sim.Run(sim.Options{Stack: algotest.StackOf(algo, c), Seed: 1, Entries: uint64(count),
		Latency: time.Millisecond, Workload: workload.Workload{Load: workload.Sequential}}, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		if e.Kind == history.Settled {
			all = append(all, singleEntry{nodes.ID(e.Count), int(e.Value)})
		}
	}
	if len(all) != count {
		t.Fatalf("%d entries, want %d", len(all), count)
	}
	return all
}
