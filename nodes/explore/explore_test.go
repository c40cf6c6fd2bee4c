package explore

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

func algorithmOf(t testing.TB, name string) *algorithm.Algorithm {
	t.Helper()
	spec, err := mutex.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func explore(t testing.TB, o Space) *Result {
	t.Helper()
	x, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// spaces has the sizes of the spaces of sound algorithms, in states. A change to an algorithm, to Node or to
// the explorer shows in them. The columns are: 2 nodes with 2 entries each and no fault, one loss, one
// duplicate, one crash with a restart; reordering; 3 nodes with 2 entries each; 3 nodes with one entry each
// and one loss, one duplicate, one crash with a restart; reordering. An algorithm or a size may be missing.
var spaces = map[string][10]uint64{
	"central":               {164, 332, 1006, 2295, 182, 3206, 410, 1250, 3103, 200},
	"central-inside":        {89, 142, 365, 804, 96, 1988, 226, 642, 1482, 130},
	"lamport":               {300, 784, 1796, 3376, 791, 318996, 33298, 94461, 114740, 14740},
	"lamport-deferred":      {257, 699, 1426, 2867, 814, 327749, 34099, 98475, 116257, 15644},
	"carvalho-roucairol":    {114, 182, 494, 1001, 132, 17621, 8647, 20860, 39798, 3293},
	"singhal-dynamic":       {81, 122, 323, 622, 86, 8308, 1249, 3181, 5556, 577},
	"ricart-agrawala":       {126, 219, 730, 1231, 151, 28988, 7511, 23987, 30936, 3236},
	"ricart-agrawala-token": {78, 118, 310, 689, 83, 11763, 1691, 3986, 6326, 659},
	"suzuki-kasami":         {78, 118, 310, 689, 83, 16087, 1835, 4422, 6918, 729},
	"raymond":               {74, 113, 293, 459, 79, 1400, 260, 688, 1075, 152},
	"neilsen-mizuno":        {74, 113, 439, 460, 79, 2200, 294, 1486, 1249, 164},
	"naimi-trehel":          {74, 113, 439, 460, 79, 2124, 294, 1442, 1249, 164},
	"maekawa":               {313, 863, 1507, 3733, 1359, 11281, 1222, 3437, 5870, 549},
	"majority":              {313, 863, 1507, 3733, 1359, vast, 886744, 2018802, 2882702, 2766923},
}

// These sizes are below endless and, for two nodes, below endlessOfTwo; vast stands for an unknown size.
const endless, endlessOfTwo, vast = 4_000_000, 100_000, endless + 1

func columns(spec *algorithm.Algorithm) []Space {
	two := Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 2, Workers: 2, Copies: copiesOf(spec)}
	three := two
	three.Config.N, three.Entries = 3, 1
	var all []Space
	for _, o := range []Space{two, three} {
		faults := [...]Space{o, o, o, o, o}
		faults[1].Losses = 1
		faults[2].Duplicates = 1
		faults[3].Crashes, faults[3].Restarts = 1, true
		faults[4].Reordering = true
		if o.Config.N == 3 {
			faults[0].Entries = 2
		}
		all = append(all, faults[:]...)
	}
	return append(all, listenerColumns(spec)...)
}

// Spaces of three nodes are explored up to a bound, and to their end by make soak. So are spaces of two nodes
// if the algorithm has timers, since counters that rise with each timeout have no end.
func TestSoundAlgorithmsAreCleanAndExhausted(t *testing.T) {
	most := soak.Pick[uint64](2000, 20_000, endless)
	for _, spec := range mutex.Table {
		if spec.Flaw != nil || spec.Circulates {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			sizes := spaces[spec.Name]
			timed := copiesOf(spec) > 0
			for i, o := range columns(spec) {
				pinned := i < len(sizes) && sizes[i] > 0
				ends := !timed && (most == endless && (!pinned || sizes[i] != vast) || o.Config.N == 2)
				if o.States = most; o.Config.N == 2 && !timed {
					o.States = endlessOfTwo
				}
				x := explore(t, o)
				switch {
				case x.Violation != nil:
					t.Errorf("space %d: %s: %s\n%s", i, x.Violation.Check, x.Violation.Says,
						strings.Join(x.Violation.Story, "\n"))
				case x.Bound == "states" && ends:
					t.Fatalf("space %d has more than %d states: does a counter, or a number of messages, grow "+
						"without end?", i, o.States)
				case x.Bound == "states" && (!pinned || sizes[i] > o.States): // as is to be expected
				case !x.Exhausted && x.Bound != "copies" || !x.Progress || x.Entries == 0:
					t.Errorf("space %d: %+v", i, x)
				case pinned && x.States != sizes[i]:
					t.Errorf("space %d has %d states, want %d", i, x.States, sizes[i])
				}
			}
		})
	}
}

// The token of a ring counts its hops, so its states have no end.
func TestRingIsBounded(t *testing.T) {
	for i, o := range columns(algorithmOf(t, "token-ring")) {
		o.Depth = 40
		x := explore(t, o)
		if x.Violation != nil || x.Exhausted || x.Bound != "depth" || x.Depth != 40 || x.Entries == 0 {
			t.Errorf("space %d: %+v", i, x)
		}
	}
}

// The naive broadcast algorithm fails in six steps, and does not fail in fewer.
func TestNaiveBroadcastFails(t *testing.T) {
	spec := algorithmOf(t, "naive-broadcast")
	x := explore(t, Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1})
	v := x.Violation
	if v == nil || v.Check != replay.CheckExclusion || v.OutsideModel != 0 || x.Bound != "violation" {
		t.Fatalf("%+v", x)
	}
	const story = `node 0 asks and sends request to node 1
node 1 asks and sends request to node 0
node 1 gets request from node 0 and sends reply to node 0
node 0 gets request from node 1 and sends reply to node 1
node 1 gets reply from node 0
node 1 enters
node 0 gets reply from node 1
node 0 enters: INSIDE TOGETHER WITH 1`
	if got := strings.Join(v.Story, "\n"); got != story {
		t.Errorf("the story is\n%s", got)
	}
	if x := explore(t, Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1, Depth: 5}); x.
		Violation != nil || x.Bound != "depth" {
		t.Errorf("within 5 steps: %+v", x)
	}

	// Read back and played again, the schedule fails the same check. The checks of histories find it, too.
	read, err := replay.Parse(strings.NewReader(v.Schedule.String()), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(read)
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil || r.Violation.Check != replay.CheckExclusion || r.Violation.Says != v.Says {
		t.Errorf("replayed: %+v", r.Violation)
	}
	verdict := check.Judge(r.History, check.Setting{Config: read.Config, Algorithm: spec.Name,
		Codec: spec.Codec(), Identities: spec.Exclusion().Identities, Safe: spec.Safe, Live: spec.Live})
	witness := strings.Join(verdict.Findings[0].Witness, "\n")
	if verdict.Outcome != check.Violated || !strings.Contains(verdict.Reason, "overlapped") ||
		!strings.Contains(witness, "node 0 gets reply from node 1") {
		t.Errorf("judged: %v: %s\n%s", verdict.Outcome, verdict.Reason, witness)
	}
}

// The result depends on nothing but the options.
func TestAnyNumberOfWorkersFindsTheSame(t *testing.T) {
	for _, o := range []Space{
		{Spec: algorithmOf(t, "lamport"), Config: nodes.Config{N: 3}, Entries: 1, Reordering: true, Demand: true},
		{Spec: algorithmOf(t, "ricart-agrawala"), Config: nodes.Config{N: 3}, Entries: 1, Crashes: 1,
			Restarts: true},
		{Spec: algorithmOf(t, "maekawa"), Config: nodes.Config{N: 4}, Entries: 1, States: 20_000},
	} {
		var first *Result
		for _, o.Workers = range soak.Pick([]int{1, 3}, []int{1, 3, 8}, []int{1, 2, 3, 8, 16}) {
			x := explore(t, o)
			x.Bytes, x.NodeStates = 0, 0
			if first == nil {
				first = x
			}
			if !reflect.DeepEqual(x, first) {
				t.Errorf("%s: %d workers find\n%+v\nand one finds\n%+v", o.Spec.Name, o.Workers, x, first)
			}
		}
	}
}

// Assumptions that an algorithm states are assumptions it needs: without them it fails, as its table says.
func TestFaultsOutsideTheModel(t *testing.T) {
	for _, c := range []struct {
		o     Space
		check string
		need  nodes.Assumption
	}{
		{Space{Spec: algorithmOf(t, "lamport"), Reordering: true}, replay.CheckExclusion, nodes.FIFO},
		{Space{Spec: algorithmOf(t, "ricart-agrawala"), Crashes: 1, Restarts: true}, "", nodes.NoAmnesia},
		{Space{Spec: algorithmOf(t, "ricart-agrawala"), Losses: 1}, replay.CheckDeadlock, nodes.NoLoss},
		{Space{Spec: algorithmOf(t, "suzuki-kasami"), Losses: 1}, replay.CheckDeadlock, nodes.NoLoss},
		{Space{Spec: algorithmOf(t, "central"), Crashes: 1}, replay.CheckDeadlock, nodes.NoCrash},
	} {
		c.o.Config, c.o.Entries = nodes.Config{N: 2}, 1
		x := explore(t, c.o)
		v := x.FirstOutside
		if x.Violation != nil || !x.Exhausted || v == nil || v.OutsideModel&c.need == 0 && c.check != "" ||
			c.check != "" && v.Check != c.check {
			t.Errorf("%s: %+v, first outside the model %+v", c.o.Spec.Name, x, v)
			continue
		}
		c.o.Demand = true
		if x := explore(t, c.o); x.Violation == nil || x.Violation.OutsideModel != 0 {
			t.Errorf("%s, with Demand: %+v", c.o.Spec.Name, x)
		}
	}
}

func TestExploreRefuses(t *testing.T) {
	chang, err := (catalog.Table{}).Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	probe, err := detector.Parse("probe", 2, nodes.Delays{})
	if err != nil {
		t.Fatal(err)
	}
	good := Space{Spec: algorithmOf(t, "maekawa"), Config: nodes.Config{N: 2}, Entries: 1}
	central, bounded := algorithmOf(t, "central"), timing(ms, ms)
	for want, change := range map[string]func(o *Space){
		"takes at least one":       func(o *Space) { o.Config.N = 0 },
		"takes up to 8":            func(o *Space) { o.Config.N = 9 },
		"each client makes 1 to":   func(o *Space) { o.Entries = 0 },
		"there can be 0 to 100":    func(o *Space) { o.Losses = -1 },
		"allow at least one crash": func(o *Space) { o.Restarts = true },
		"a depth of -1":            func(o *Space) { o.Depth = -1 },
		`"x" is not one of cyclic`: func(o *Space) { o.Config = o.Config.With("quorums", "x") },
		"probe sends without end":  func(o *Space) { o.Beside = []algorithm.Instance{probe} },
		"so nobody campaigns":      func(o *Space) { o.Campaigns = 1 },
		"elects no leaders: look":  func(o *Space) { o.Checks = []string{replay.CheckLeaders} },
		"did you mean exclusion?":  func(o *Space) { o.Checks = []string{"exclusoin"} },
		"maekawa does not promise": func(o *Space) { o.Checks = []string{replay.CheckFairness} },
		"7 entries may pass over a request": func(o *Space) {
			o.Spec, o.Checks, o.Config.N = algorithmOf(t, "ricart-agrawala"), ofClients, 8
		},
		"2 resources: fairness can be checked": func(o *Space) {
			o.Spec, o.Checks = algorithmOf(t, "central-inside"), ofClients
			o.Beside = []algorithm.Instance{{Algorithm: o.Spec, Config: o.Config}}
		},
		"has no timers that could run out":   func(o *Space) { o.Spec, o.Timeouts = chang, 1 },
		"elects leaders, and has no clients": func(o *Space) { o.Spec, o.Checks = chang, ofClients[:1] },
		"the leaders of chang-roberts have no": func(o *Space) {
			o.Spec, o.Checks = chang, []string{replay.CheckTerms}
		},
		"so two may lead at once: look for terms": func(o *Space) {
			o.Spec, o.Checks = votes(votesWell, algorithm.Leadership{Terms: true}), []string{replay.CheckLeaders}
		},
		"central has no timers, so that any":      func(o *Space) { o.Spec, o.Copies = central, 2 },
		"central listens to no failure detector:": func(o *Space) { o.Spec, o.Suspicions = central, 1 },
		"timers run out within bounds, so": func(o *Space) {
			*o = callers()
			o.Timing, o.Copies = bounded, 2
		},
	} {
		o := good
		change(&o)
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A search ends at each of its bounds, and says at which.
func TestSearchesEndAtTheirBounds(t *testing.T) {
	good := Space{Spec: algorithmOf(t, "maekawa"), Config: nodes.Config{N: 2}, Entries: 1}
	short := good
	short.Spec, short.States = algorithmOf(t, "naive-broadcast"), 24
	if v := explore(t, short).Violation; v == nil || v.Shortest {
		t.Errorf("a level that is not swept to its end: %+v", v)
	}
	over := make(chan struct{})
	close(over)
	for bound, o := range map[string]Space{
		"interrupt": {Spec: good.Spec, Config: nodes.Config{N: 3}, Entries: 2, Interrupt: over},
		"states":    {Spec: good.Spec, Config: nodes.Config{N: 3}, Entries: 2, States: 1000},
		"memory":    {Spec: good.Spec, Config: nodes.Config{N: 3}, Entries: 3, Memory: 4 << 20},
		"depth":     {Spec: good.Spec, Config: nodes.Config{N: 3}, Entries: 2, Depth: 9},
	} {
		for _, o.Workers = range []int{1, 3} {
			x := explore(t, o)
			if x.Exhausted || x.Bound != bound || x.Violation != nil || x.Progress {
				t.Errorf("bounded by %s, %d workers: %+v", bound, o.Workers, x)
			}
			if bound == "states" && x.States != 1000 {
				t.Errorf("%d states", x.States)
			}
		}
	}
}

// A gambler calls Choose, saves, sets timers, and fails in the way of its mode.
type gambler struct {
	mode  int
	luck  int
	saved int
}

type gbSaved struct{ Luck int }

func (g *gambler) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (g *gambler) Release(*nodes.Env)                          {}
func (g *gambler) Request(env *nodes.Env) {
	switch g.luck = 3*env.Choose(2) + env.Choose(3); g.mode {
	case modeDeaf: // never lets its client in, but goes on for ever
		env.SetTimer(nodes.Timer{Kind: 1}, 0, 0)
	case modePanic:
		if g.luck == 5 {
			panic("out of luck")
		}
		env.Grant()
	case modeTimer:
		env.SetTimer(nodes.Timer{Kind: 2, Peer: 1}, 0, 0)
	case modeSave:
		env.Save(gbSaved{g.luck})
		env.Grant()
	}
}
func (g *gambler) Timeout(env *nodes.Env, t nodes.Timer) {
	if g.mode == modeDeaf {
		env.SetTimer(t, 0, 0)
		return
	}
	env.Grant()
}
func (g *gambler) Recover(env *nodes.Env, saved nodes.Message) {
	if m, ok := saved.(gbSaved); ok {
		g.saved = m.Luck
		if m.Luck == 4 {
			panic("it remembers 4")
		}
	}
}

const (
	modeDeaf = iota
	modePanic
	modeTimer
	modeSave
)

func gamblers(mode int) *algorithm.Algorithm {
	return &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "gambler",
		Messages: []nodes.MessageKind{{Zero: gbSaved{}}},
		New:      func(nodes.Config) nodes.Machine { return &gambler{mode: mode} },
	}}
}

// Every answer of Choose is tried, timers run out, what was saved comes back, and what goes on for ever
// without letting anybody in is starvation.
func TestChoicesTimersSavesAndStarvation(t *testing.T) {
	one := nodes.Config{N: 1}
	for _, c := range []struct {
		mode int
		o    Space
		want string // the check, what it says, and the last step
	}{
		{modeDeaf, Space{},
			"starvation: node 0 waits, and can never enter; req 0 choosing 0 0"},
		{modePanic, Space{}, "panic: out of luck; req 0 choosing 1 2"},
		{modeTimer, Space{}, ""},
		{modeTimer, Space{Config: nodes.Config{N: 2}},
			"exclusion: node 1 enters while node 0 is inside; timeout 1 2 1"},
		{modeSave, Space{Crashes: 1}, ""},
		{modeSave, Space{Crashes: 1, Restarts: true}, "panic: it remembers 4; restart 0"},
	} {
		c.o.Spec, c.o.Entries = gamblers(c.mode), 1
		if c.o.Config.N == 0 {
			c.o.Config = one
		}
		x := explore(t, c.o)
		got := ""
		if v := x.Violation; v != nil {
			last := v.Schedule.Steps[len(v.Schedule.Steps)-1]
			got = fmt.Sprintf("%s: %s; %v", v.Check, v.Says, last)
		}
		if got != c.want {
			t.Errorf("mode %d: %q, want %q", c.mode, got, c.want)
		}
	}
	x := explore(t, Space{Spec: gamblers(modeSave), Config: one, Entries: 1})
	if !x.Exhausted || x.States != 1+6+6 || x.Entries != 6 {
		t.Errorf("two choices with 6 answers: %+v", x)
	}
}

// BenchmarkExplore reports how many states a second are explored.
func BenchmarkExplore(b *testing.B) {
	for _, c := range []struct{ entries, workers int }{{2, 1}, {4, 1}, {4, 2}} {
		b.Run(fmt.Sprintf("ricart-agrawala-n3-e%d/workers=%d", c.entries, c.workers), func(b *testing.B) {
			states := uint64(0)
			for b.Loop() {
				states += explore(b, Space{Spec: algorithmOf(b, "ricart-agrawala"), Config: nodes.Config{N: 3},
					Entries: c.entries, Workers: c.workers}).States
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}

// On a 2x2 grid, in the textbook form of Maekawa's algorithm, three of four clients can wait for each other.
func TestTextbookMaekawaDeadlocks(t *testing.T) {
	spec, err := mutex.Find("maekawa-textbook")
	if err != nil {
		t.Skip(err)
	}
	o := Space{Spec: spec, Config: nodes.Config{N: 4}.With("quorums", "grid"), Entries: 1, Workers: 2}
	v := explore(t, o).Violation
	if v == nil || v.Check != replay.CheckDeadlock || len(v.Schedule.Steps) != 14 ||
		!strings.Contains(v.Stall, "They wait in a circle: 1 -> 2 -> 1") {
		t.Fatalf("%+v", v)
	}
	r, err := replay.Play(v.Schedule)
	if err != nil || r.Violation == nil || r.Violation.Check != replay.CheckDeadlock ||
		r.Violation.Stall != v.Stall {
		t.Errorf("replayed: %+v, %v", r, err)
	}
}
