package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// fairSpaces are those in which the fairness of an algorithm is explored.
func fairSpaces(spec *algorithm.Algorithm) (all []Space) {
	type size struct{ nodes, entries int }
	usual := []size{{2, 2}, {2, 3}, {3, 1}, {3, 2}}
	for _, size := range soak.Pick(usual, usual, append(usual, size{3, 3}, size{4, 1}, size{4, 2})) {
		o := Space{Spec: spec, Config: nodes.Config{N: size.nodes}, Entries: size.entries,
			Checks: []string{replay.CheckFairness}}
		if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // or late messages put it outside its model
			o.Timing = timing(ms, ms)
		}
		all = append(all, o)
	}
	return all
}

// In every order of events, each algorithm is as fair as it promises. Spaces of three nodes are explored up
// to a bound, and to their end by make soak.
func TestAlgorithmsAreFairInAnyOrder(t *testing.T) {
	for _, spec := range mutex.Table {
		if spec.Exclusion().Bypass == nil {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, o := range fairSpaces(spec) {
				o.States, o.Memory = soak.Pick[uint64](2000, 20_000, 5_000_000), 1<<30
				if spec.Circulates {
					o.Depth = 60
				}
				if x := explore(t, o); x.Violation != nil {
					t.Errorf("%+v, %d entries: %s\n%s", o.Config, o.Entries, x.Violation.Says,
						strings.Join(x.Violation.Story, "\n"))
				}
			}
		})
	}
}

// With three nodes, every fair algorithm is found to break a promise that no request is ever passed over
// (fairest).
func TestWhoIsPassedOverIsSeen(t *testing.T) {
	for _, spec := range mutex.Table {
		if spec.Exclusion().Bypass == nil {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fairer := fairest(spec)
			o := Space{Spec: fairer, Config: nodes.Config{N: 3}, Entries: 1,
				Checks: []string{replay.CheckFairness}, States: 100_000}
			if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // else it tries again and again
				o.Timing = timing(ms, ms)
			}
			x := explore(t, o)
			if x.Violation == nil || x.Violation.Check != replay.CheckFairness || len(x.Violation.Story) == 0 {
				t.Fatalf("%+v", x)
			}
			r, err := replay.Play(x.Violation.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			if v := check.Judge(r.History, check.SettingOfReplay(r.Stack)); !v.Violates("fairness") {
				t.Errorf("replayed, there is %+v", v)
			}
		})
	}
}

// A plain search finds the same, for any checks.
func TestChecksFindWhatAPlainSearchFinds(t *testing.T) {
	for name, checks := range map[string][]string{
		"central":          {replay.CheckFairness},
		"ricart-agrawala":  {replay.CheckFairness, replay.CheckExclusion},
		"raymond":          ofClients,
		"naive-broadcast":  {replay.CheckStarvation},
		"maekawa-textbook": {replay.CheckExclusion},
	} {
		for _, o := range columns(algorithmOf(t, name)) {
			o.Checks = checks
			if o.Config.N > 2 || o.Crashes > 0 {
				continue
			}
			agree(t, o)
			if o.Spec.Exclusion().Bypass != nil && slices.Contains(checks, replay.CheckFairness) {
				o.Spec = fairest(o.Spec)
				agree(t, o)
			}
		}
	}
}

// A deadlock that takes fewer steps does not hide what else is wrong.
func TestOnlyWhatIsLookedForIsFound(t *testing.T) {
	naive := Space{Spec: algorithmOf(t, "naive-broadcast"), Config: nodes.Config{N: 2}, Entries: 1}
	for check, found := range map[string]bool{replay.CheckExclusion: true, replay.CheckDeadlock: false,
		replay.CheckStarvation: false, replay.CheckPanic: false} {
		naive.Checks = []string{check}
		x := explore(t, naive)
		if (x.Violation != nil) != found || x.Exhausted == found ||
			x.Progress != (check == replay.CheckStarvation) {
			t.Errorf("%s of naive-broadcast: %+v", check, x)
		}
	}
	textbook := Space{Spec: algorithmOf(t, "maekawa-textbook"), Config: nodes.Config{N: 4}, Entries: 1,
		States: 500_000}
	for check, want := range map[string]string{replay.CheckExclusion: "",
		replay.CheckDeadlock: replay.CheckDeadlock} {
		textbook.Checks = []string{check}
		x := explore(t, textbook)
		got := ""
		if x.Violation != nil {
			got = x.Violation.Check
		}
		if got != want {
			t.Errorf("%s of maekawa-textbook: %+v", check, x)
		}
	}
}

// ofClients are the checks of algorithms of mutual exclusion.
var ofClients = []string{replay.CheckExclusion, replay.CheckPanic, replay.CheckDeadlock,
	replay.CheckStarvation, replay.CheckFairness}

// fairest is an algorithm that promises that nobody is ever passed over.
func fairest(spec *algorithm.Algorithm) *algorithm.Algorithm {
	fairer, promised := *spec, *spec.Exclusion()
	promised.Bypass = func(nodes.Config) int { return 0 }
	fairer.Mutex = &promised
	return &fairer
}

// An heir is one of two nodes. Node 0 lends the permission, and node 1 asks it, as long as each takes the
// other for alive. A node that is alone needs no permission. With a perfect detector that is safe.
type heir struct {
	wants, alone bool // the client waits; the other node is down
	lent, asked  bool // of node 0: node 1 has the permission, or waits for it
	inside       bool
}

type (
	heAsk  struct{}
	heLend struct{}
	heBack struct{}
)

func (h *heir) Request(env *nodes.Env) {
	h.wants = true
	if env.Self() == 1 && !h.alone {
		env.Send(0, heAsk{})
	}
	h.serve(env)
}

func (h *heir) Release(env *nodes.Env) {
	h.inside = false
	if env.Self() == 1 && !h.alone {
		env.Send(0, heBack{})
	}
	h.serve(env)
}

func (h *heir) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m.(type) {
	case heAsk:
		h.asked = true
	case heBack:
		h.lent = false
	case heLend:
		h.enter(env)
	}
	h.serve(env)
}

func (h *heir) enter(env *nodes.Env) {
	if h.wants {
		h.wants, h.inside = false, true
		env.Grant()
	}
}

// serve lets the client in if nobody else can be inside, or else lends the permission.
func (h *heir) serve(env *nodes.Env) {
	if !h.inside && (h.alone || env.Self() == 0 && !h.lent) {
		h.enter(env)
	}
	if h.asked && !h.inside && !h.lent {
		h.lent, h.asked = true, false
		env.Send(1, heLend{})
	}
}

func (h *heir) Suspect(env *nodes.Env, _ nodes.ID) {
	h.alone, h.lent, h.asked = true, false, false
	h.serve(env)
}

// A shy node lets nobody in while it suspects anybody.
type shy struct{ wants, suspects bool }

func (s *shy) Request(env *nodes.Env)                      { s.wants = true; s.serve(env) }
func (s *shy) Release(*nodes.Env)                          {}
func (s *shy) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (s *shy) Suspect(*nodes.Env, nodes.ID)                { s.suspects = true }
func (s *shy) serve(env *nodes.Env) {
	if s.wants && !s.suspects {
		s.wants = false
		env.Grant()
	}
}

// A trusting node is a shy node that lets its client in once the suspicion is taken back.
type trusting struct{ shy }

func (s *trusting) Trust(env *nodes.Env, _ nodes.ID) { s.suspects = false; s.serve(env) }

// listeners returns options that explore two machines that listen to a failure detector.
func listeners(machine func() nodes.Machine, safe, live nodes.Assumption) Space {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "listener",
		Safe:     safe,
		Live:     live,
		Messages: []nodes.MessageKind{{Zero: heAsk{}}, {Zero: heLend{}}, {Zero: heBack{}}},
		New:      func(nodes.Config) nodes.Machine { return machine() },
	}}
	return Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 2}
}

func heirs() Space {
	return listeners(func() nodes.Machine { return &heir{} }, nodes.PerfectDetector, nodes.NoLoss)
}

func shyOnes() Space {
	return listeners(func() nodes.Machine { return &shy{} }, 0, 0)
}

func trustingOnes() Space {
	return listeners(func() nodes.Machine { return &trusting{} }, 0, 0)
}

// After a crash each node hears of it at some time, and until then no state is a deadlock.
func TestPerfectDetectorIsPlayed(t *testing.T) {
	o := heirs()
	o.Crashes = 2
	x := agree(t, o)
	if !x.Exhausted || !x.Progress || x.Violation != nil || x.Outside > 0 {
		t.Errorf("%+v", x)
	}
}

// After one wrong suspicion two clients are inside. This is outside the model of an algorithm that needs a
// perfect detector, but inside the model of one that needs an eventual detector.
func TestWrongSuspicion(t *testing.T) {
	const story = `node 0 asks
node 0 enters
node 1 asks and sends ask to node 0
node 1 suspects node 0, which is up
node 1 enters: INSIDE TOGETHER WITH 0
broken: exclusion`
	o := heirs()
	o.Suspicions = 1
	x := agree(t, o)
	if v := x.FirstOutside; x.Violation != nil || v == nil || v.OutsideModel != nodes.PerfectDetector {
		t.Fatalf("%+v", x)
	}
	o.Spec.Safe = nodes.EventualDetector
	x = agree(t, o)
	if x.Violation == nil || strings.TrimSpace(replay.Told(x.Violation.Story, x.Violation.Check, 0)) != story {
		t.Errorf("%+v", x.Violation)
	}
	replays(t, o.Spec, x.Violation)
}

// A state is a deadlock when the detector has told all that it has to tell, and not before.
func TestDetectorTellsAllBeforeADeadlock(t *testing.T) {
	o := shyOnes()
	o.Checks = []string{replay.CheckDeadlock, replay.CheckStarvation}
	for _, c := range []struct {
		o                   Space
		crashes, suspicions int
		restarts            bool
		ends                string
	}{
		{trustingOnes(), 0, 2, false, ""},
		{shyOnes(), 0, 1, false, "suspect 0>1; req 0; trust 0>1"},
		{trustingOnes(), 1, 0, false, "crash 0; suspect 1>0; req 1"},
		{shyOnes(), 1, 0, true, "crash 0; suspect 1>0; req 1"},
	} {
		c.o.Entries, c.o.Checks = 1, o.Checks
		c.o.Crashes, c.o.Suspicions, c.o.Restarts = c.crashes, c.suspicions, c.restarts
		x := agree(t, c.o)
		got := ""
		if x.Violation != nil {
			replays(t, c.o.Spec, x.Violation)
			var steps []string
			for _, s := range x.Violation.Schedule.Steps {
				steps = append(steps, s.String())
			}
			got = strings.Join(steps, "; ")
		}
		if got != c.ends {
			t.Errorf("%+v\nends with %q, want %q", c, got, c.ends)
		}
	}
}

// A node that comes up again suspects no node at first, and then suspects nodes that are down. The others
// trust it again.
func TestReplayOfSuspicions(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm listener\nn 2\n"
	for steps, want := range map[string]string{
		"crash 1; suspect 0>1; restart 1; trust 0>1; req 0": "node 1 crashes\nnode 0 suspects node 1\n" +
			"node 1 comes up again, having forgotten everything\nnode 0 trusts node 1 again\nnode 0 asks",
		"suspect 0>1; crash 0; restart 0; suspect 0>1; rest": "node 0 suspects node 1, which is up\n" +
			"node 0 crashes\nnode 0 comes up again, having forgotten everything\n" +
			"node 0 suspects node 1, which is up\nnode 0 trusts node 1 again",
		"req 0; suspect 0>1; trust 1>0":   "line 4, trust 1>0: node 1 does not suspect node 0",
		"suspect 0>1; suspect 0>1":        "node 0 suspects node 1 already",
		"suspect 0>0":                     "no node suspects itself",
		"suspect 0>2":                     "there is no node 2: they are 0 to 1",
		"suspect 0>1; crash 1; trust 0>1": "node 1 is down, and stays suspected",
		"crash 0; suspect 0>1":            "it is down",
		"suspect 0":                       "line 4: suspect takes two nodes, such as suspect 0>1",
		"req 0; crash 1; rest; try trust 0>1": "node 1 crashes\nnode 0 leaves\n" +
			"node 0 suspects node 1",
	} {
		s, err := replay.Parse(strings.NewReader(head+steps), alone(trustingOnes().Spec))
		got := ""
		if err == nil {
			var r *replay.Played
			if r, err = replay.Play(s); err == nil {
				got = strings.Join(r.Story, "\n")
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", steps, got, want)
		}
	}
}

const ms = time.Millisecond

// timing returns bounds on time, in ticks of a millisecond: a message takes from least to most.
func timing(least, most time.Duration) *replay.Timing {
	return &replay.Timing{Tick: ms, Latency: replay.Latency{Least: least, Most: most}}
}

// A fisher takes the lock by Fischer's timed algorithm, with the shared variable at a server. It reads
// until the variable is free, writes its own name, waits, and is in if the name still stands there. That
// needs only bounded time: it waits longer than any write by a node that found the variable free can take.
//
// Source: L. Lamport, "A Fast Mutual Exclusion Algorithm", ACM TOCS 5(1), 1987, which tells of Fischer's.
type fisher struct {
	wait    time.Duration
	written bool
}

type (
	fiRead  struct{}
	fiWrite struct{ Owner nodes.ID }
	fiValue struct{ Owner nodes.ID }
)

func (f *fisher) Request(env *nodes.Env) { f.read(env) }
func (f *fisher) Release(env *nodes.Env) { env.Send(nodes.ID(env.N()), fiWrite{nodes.None}) }
func (f *fisher) read(env *nodes.Env)    { env.Send(nodes.ID(env.N()), fiRead{}) }

func (f *fisher) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch owner := m.(fiValue).Owner; {
	case f.written && owner == env.Self():
		f.written = false
		env.Grant()
	case owner == nodes.None:
		f.written = true
		env.Send(nodes.ID(env.N()), fiWrite{env.Self()})
		env.SetTimer(nodes.Timer{Kind: 1}, f.wait, f.wait+ms)
	default:
		f.written = false
		f.read(env)
	}
}

func (f *fisher) Timeout(env *nodes.Env, _ nodes.Timer) { f.read(env) }

// A variable is the server of fishers.
type variable struct{ owner nodes.ID }

func (v *variable) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case fiRead:
		env.Send(from, fiValue{v.owner})
	case fiWrite:
		v.owner = m.Owner
	}
}

func fishers(wait time.Duration) *algorithm.Algorithm {
	return &algorithm.Algorithm{Spec: nodes.Spec{
		Name:      "fischer",
		Safe:      nodes.Timing,
		Messages:  []nodes.MessageKind{{Zero: fiRead{}}, {Zero: fiWrite{}}, {Zero: fiValue{}}},
		New:       func(nodes.Config) nodes.Machine { return &fisher{wait: wait} },
		Servers:   func(nodes.Config) int { return 1 },
		NewServer: func(nodes.Config, nodes.ID) nodes.Machine { return &variable{nodes.None} },
	}}
}

// A node that found the variable free writes its name at most three message delays after the first such write
// is sent. So a read that arrives later than that sees the last write.
func TestTimingDecidesWhetherFischerIsSafe(t *testing.T) {
	for _, c := range []struct {
		least, most, wait time.Duration
		safe              bool
	}{
		{0, ms, 3 * ms, false}, // the two may come in one tick, in either order
		{0, ms, 4 * ms, true},
		{ms, ms, 2 * ms, false},
		{ms, ms, 3 * ms, true},
		{ms, 2 * ms, 5 * ms, false},
		{ms, 2 * ms, 6 * ms, true},
	} {
		o := Space{Spec: fishers(c.wait), Config: nodes.Config{N: 2}, Entries: 2, Workers: 2,
			Timing: timing(c.least, c.most)}
		x := explore(t, o)
		switch v := x.Violation; {
		case c.safe && (v != nil || !x.Exhausted || x.Outside > 0):
			t.Errorf("messages of %v to %v, a wait of %v: %+v", c.least, c.most, c.wait, x)
		case !c.safe && (v == nil || v.Check != replay.CheckExclusion || v.OutsideModel != 0):
			t.Errorf("messages of %v to %v, a wait of %v: %+v", c.least, c.most, c.wait, x)
		}
	}
	o := Space{Spec: fishers(time.Hour), Config: nodes.Config{N: 2}, Entries: 1}
	if x := explore(t, o); x.Violation != nil || x.FirstOutside == nil ||
		x.FirstOutside.Check != replay.CheckExclusion || x.FirstOutside.OutsideModel != nodes.Timing {
		t.Errorf("without bounds on time: %+v", x)
	}
}

// A schedule with ticks can be read, written and played, and no event in it may leave its window.
func TestTimedSchedule(t *testing.T) {
	spec := fishers(5 * ms)
	v := explore(t, Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1,
		Timing: timing(ms, 2*ms)}).Violation
	if v == nil {
		t.Fatal("nothing is found")
	}
	read, err := replay.Parse(strings.NewReader(v.Schedule.String()), alone(spec))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(read)
	if check, broken := failed(r, err); check != v.Check || broken != 0 {
		t.Fatalf("%v\nplayed again: %+v, %v", v.Schedule, r, err)
	}
	if less, err := minimise(read); err != nil || len(less.Steps) != len(read.Steps) {
		t.Errorf("minimised: %v, %v", less, err)
	}
	end := strings.Join(r.Story[len(r.Story)-3:], "\n")
	if end != "time goes on to 13ms\nnode 1 gets value from server 2\nnode 1 enters: INSIDE TOGETHER WITH 0" {
		t.Errorf("the story is %q", r.Story)
	}

	head := "turnstile schedule 1\nalgorithm fischer\nn 2\n"
	timed := head + "timing 1ms uniform:1ms,2ms\nreq 0\n"
	there := "tick\n0>2 read\ntick\n2>0 value\n"
	late := there + "tick\n0>2 write" + strings.Repeat("\ntick", 6)
	for text, want := range map[string]string{
		head + "tick":                        "line 4, tick: time does not count here: add a line such as timing",
		timed + "0>2 read":                   "line 6, 0>2 read: it is not due yet: the earliest is 1 tick later",
		timed + "tick\ntick\ntick":           "line 8, tick: a read from node 0 to server 2 has to arrive first",
		timed + there + "timeout 0 1 0":      "it does not run out yet: the earliest is 5 ticks later",
		timed + "tick 2":                     "tick takes no arguments",
		head + "timing 1ms":                  "timing takes a tick and a latency, such as timing 1ms",
		head + "timing one 1ms":              `"one" is no tick: write a time`,
		head + "timing 1ms exponential:1ms":  "a latency of exponential:1ms has no bounds",
		head + "timing 2ms uniform:1ms,4ms":  "is no whole number of ticks of 2ms: take a shorter tick",
		head + "timing 1ms 101ms":            "is 101 ticks of 1ms, and can be up to 100: take a longer tick",
		head + "timing 0s 1ms":               "a tick of 0s: time goes on by ticks, such as 1ms",
		head + "timing 1ms uniform:-1ms,1ms": "is negative",
		timed + late:                         "timer 1 for 0 of node 0 has to run out first",
	} {
		s, err := replay.Parse(strings.NewReader(text), alone(spec))
		if err == nil {
			_, err = replay.Play(s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
