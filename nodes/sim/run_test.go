package sim

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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

// stackOf returns the stack of an algorithm and of the instances beside it.
func stackOf(spec *algorithm.Algorithm, c nodes.Config, beside ...algorithm.Instance) *algorithm.Stack {
	s, err := algorithm.Assemble(algorithm.Instance{Algorithm: spec, Config: c}, beside...)
	if err != nil {
		panic(err) // the test itself is wrong
	}
	return s
}

// options returns the options of a run of an algorithm, changed by change.
func options(t testing.TB, algorithm string, n int, change ...func(*Options)) Options {
	t.Helper()
	spec, err := mutex.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Stack: stackOf(spec, nodes.Config{N: n}), Seed: 1, Entries: 200,
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(100 * time.Microsecond)},
		Latency:  time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	return o
}

// A recorded is a run with its history.
type recorded struct {
	*Result
	history.History
}

func mustRun(t testing.TB, o Options) *recorded {
	t.Helper()
	r := &recorded{}
	var err error
	if r.Result, err = Run(o, &r.History); err != nil {
		t.Fatal(err)
	}
	return r
}

// encoded returns the bytes of the history of a run.
func encoded(t testing.TB, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	w := history.NewWriter(&b, history.Header{Nodes: o.Stack.Total()})
	if _, err := Run(o, faultless{w}); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	return b.Bytes()
}

// setting is what the checks must know of a run, costs left aside.
func setting(o Options) check.Setting {
	s := check.SettingOf(o.Stack)
	s.Exact, s.Expected = nil, o.Entries
	return s
}

// verdict judges a run.
func verdict(o Options, r *recorded) check.Verdict { return check.Judge(&r.History, setting(o)) }

// latency returns a network whose messages take that long.
func latency(t testing.TB, text string) (n chaos.Network) {
	t.Helper()
	if err := n.Latency.Set(text); err != nil {
		t.Fatal(err)
	}
	return n
}

// slow has messages take a millisecond on average.
func slow(t testing.TB) func(*Options) {
	return func(o *Options) { over(o, latency(t, "exponential:1ms")) }
}

// stormy has messages lost, doubled and reordered, and a node that crashes and forgets.
func stormy(t testing.TB) func(*Options) {
	n := latency(t, "exponential:1ms")
	amnesia := crash(1, 30*time.Millisecond, 5*time.Millisecond)
	amnesia.Effect.(*effect.Kill).Forget = true
	return func(o *Options) {
		over(o, n, chaos.Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 0.01}}},
			chaos.Fault{Effect: &effect.Duplicate{Of: 0.01}}, amnesia)
		o.Reordering = true
	}
}

// Equal options give equal histories, at any time and on any machine: the checksums below were recorded
// earlier, on amd64.
func TestHistoriesArePinned(t *testing.T) {
	for name, test := range map[string]struct {
		o    Options
		want string
	}{
		"calm": {options(t, "ricart-agrawala", 5),
			"e17ed661dbf67aa4d5c00d8ac6901aa99425bf3366b2feb13baf094bdc858be6"},
		"stormy": {options(t, "suzuki-kasami", 5, stormy(t)),
			"e5e7a95e25cd313c471cf08d803164c0b0157a927fddb3d3b156c2e92a3d9a9c"},
	} {
		once, again := encoded(t, test.o), encoded(t, test.o)
		if !bytes.Equal(once, again) {
			t.Errorf("%s: two runs of equal options differ", name)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(once)); got != test.want {
			t.Errorf("%s: the history's SHA-256 is %s", name, got)
		}
	}
}

func TestLoads(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
	}{
		{"saturated", func(*Options) {}},
		{"fewer entries than nodes", func(o *Options) { o.Entries = 3 }},
		{"one", func(o *Options) { o.Workload.Load = workload.One }},
		{"sequential", func(o *Options) { o.Workload.Load = workload.Sequential }},
		{"closed", func(o *Options) {
			o.Workload.Load = workload.Closed
			o.Workload.Think.Set("exponential:5ms")
		}},
		{"open", func(o *Options) { o.Workload.Load, o.Workload.Rate = workload.Open, 50 }},
		{"for a time", func(o *Options) {
			o.Entries, o.Warmup, o.Duration = 0, 50*time.Millisecond, time.Second
		}},
	} {
		for _, algorithm := range []string{"ricart-agrawala", "token-ring", "central"} {
			t.Run(test.name+" "+algorithm, func(t *testing.T) {
				o := options(t, algorithm, 5, test.change)
				r := mustRun(t, o)
				if v := verdict(o, r); v.Outcome != check.Valid {
					t.Errorf("%v: %s\n%s", v.Outcome, v.Reason, r.Stall)
				}
			})
		}
	}
}

func TestSequentialSettlesEachRequest(t *testing.T) {
	o := options(t, "ricart-agrawala", 5, func(o *Options) { o.Workload.Load = workload.Sequential })
	settled := 0
	for _, e := range mustRun(t, o).Events {
		if e.Kind == history.Settled {
			settled++
			if e.Value != 8 {
				t.Fatalf("a request took %d messages, not 8", e.Value)
			}
		}
	}
	if settled != int(o.Entries) {
		t.Errorf("%d requests settled, not %d", settled, o.Entries)
	}
}

// The synchronization delay of an algorithm shows when nothing but latency takes time: one entry takes its
// hold and the delay.
func TestVirtualTimeIsExact(t *testing.T) {
	for algorithm, hops := range map[string]time.Duration{
		"ricart-agrawala": 1, "lamport": 1, "central": 2, "token-ring": 1} {
		o := options(t, algorithm, 5)
		var entered []int64
		for _, e := range mustRun(t, o).Events {
			if e.Kind == history.Entered {
				entered = append(entered, e.At)
			}
		}
		steady := entered[20:180]
		got := time.Duration(steady[len(steady)-1]-steady[0]) / time.Duration(len(steady)-1)
		if want := 100*time.Microsecond + hops*time.Millisecond; got != want {
			t.Errorf("%s: an entry every %v, not every %v", algorithm, got, want)
		}
	}
}

func TestCrashStallsWhatRestsOnNoCrash(t *testing.T) {
	o := options(t, "ricart-agrawala", 4, func(o *Options) {
		suffer(o, crash(2, 20*time.Millisecond, 0))
	})
	r := mustRun(t, o)
	v := verdict(o, r)
	if v.Outcome != check.Inconclusive || !v.OutsideModel || !strings.Contains(v.Reason, "no node crashes") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
	says := r.Stall.String()
	if !strings.Contains(says, "node 2: does not answer") || !strings.Contains(says, "0 -> 2") {
		t.Errorf("the report of the stall is\n%s", r.Stall)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for says, change := range map[string]func(*Options){
		"never end":   func(o *Options) { o.Entries = 0 },
		"a rate of 0": func(o *Options) { o.Workload.Load = workload.Open },
	} {
		_, err := Run(options(t, "ricart-agrawala", 3, change))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, which does not say %q", err, says)
		}
	}
}

// An interrupter interrupts a run when somebody has left.
type interrupter struct{ interrupt chan struct{} }

func (i *interrupter) Add(e history.Event) {
	if e.Kind == history.Exited && i.interrupt != nil {
		close(i.interrupt)
		i.interrupt = nil
	}
}

func (i *interrupter) Close([]*history.NodeLog) {}

// TestCutShort: a run that is interrupted, lasts too long or plans too many events ends at once. The part of
// an interrupted run until then can be judged.
func TestCutShort(t *testing.T) {
	interrupt := make(chan struct{})
	o := options(t, "central", 3, func(o *Options) {
		o.Entries = 1 << 40
		o.Interrupt = interrupt
	})
	r := &recorded{}
	var err error
	if r.Result, err = Run(o, &r.History, &interrupter{interrupt}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(r.Cut, ErrInterrupted) {
		t.Errorf("an interrupted run was cut by %v", r.Cut)
	}
	if v := verdict(o, r); v.Outcome != check.Inconclusive || r.Deliveries == 0 {
		t.Errorf("an interrupted run of %d deliveries is %v: %s", r.Deliveries, v.Outcome, v.Reason)
	}
	o.Interrupt = nil
	ages := options(t, "central", 2, func(o *Options) {
		o.Workload.Hold, o.Entries = chance.Constant(24*time.Hour), 40_000
	})
	if r = mustRun(t, ages); !errors.Is(r.Cut, errTooLong) || r.Events[len(r.Events)-1].At < 0 {
		t.Errorf("more than a hundred years were cut by %v", r.Cut)
	}
	w := newWorld(o)
	w.queue.size = mostPending + 1
	if w.watch() == nil {
		t.Error("messages without end are let be")
	}
}

// TestLongIdle: messages that circulate while no client waits do not count for Patience.
func TestLongIdle(t *testing.T) {
	r := mustRun(t, options(t, "token-ring", 2, func(o *Options) {
		o.Entries, o.Patience = 3, 1000
		o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(10*time.Second)
	}))
	if r.Stall != nil {
		t.Error(r.Stall)
	}
}

// TestSequentialDown: under a sequential load, nodes that are up take the turns of nodes that are down.
func TestSequentialDown(t *testing.T) {
	o := options(t, "central", 3, func(o *Options) {
		o.Workload.Load = workload.Sequential
		suffer(o, crash(2, 0, 0)) // node 2 is not the first to be drawn
	})
	r := mustRun(t, o)
	entries := uint64(0)
	for _, l := range r.Logs[1:] {
		entries += l.Sum().Entries
	}
	if entries != o.Entries {
		t.Errorf("%d entries of %d", entries, o.Entries)
	}
}

// TestLastIsIssued: the request that ends an open load was made, and is not recorded as unissued.
func TestLastIsIssued(t *testing.T) {
	r := mustRun(t, options(t, "central", 1, func(o *Options) {
		o.Entries = 50
		o.Workload.Load, o.Workload.Rate, o.Workload.Evenly = workload.Open, 1000, true
	}))
	asked := map[int64]bool{}
	for _, e := range r.Events {
		if e.Kind == history.Requested {
			asked[e.Value] = true
		}
		if e.Kind == history.Unissued && asked[e.Value] {
			t.Errorf("the request due at %d was made and is said not to be", e.Value)
		}
	}
}

// Measuring in a brief run ends with its last request, not with later events.
func TestBriefRunEndsWithItsLastRequest(t *testing.T) {
	o := options(t, "central", 5, func(o *Options) {
		o.Entries = 20
		suffer(o, crash(0, time.Hour, 0))
	})
	s := section.New(0, nil)
	if _, err := Run(o, s); err != nil {
		t.Fatal(err)
	}
	if stopped := s.Marks[history.Stopped]; !stopped.Seen || stopped.At > int64(time.Second) {
		t.Errorf("what is measured ends at %v (%v)", time.Duration(stopped.At), stopped.Seen)
	}
}

// A quitter does something that it must not when its client asks.
type quitter struct{ slip func(*nodes.Env) }

type nothing struct{}

func (q *quitter) Request(env *nodes.Env)                      { q.slip(env) }
func (q *quitter) Release(*nodes.Env)                          {}
func (q *quitter) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func quitters(slip func(*nodes.Env)) *algorithm.Algorithm {
	return &algorithm.Algorithm{
		Spec: nodes.Spec{Name: "quitter", Messages: []nodes.MessageKind{{Zero: nothing{}}},
			New: func(nodes.Config) nodes.Machine { return &quitter{slip} }},
		Mutex: &algorithm.Exclusion{Cost: func(nodes.Config) algorithm.Cost { return algorithm.Cost{} }},
	}
}

// A machine that panics ends the run. The run says where, and keeps the events before.
func TestPanicEndsTheRun(t *testing.T) {
	unlisted := *options(t, "ricart-agrawala", 2).Stack.Instances()[0].Algorithm
	unlisted.Messages = unlisted.Messages[:1]
	for want, spec := range map[string]*algorithm.Algorithm{
		": out of luck":          quitters(func(*nodes.Env) { panic("out of luck") }),
		"(ricart_agrawala.go:":   &unlisted,
		"node 7, which does not": quitters(func(env *nodes.Env) { env.Send(7, nothing{}) }),
		"chooses one of 0":       quitters(func(env *nodes.Env) { env.Choose(0) }),
	} {
		o := options(t, "lamport", 2, func(o *Options) {
			o.Stack, o.Entries, o.Workload.Load = stackOf(spec, nodes.Config{N: 2}), 100, workload.Sequential
		})
		r := mustRun(t, o)
		var p *Panic
		if !errors.As(r.Cut, &p) || !strings.Contains(p.Error(), " panicked after ") ||
			!strings.Contains(p.Error(), want) {
			t.Errorf("%v, want %s", r.Cut, want)
		}
		if v := verdict(o, r); v.Outcome != check.Inconclusive {
			t.Errorf("%s: judged %v: %s", want, v.Outcome, v.Reason)
		}
	}
}
