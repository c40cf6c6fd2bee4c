package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"turnstile/internal/chance"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// modelOf returns a model with three clients, a server and a grace of 100. The planned faults took place:
// each lasted from 1000 to 2000, was healed, and had a hit.
func modelOf(faults ...Fault) *model {
	m := &model{Setting: Setting{Config: nodes.Config{N: 3}, Grace: 100, Faults: faults},
		sections: &section.Fold{}}
	for i, f := range faults {
		m.sections.Faults = append(m.sections.Faults, section.Fault{Number: uint32(i + 1), From: 1000, To: 2000,
			Healed: true, Breaks: f.Breaks, Victim: nodes.None, Nodes: 1, Hits: 1})
	}
	return m
}

// with changes what took place.
func (m *model) with(change func(m *model)) *model {
	change(m)
	return m
}

var (
	killServer = Fault{Text: "kill server 0", ForGood: true, Breaks: nodes.ServersUp}
	promotion  = Fault{Text: "promote", ForGood: true, Breaks: nodes.NoAmnesia}
)

// hitServer has the first fault hit servers of a service, and no node.
func hitServer(all ...int) func(*model) {
	return func(m *model) { m.sections.Faults[0].Nodes, m.sections.Faults[0].Servers = 0, all }
}

// An assumption does not hold in a span if it was broken for good before, or was broken at a time that is so
// close that its effect or the grace reaches into the span.
func TestWhatIsBrokenWhen(t *testing.T) {
	const all = ^nodes.Assumption(0)
	delayed := func() *model { return modelOf(delay) }
	slow := delay
	slow.Leaves = 500
	dead := func(id nodes.ID) func(*model) {
		return func(m *model) {
			m.sections.Deaths = append(m.sections.Deaths, section.Death{Node: id, From: 1000, At: 1000, Back: 2000})
		}
	}
	suspicion := nodes.PerfectDetector | nodes.EventualDetector
	for _, test := range []struct {
		name string
		m    *model
		in   span
		want nodes.Assumption
	}{
		{"nothing happened", modelOf(), within(1000, 2000, 0), 0},
		{"before the fault", delayed(), within(900, 999, 0), 0},
		{"as it begins", delayed(), within(900, 1000, 0), nodes.Timing},
		{"while it lasts", delayed(), within(1500, 1500, 0), nodes.Timing},
		{"as it ends", delayed(), within(2000, 2000, 0), nodes.Timing},
		{"after it", delayed(), within(2001, 2001, 0), 0},
		{"within the grace", delayed(), within(2100, 2100, 100), nodes.Timing},
		{"after the grace", delayed(), within(2101, 2101, 100), 0},
		{"while messages come late", modelOf(slow), within(2600, 2600, 100), nodes.Timing},
		{"later", modelOf(slow), within(2601, 2601, 100), 0},
		{"late messages do not count", modelOf(slow), within(2001, 2001, -1), 0},
		{"still going on, and nothing else counts", modelOf(slow), within(2000, 2000, -1), nodes.Timing},
		{"lost messages are lost for good", modelOf(lossy), within(9000, 9000, 0), nodes.NoLoss},
		{"of a clock, it is done at once", modelOf(jump).with(func(m *model) {
			m.sections.Faults[0].Healed = false
		}), within(1101, 1101, 100), 0},
		{"that hit no message", modelOf(delay).with(func(m *model) { m.sections.Faults[0].Hits = 0 }),
			within(1500, 1500, 0), 0},
		{"that may yet hit some", modelOf(delay).with(func(m *model) {
			m.sections.Faults[0].Hits, m.sections.Faults[0].Healed = 0, false
		}), within(1500, 1500, 0), nodes.Timing},
		{"that killed nobody", modelOf(kill).with(func(m *model) { m.sections.Faults[0].Nodes = 0 }),
			within(1500, 1500, 0), 0},
		{"that nobody asked for", modelOf().with(func(m *model) {
			m.sections.Faults = []section.Fault{{Number: 7, From: 1, To: 2, Breaks: nodes.NoLoss, Nodes: 1}}
		}), within(5, 5, 0), nodes.NoLoss},
		{"a pause", modelOf().with(func(m *model) {
			m.sections.Pauses = []section.Pause{{From: 1000, To: 2000}}
		}), within(2000, 2000, 0), nodes.NoPause | nodes.Timing},
		{"a wrong suspicion", modelOf().with(func(m *model) {
			m.sections.Wrongs = []section.Wrong{{Window: section.Window{From: 1000, To: 2000}}}
		}), within(2050, 2050, 100), suspicion},
		{"one of three clients down", modelOf().with(dead(1)), within(1500, 1500, 0), 0},
		{"two of three", modelOf().with(dead(1)).with(dead(2)), within(1500, 1500, 0), nodes.Majority},
		{"a server down", modelOf().with(dead(3)), within(1500, 1500, 0), nodes.ServersUp},
		{"a server up again", modelOf().with(dead(3)), within(2001, 2001, 0), 0},
		{"a crash that no detector reports", modelOf().with(dead(1)).with(func(m *model) { m.Unheard = true }),
			within(9000, 9000, 0), suspicion},
		{"the same, before it", modelOf().with(dead(1)).with(func(m *model) { m.Unheard = true }),
			within(999, 999, 0), 0},
		{"timeouts that are too short", modelOf().with(func(m *model) { m.NeverHolds = nodes.Timing }),
			within(0, 0, 0), nodes.Timing},
		{"until the end of time", delayed().with(func(m *model) { m.sections.Faults[0].To = math.MaxInt64 }),
			within(math.MaxInt64, math.MaxInt64, 100), nodes.Timing},
	} {
		if got := test.m.brokenIn(test.in, all); got != test.want {
			t.Errorf("%s: %v are broken, want %v", test.name, got, test.want)
		}
		if got := test.m.brokenIn(test.in, nodes.FIFO); got != 0 {
			t.Errorf("%s: of what it rests on, %v are broken", test.name, got)
		}
	}
}

// A fault of messages acts from its first hit, known to the microsecond, until the last message that it hit
// has come.
func TestFaultsActWhileMessagesAreLate(t *testing.T) {
	one, many := delay, delay
	one.ForGood, one.Leaves, many.Leaves = true, 100, chance.Longest
	for _, test := range []struct {
		name      string
		of        Fault
		hit       int64
		until     int64
		at, after int64
		want      nodes.Assumption
	}{
		{"before the message that is hit", one, 2400, 2500, 1399, 0, 0},
		{"while it is late", one, 2400, 2500, 1400, 0, nodes.Timing},
		{"when it has come", one, 2400, 2500, 2501, 0, 0},
		{"within the grace after that", one, 2400, 2500, 2600, 100, nodes.Timing},
		{"if it is unknown when it was hit", one, 0, 1500, 1000, 0, nodes.Timing},
		{"before the first of many", many, 2400, 2500, 1399, 0, 0},
		{"until all have come", many, 2400, 2500, 2500, 0, nodes.Timing},
		{"when all have come", many, 2400, 2500, 2501, 0, 0},
		{"if it is unknown when all have come", many, 0, 0, 1e15, 0, nodes.Timing},
		{"the messages came before the end of the fault", many, 1200, 1500, 2000, 0, nodes.Timing},
	} {
		m := modelOf(test.of)
		m.sections.Faults[0].HitAt, m.sections.Faults[0].Until = test.hit, test.until
		if got := m.brokenIn(within(test.at, test.at, test.after), nodes.Timing); got != test.want {
			t.Errorf("%s: %v are broken", test.name, got)
		}
	}
}

// within returns the span of a failure of any nodes.
func within(from, to, after int64) span { return span{from, to, after, nil} }

// Faults of servers break assumptions. A server that stays down breaks them until the end.
func TestWhatFaultsOfServersBreak(t *testing.T) {
	for _, test := range []struct {
		name string
		m    *model
		in   span
		want nodes.Assumption
	}{
		{"a server that is killed", modelOf(killServer).with(hitServer(0)), within(1500, 1500, 0), nodes.ServersUp},
		{"that is up again", modelOf(killServer).with(hitServer(0)), within(2101, 2101, 100), 0},
		{"that stays down", modelOf(killServer).with(hitServer(0)).with(func(m *model) {
			m.sections.Faults[0].Healed, m.sections.Faults[0].To = false, math.MaxInt64
		}), within(9000, 9000, 0), nodes.ServersUp},
		{"that was down already", modelOf(killServer).with(hitServer()), within(1500, 1500, 0), 0},
		{"one that is promoted", modelOf(promotion).with(hitServer(1)), within(9000, 9000, 0), nodes.NoAmnesia},
		{"that cannot be", modelOf(promotion).with(hitServer()), within(9000, 9000, 0), 0},
	} {
		if got := test.m.brokenIn(test.in, ^nodes.Assumption(0)); got != test.want {
			t.Errorf("%s: %v are broken, want %v", test.name, got, test.want)
		}
	}
}

// A finding outside the model names the broken assumption, and the first fault that broke it.
func TestWhatAFindingOutsideTheModelSays(t *testing.T) {
	const late = "it is late (outside its model: the algorithm assumes that "
	m := modelOf(delay, lossy, kill).with(func(m *model) { m.sections.Faults[2].Victim = 2 })
	for needs, want := range map[nodes.Assumption]string{
		nodes.Timing:  late + "messages and handlers take bounded time, and some took longer; delay)",
		nodes.NoLoss:  late + "no message is lost, and one was; loss)",
		nodes.NoCrash: late + "no node crashes, and one did; kill, which hit node 2)",
		nodes.FIFO:    "it is late",
	} {
		f := m.outsideIf(violated("it is late"), m.at(1500), needs)
		if f.Says != want || f.OutsideModel != (needs != nodes.FIFO) || f.Expected {
			t.Errorf("%v: %+v, want %q", needs, f, want)
		}
	}
	brokers := modelOf(Fault{Text: "reset 0", Breaks: nodes.NoLoss}) // its hits are connections, and no messages
	if f := brokers.outsideIf(violated("it is late"), brokers.at(1500), nodes.NoLoss); f.Says != late+
		"no message is lost, and one may have been; reset 0)" {
		t.Errorf("a fault that is not known to have hit a message: %s", f.Says)
	}
	f := m.expect(inconclusive("nobody enters"), m.at(1500), nodes.NoLoss)
	if !f.Expected || !f.OutsideModel || !strings.Contains(f.Says, "(blocked: the algorithm assumes ") {
		t.Errorf("it is expected: %+v", f)
	}
}

// If several nodes were killed, the finding names the kill that broke the needed assumption: it made a node
// forget its state, or it took down a server or the majority.
func TestAnAssumptionNamesTheFaultThatBrokeIt(t *testing.T) {
	kills := func(text string, ids ...nodes.ID) Fault {
		return Fault{Text: text, Breaks: nodes.NoCrash,
			Hits: func(id, _ nodes.ID) bool { return slices.Contains(ids, id) }}
	}
	m := modelOf(kills("kill 0", 0), kills("kill 1", 1), kills("kill 2", 2), kills("kill 3", 3), lossy)
	for i := range m.sections.Faults {
		m.sections.Faults[i].From, m.sections.Faults[i].To = int64(1000+100*i), int64(2000+100*i)
	}
	for id := range nodes.ID(4) {
		f := &m.sections.Faults[id]
		m.sections.Deaths = append(m.sections.Deaths,
			section.Death{Node: id, From: f.From, At: f.From, Back: f.To})
	}
	broken := int64(nodes.NoCrash)
	m.sections.Broken = []history.Event{{At: 1000, Value: broken},
		{At: 2205, Value: broken | int64(nodes.NoAmnesia)}}
	for needs, want := range map[nodes.Assumption]string{
		nodes.NoCrash: "kill 0", nodes.NoAmnesia: "kill 2", nodes.Majority: "kill 1", nodes.ServersUp: "kill 3",
	} {
		if f := m.outsideIf(violated("it is late"), within(2400, 2400, 1000), needs); !strings.HasSuffix(f.Says,
			"; "+want+")") {
			t.Errorf("%v: %s, want %s", needs, f.Says, want)
		}
	}
	m.Unheard = true
	f := m.outsideIf(violated("it is late"), within(2400, 2400, 1000), nodes.EventualDetector)
	if !strings.Contains(f.Says, "; kill 0)") {
		t.Errorf("a crash that nobody hears of: %s", f.Says)
	}
	m.sections.Broken[1].Value |= int64(nodes.ServersUp) // the amnesia of servers that the run does not own
	if f := m.outsideIf(violated("it is late"), within(2400, 2400, 1000), nodes.NoAmnesia); strings.Contains(
		f.Says, "kill") {
		t.Errorf("servers out of reach: %s", f.Says)
	}
}

// A node that reaches only one other, which reaches all, is on the side of a majority: the message that lets
// it in may come through that other node.
func TestWhoReachesAMajorityThroughOthersIsOnItsSide(t *testing.T) {
	apart := func(a, b, _ nodes.ID) bool { return min(a, b) == 1 && max(a, b) == 2 || min(a, b) == 2 }
	m := modelOf(Fault{Separates: apart})
	m.Config.N = 4
	of := func(at int64) int { return (&sides{model: m}).when(at).side(2) }
	reached, side, whole := m.reached(2, 1500), of(1500), of(2000)
	if reached != 2 || side != 3 || whole != 4 {
		t.Errorf("it reaches %d, and its side has %d, and %d without the cut", reached, side, whole)
	}
	m.Faults[0].Separates = func(a, b, _ nodes.ID) bool { return (a < 2) != (b < 2) }
	if side := of(1500); side != 2 {
		t.Errorf("of two sides, one has %d", side)
	}
}

// In a foreign program, a fault of clocks hits only timers that the testbed runs for it. If the program set
// no timer, the fault hit nothing. For other algorithms no timers are recorded, and faults are judged as
// usual.
func TestClocksOfProgramsThatSetNoTimer(t *testing.T) {
	set := func(running uint32, ever int64) *history.Event {
		return &history.Event{Kind: history.ClockSet, Count: running, Value: ever}
	}
	for _, x := range []struct {
		name        string
		forGood     bool
		began, over *history.Event
		misses      string // empty: it hits
	}{
		{"no timer", true, set(0, 0), nil, "it hit nothing: node 1 has set no timer, and read no clock"},
		{"none that runs", true, set(0, 3), nil, "it hit nothing: no timer that node 1 has set ran"},
		{"one that runs", true, set(1, 3), nil, ""},
		{"none while it lasted", false, set(0, 0), set(0, 0), "it hit nothing: node 1 has set no timer"},
		{"one that was set meanwhile", false, set(0, 0), set(0, 1), ""},
		{"not known how it ended", false, set(0, 0), nil, ""},
		{"of another algorithm", true, nil, nil, ""},
	} {
		w := measuring()
		w.Safe, w.CostKnown, w.Identities = nodes.Timing, false, nil
		w.Faults = []Fault{{Text: "clock 1", ForGood: x.forGood, Breaks: nodes.Timing,
			Sets: true, Hits: func(id, _ nodes.ID) bool { return id == 1 }}}
		w.round()
		w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: 1, Breaks: nodes.Timing,
			Victim: nodes.None, Nodes: 1}))
		if x.began != nil {
			w.add(1, *x.began)
		}
		w.together()
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1})
		if x.over != nil {
			w.add(1, *x.over)
		}
		w.round()
		w.end()
		v := w.judge()
		f := finding(t, v, "faults")
		if hits := x.misses == ""; (f.Outcome == Valid) != hits || !strings.Contains(f.Says, x.misses) ||
			v.OutsideModel != hits {
			t.Errorf("%s: %v: %s; outside its model: %v", x.name, f.Outcome, f.Says, v.OutsideModel)
		}
	}
}

// naiveSide finds the nodes that a node reaches, node by node.
func naiveSide(m *model, from nodes.ID, at int64) int {
	side := []nodes.ID{from}
	for i := 0; i < len(side); i++ {
		for id := range nodes.ID(m.Config.N) {
			if !slices.Contains(side, id) && m.wasUp(id, at) && !m.separated(side[i], id, at) {
				side = append(side, id)
			}
		}
	}
	return min(len(side), m.Config.N/2+1)
}

// naiveSince returns since when a node has been in the minority in which it is at a time.
func naiveSince(m *model, id nodes.ID, at, began int64) int64 {
	for at > began && 2*naiveSide(m, id, at-1) <= m.Config.N {
		at--
	}
	return at
}

// randomFaults draws cuts into groups, into rings and of one node, and deaths.
func randomFaults(r *rand.Rand) *model {
	n := 2 + r.IntN(7)
	m := &model{Setting: Setting{Config: nodes.Config{N: n}}, sections: &section.Fold{}}
	for number := range r.IntN(4) {
		groups, victim := r.Perm(n), nodes.ID(r.IntN(n))
		f := Fault{
			Part:      func(id, _ nodes.ID) int { return groups[id] % 3 },
			Separates: func(a, b, _ nodes.ID) bool { return groups[a]%3 != groups[b]%3 },
		}
		switch r.IntN(3) {
		case 0:
			f.Part = nil
			f.Separates = func(a, b, _ nodes.ID) bool {
				apart := max(groups[a]-groups[b], groups[b]-groups[a])
				return min(apart, n-apart) > 1
			}
		case 1:
			f.Part = func(id, victim nodes.ID) int {
				if id == victim {
					return 1
				}
				return 0
			}
			f.Separates = func(a, b, victim nodes.ID) bool { return a != b && (a == victim || b == victim) }
		}
		from := r.Int64N(40)
		m.Faults = append(m.Faults, f)
		m.sections.Faults = append(m.sections.Faults, section.Fault{Number: uint32(number + 1), From: from,
			To: from + r.Int64N(30), Victim: victim})
	}
	for range r.IntN(4) {
		from := r.Int64N(40)
		d := section.Death{Node: nodes.ID(r.IntN(n + 1)), From: from, Back: from + r.Int64N(30)}
		if r.IntN(3) == 0 {
			d.Back = math.MaxInt64
		}
		m.sections.Deaths = append(m.sections.Deaths, d)
	}
	return m
}

// The cached sides equal what a search node by node finds at each time.
func TestSidesAreThoseOfEveryNode(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 33))
		m := randomFaults(r)
		s := sides{model: m}
		for range 30 {
			id, at := nodes.ID(r.IntN(m.Config.N)), r.Int64N(70)
			want := naiveSide(m, id, at)
			if got := min(s.when(at).side(id), m.Config.N/2+1); got != want {
				t.Fatalf("seed %d: at %d, the side of %d has %d nodes, not %d", seed, at, id, got, want)
			}
			if 2*want > m.Config.N {
				continue
			}
			if got, want := s.minoritySince(id, at, 2), naiveSince(m, id, at, 2); at >= 2 && got != want {
				t.Fatalf("seed %d: at %d, %d is in a minority since %d, not %d", seed, at, id, got, want)
			}
		}
	}
}
