package explore

import (
	"fmt"
	"math"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// A trapper does what no algorithm should do. Each of its modes is something that may mislead an explorer.
type trapper struct {
	mode     int
	from, to time.Duration
	rung     int
}

const (
	modeNowhere = iota
	modeNoChoice
	modeManyChoices
	modeManyTimers
	modeWindow
	modeServed
	modeNamesakes
)

// A ringPing has the same name as a tyPing in schedules: ping.
type ringPing struct{ N uint8 }

func (x *trapper) Start(env *nodes.Env) {
	if x.mode == modeServed && env.Incarnation() > 0 {
		panic("it has been up before")
	}
}

func (x *trapper) Request(env *nodes.Env) {
	switch x.mode {
	case modeNowhere:
		env.Send(7, tyPing{})
	case modeNoChoice:
		env.Choose(0)
	case modeManyChoices:
		if env.Choose(int(x.to)) == int(x.from) {
			panic("out of luck")
		}
		env.Grant()
	case modeManyTimers:
		for kind := range nodes.TimerKind(255) {
			env.SetTimer(nodes.Timer{Kind: kind}, 0, 0)
		}
	case modeWindow:
		env.SetTimer(nodes.Timer{}, x.from, x.to)
	case modeServed:
		env.SetTimer(nodes.Timer{}, ms, ms)
		env.Send(1, tyPing{})
	case modeNamesakes:
		env.Send(1-env.Self(), tyPing{})
		env.Send(1-env.Self(), ringPing{})
	}
}

func (x *trapper) Release(*nodes.Env) {}

func (x *trapper) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch _, namesake := m.(ringPing); {
	case namesake:
		panic("the wrong one came first")
	case x.mode == modeServed && env.Self() == 0:
		env.StopTimer(nodes.Timer{})
		env.Grant()
	case x.mode == modeServed:
		env.Send(from, tyPong{})
	}
}

func (x *trapper) Timeout(env *nodes.Env, t nodes.Timer) {
	switch x.mode {
	case modeManyTimers:
		x.rung = int(t.Kind) / 250 // 0 or, for timers of kind 250 and above, 1
		for kind := range nodes.TimerKind(255) {
			env.StopTimer(nodes.Timer{Kind: kind})
		}
		env.Grant()
	case modeServed:
		env.SetTimer(t, ms, ms)
	default:
		env.Grant()
	}
}

// trappers returns options that explore a trapper.
func trappers(x trapper, n int) Space {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "trapper",
		Messages: []nodes.MessageKind{{Zero: tyPing{}}, {Zero: ringPing{}}, {Zero: tyPong{}}},
		New:      func(nodes.Config) nodes.Machine { fresh := x; return &fresh },
	}}
	return Space{Spec: spec, Config: nodes.Config{N: n}, Entries: 1}
}

// What a machine does wrong is found, told and played again, and what cannot be explored is an error.
func TestExploreTellsOfSlips(t *testing.T) {
	for _, c := range []struct {
		o    Space
		want string
	}{
		{trappers(trapper{mode: modeNowhere}, 2),
			"panic: node 0 sends a message to node 7, which does not exist: [req 0]"},
		{trappers(trapper{mode: modeNoChoice}, 1), "panic: node 0: *explore.trapper chooses one of 0: [req 0]"},
		{trappers(trapper{mode: modeManyChoices, from: 299, to: 300}, 1),
			"panic: out of luck: [req 0 choosing 299]"},
		{trappers(trapper{mode: modeManyChoices, from: -1, to: mostWays + 1}, 1),
			"node 0 chooses in more than 65536 ways at once: an exploration tries no more"},
		{trappers(trapper{mode: modeNamesakes}, 2), "panic: the wrong one came first: [req 0 0>1 ping 2]"},
	} {
		c.o.Reordering = true
		x, err := Run(c.o)
		got := fmt.Sprint(err)
		if err == nil && x.Violation != nil {
			got = fmt.Sprintf("%s: %s: %v", x.Violation.Check, x.Violation.Says, x.Violation.Schedule.Steps)
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// As many timers as a byte can count, and what they do, are told apart.
func TestExploreManyTimers(t *testing.T) {
	x := agree(t, trappers(trapper{mode: modeManyTimers}, 1))
	if !x.Progress || x.States != 1+1+2+2 || x.Entries != 255 {
		t.Errorf("%+v", x)
	}
}

// Times that are the wrong way round, negative or enormous mean what they mean to other hosts.
func TestExploreOddTimers(t *testing.T) {
	ticks := func(from, to time.Duration) uint64 {
		o := trappers(trapper{mode: modeWindow, from: from, to: to}, 1)
		o.Timing, o.Depth = timing(ms, ms), 20
		x := explore(t, o)
		if x.Violation != nil {
			t.Errorf("from %v to %v: %+v", from, to, x.Violation)
		}
		return x.States
	}
	for _, c := range [][4]time.Duration{{3 * ms, ms, ms, 3 * ms}, {-3 * ms, -ms, 0, 0},
		{-ms, 2 * ms, 0, 2 * ms}, {2 * ms, -ms, 0, 2 * ms}, {ms / 2, 3 * ms / 2, 0, 2 * ms},
		{0, math.MaxInt64, 0, time.Hour}, {math.MaxInt64, math.MaxInt64, time.Hour, time.Hour}} {
		if odd, even := ticks(c[0], c[1]), ticks(c[2], c[3]); odd != even {
			t.Errorf("from %v to %v there are %d states, and from %v to %v %d", c[0], c[1], odd, c[2], c[3], even)
		}
	}
}

// A server crashed, and its client waits for ever, all the while setting its timer again. It is starvation
// though the server could restart and panic, which is outside the model.
func TestStarvationBesideFailuresOutsideTheModel(t *testing.T) {
	o := trappers(trapper{mode: modeServed}, 1)
	o.Crashes, o.Restarts, o.Spec.Safe = 1, true, nodes.NoAmnesia
	o.Spec.Servers = func(nodes.Config) int { return 1 }
	o.Spec.NewServer = func(c nodes.Config, _ nodes.ID) nodes.Machine { return o.Spec.New(c) }
	for _, o.Timing = range []*replay.Timing{nil, timing(0, ms)} {
		x := agree(t, o)
		if x.Progress || x.Outside == 0 || x.Violation == nil || x.Violation.Check != replay.CheckStarvation {
			t.Errorf("%+v", x)
		}
	}
}

// Each half of a digest depends on everything in a state. If something changed only one half, 64 bits would
// tell such states apart, not 128.
func TestBothHalvesOfDigestsCount(t *testing.T) {
	o := Space{Spec: algorithmOf(t, "suzuki-kasami"), Config: nodes.Config{N: 2}, Entries: 1, Losses: 2,
		Duplicates: 2, Timing: timing(0, 3*ms)}
	s, err := newSearch(o)
	if err != nil {
		t.Fatal(err)
	}
	s.run()
	high, low := map[uint64]bool{}, map[uint64]bool{}
	for _, d := range s.seen.table.Load().digests[:s.seen.count] {
		high[d.hi], low[d.lo] = true, true
	}
	if len(high) != s.seen.count || len(low) != s.seen.count {
		t.Errorf("of %d states, the high half tells %d apart and the low one %d", s.seen.count, len(high), len(low))
	}
}

// A space is exhausted if no bound kept anything out, and bounded if one kept out a single state.
func TestBoundsAreHonest(t *testing.T) {
	o := Space{Spec: algorithmOf(t, "ricart-agrawala"), Config: nodes.Config{N: 2}, Entries: 2, Losses: 1}
	all := explore(t, o)
	for depth := 1; depth <= all.Depth; depth++ {
		o.Depth = depth
		x := agree(t, o)
		if whole := depth == all.Depth; x.Exhausted != whole || x.Depth != depth || (x.Bound == "depth") == whole {
			t.Errorf("%d of %d steps: %+v", depth, all.Depth, x)
		}
	}
	o.Depth = 0
	for o.States = all.States - 3; o.States <= all.States; o.States++ {
		x := explore(t, o)
		if whole := o.States == all.States; x.Exhausted != whole || x.States != o.States {
			t.Errorf("%d of %d states: %+v", o.States, all.States, x)
		}
	}
}
