package study

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/figure"
	"turnstile/internal/soak"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/results"
)

// rowsOf makes the simulated runs of some schemes.
func rowsOf(t *testing.T, c *SplitBrain) (rows []*results.SplitBrainRow) {
	t.Helper()
	c.Seed, c.Setup = 1, runs.Setup{Results: t.TempDir(), Set: "set"}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	all, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		rows = append(rows, r.Row)
	}
	return rows
}

// scheme returns the algorithm of a scheme.
func scheme(t *testing.T, name string) *algorithm.Algorithm {
	t.Helper()
	algo, err := election.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return algo
}

// slow returns schemes whose elections take longer with more nodes.
func slow(t *testing.T) []*algorithm.Algorithm {
	return []*algorithm.Algorithm{scheme(t, "bully-four-phase"), scheme(t, "omega-efficient"),
		scheme(t, "invitation")}
}

// Schemes whose elections take longer with more nodes get a longer cut, and do what is expected of them.
func TestCutsAreAsLongAsSchemesNeed(t *testing.T) {
	for n, algos := range map[int][]*algorithm.Algorithm{5: election.Table,
		32: soak.Pick(slow(t)[:1], slow(t), slow(t))} {
		for _, r := range rowsOf(t, &SplitBrain{Experiment: of(algos...), N: n}) {
			if r.Differs != "" || r.Inconclusive != "" {
				t.Errorf("%d nodes, %s: differs %q, inconclusive %q", n, r.Algorithm, r.Differs, r.Inconclusive)
			}
			if cut, _ := r.CutS.Value(); n == 5 && cut != Usual.Seconds() {
				t.Errorf("5 nodes, %s: the cut lasts for %v s", r.Algorithm, cut)
			}
		}
	}
}

// cutsOfPlan returns the cuts of a built-in plan.
func cutsOfPlan(t *testing.T, name string) (all []effect.Cut) {
	t.Helper()
	p, _, err := chaos.FindPlan(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Faults {
		all = append(all, p.Faults[i].Effect.(*effect.Partition).Cut)
	}
	return all
}

// With some links cut, each scheme does what is expected, at each place of the leader: a scheme that promises
// a stable leader has one, and a scheme without that promise shows at some place why.
func TestPartialCutsWithTheLeaderAtEachPlace(t *testing.T) {
	quick := []*algorithm.Algorithm{scheme(t, "raft-election"), scheme(t, "bully-majority"), scheme(t, "omega")}
	for _, test := range []struct {
		plan  string
		n     int
		given map[string]string
	}{
		{"one-link", 3, nil},
		{"one-link", 3, map[string]string{"pre-vote": "on"}},
		{"chain", 5, nil},
		{"chain", 5, map[string]string{"pre-vote": "on"}},
	} {
		algos := soak.Pick(quick[:1], quick, election.Table)
		places, restless := map[string]bool{}, 0
		for _, r := range rowsOf(t, &SplitBrain{Experiment: of(algos...), N: test.n, Given: test.given,
			Cuts: cutsOfPlan(t, test.plan)}) {
			if r.Differs != "" || r.Inconclusive != "" {
				t.Errorf("%s, %v, %s, leader at %s: differs %q, inconclusive %q", test.plan, test.given, r.Algorithm,
					r.LeaderIn, r.Differs, r.Inconclusive)
			}
			if r.Algorithm != "raft-election" {
				continue
			}
			places[r.LeaderIn] = true
			if changes, _ := r.Changes.Value(); changes > 5 {
				restless++
			}
			if says := algorithm.OneStays.String(); (r.Says == says) != (test.given != nil) {
				t.Errorf("%s with %v says %q", r.Algorithm, test.given, r.Says)
			}
		}
		if len(places) != test.n || (restless > 0) != (test.given == nil) {
			t.Errorf("%s, %v: with %d of %d leaders, the next come again and again", test.plan, test.given, restless,
				len(places))
		}
	}
}

// A scheme that promises a stable leader differs if the leader changes.
func TestAWrongPromiseOfALeaderThatStays(t *testing.T) {
	spec := *scheme(t, "raft-election")
	leads := *spec.Elector
	leads.Partitions = []algorithm.Partition{{Cuts: algorithm.SomeLinks, Does: algorithm.OneStays}}
	spec.Elector = &leads
	differ := 0
	for _, r := range rowsOf(t, &SplitBrain{Experiment: of(&spec), N: 3, Cuts: cutsOfPlan(t, "one-link")}) {
		if strings.Contains(r.Differs, "came to lead, later than 3s after the cut began") {
			differ++
		}
		if bridge := r.LeaderIn == "node 1"; bridge != (r.ShowsNothing != "") {
			t.Errorf("leader at %s: it shows nothing: %q", r.LeaderIn, r.ShowsNothing)
		}
	}
	if differ != 2 { // with the leader at an end of the link
		t.Errorf("%d of 3 differ", differ)
	}
}

// Each scheme is cut once with its leader in the minority and once with its leader in the majority. Before
// the cut, a node on that side leads. A scheme that sends no messages during the cut shows nothing.
func TestLeadersAreOnEitherSide(t *testing.T) {
	algos := []*algorithm.Algorithm{scheme(t, "bully"), scheme(t, "omega"), scheme(t, "raft-election"),
		scheme(t, "chang-roberts"), scheme(t, "itai-rodeh")}
	where := map[string]string{}
	for _, r := range rowsOf(t, &SplitBrain{Experiment: of(algos...), N: 5}) {
		cut, err := effect.ParseCut(r.Cut)
		if err != nil {
			t.Fatal(err)
		}
		led, err := nodes.ParseGroup(r.Led)
		if err != nil {
			t.Fatal(err)
		}
		side := slices.IndexFunc(cut.Sides(), func(g nodes.Group) bool { return slices.Contains(g, led[0]) })
		if small := 2*len(cut.Sides()[side]) < 5; small != (r.LeaderIn == inMinority) {
			t.Errorf("%s: node %v led, cut %s: the leader is not in the %s", r.Algorithm, led, r.Cut, r.LeaderIn)
		}
		where[r.Algorithm] += r.LeaderIn + " "
		silent := r.Algorithm == "chang-roberts" || r.Algorithm == "itai-rodeh"
		if silent != (r.ShowsNothing != "") {
			t.Errorf("%s shows nothing: %q", r.Algorithm, r.ShowsNothing)
		}
	}
	for _, algo := range algos {
		if where[algo.Name] != inMinority+" "+inMajority+" " {
			t.Errorf("%s: leader in %s", algo.Name, where[algo.Name])
		}
	}
}

// If the user asked for a cut that is too short for a scheme, the run is inconclusive and does not differ.
func TestShortCutsAreInconclusive(t *testing.T) {
	short := 0
	for _, n := range []int{5, 32} {
		for _, r := range rowsOf(t, &SplitBrain{Experiment: of(slow(t)...), N: n, For: shortest}) {
			if r.Differs != "" {
				t.Errorf("%d nodes, %s differs: %s", n, r.Algorithm, r.Differs)
			}
			if r.Inconclusive != "" {
				short++
				if !strings.Contains(r.Inconclusive, "the cut of 1s was too short for this scheme, which may take ") {
					t.Errorf("%d nodes, %s: inconclusive: %s", n, r.Algorithm, r.Inconclusive)
				}
			}
		}
	}
	if short == 0 {
		t.Error("no cut was too short")
	}
}

// A scheme of which something wrong is expected differs, even if the cut is short.
func TestWrongAlgorithmsDiffer(t *testing.T) {
	for _, test := range []struct {
		scheme string
		does   algorithm.Parted
		says   string
	}{
		{"bully", algorithm.Blocked, "came to lead while the cut lasted"},
		{"bully", algorithm.OneLeads, " alone"},
		{"bully", algorithm.MajorityLeads, "expected: nobody"},
		{"bully-majority", algorithm.TwoLead, "expected: one node"},
		{"le-lann", algorithm.PerSide, "expected: one node"},
	} {
		spec := *scheme(t, test.scheme)
		leads := *spec.Elector
		leads.Partitions = []algorithm.Partition{{Does: test.does, Why: "a slip of the pen"}}
		spec.Elector = &leads
		r := rowsOf(t, &SplitBrain{Experiment: of(&spec), N: 5, For: 1600 * time.Millisecond})[0]
		if !strings.Contains(r.Differs, test.says) {
			t.Errorf("%s, of which %v is expected, differs: %q", test.scheme, test.does, r.Differs)
		}
	}
}

// A run that ends too soon shows nothing about agreement.
func TestShortRunsAreInconclusive(t *testing.T) {
	c := &SplitBrain{Experiment: of(scheme(t, "bully")), N: 5, Duration: 3010 * time.Millisecond}
	r := rowsOf(t, c)[0]
	if r.Differs != "" || !strings.Contains(r.Inconclusive, "10ms after the heal; this scheme") {
		t.Errorf("it differs %q, inconclusive %q", r.Differs, r.Inconclusive)
	}
}

// Runs are repeated if another one may show more: not if two led in one term, and on virtual time only with a
// longer cut.
func TestRunsMadeAgain(t *testing.T) {
	differs, short := results.SplitBrainRow{Differs: "x"}, results.SplitBrainRow{Inconclusive: "x"}
	fine, never := results.SplitBrainRow{}, results.SplitBrainRow{Differs: inOneTerm}
	for _, test := range []struct {
		what string
		c    SplitBrain
		rows []results.SplitBrainRow
		want int // number of the last run that is made, from 1
	}{
		{"fine", SplitBrain{Real: true}, []results.SplitBrainRow{fine, differs}, 1},
		{"at the second time", SplitBrain{Real: true}, []results.SplitBrainRow{differs, fine, differs}, 2},
		{"never", SplitBrain{Real: true}, []results.SplitBrainRow{differs, short, differs, fine}, 3},
		{"in one term", SplitBrain{Real: true}, []results.SplitBrainRow{never, fine}, 1},
		{"simulated", SplitBrain{}, []results.SplitBrainRow{differs, fine}, 1},
		{"simulated, too short", SplitBrain{}, []results.SplitBrainRow{short, differs, fine}, 2},
		{"simulated, too short as asked", SplitBrain{For: Usual}, []results.SplitBrainRow{short, fine}, 1},
		{"processes, as asked", SplitBrain{For: Usual, Real: true},
			[]results.SplitBrainRow{short, short, short, fine}, 3},
	} {
		test.c.N, test.c.Algorithms = 12, []*algorithm.Algorithm{scheme(t, "bully-four-phase")}
		if err := test.c.Check(); err != nil {
			t.Fatal(err)
		}
		made := 0
		r := again(test.c.caseOf(test.c.cases()[0]), func(*Case) *Result {
			made++
			row := &test.rows[made-1]
			return &Result{Row: row, Wrong: row.Differs}
		}, func() bool { return true })
		if made != test.want || r.Row != &test.rows[test.want-1] {
			t.Errorf("%s: %d runs are made, not %d", test.what, made, test.want)
		}
	}
}

// A believed says in which leader a node believed, from the end of its previous belief until a time.
type believed struct {
	leader int
	term   float64
	to     float64
}

// trial returns a run of five seconds whose cut lasted from 1 s to 3 s. Two led in one term for inTermUS.
func trial(inTermUS float64, lanes ...[]believed) *runs.TrialResult {
	n := len(lanes)
	events := []history.Event{{Kind: history.Marked, Node: nodes.None, Count: history.Began},
		{At: 5e9, Kind: history.Marked, Node: nodes.None, Count: history.Stopped}}
	for id, beliefs := range lanes {
		from := 0.0
		for _, b := range beliefs {
			events = append(events, history.Event{At: int64(from * 1e9), Kind: history.Elected, Node: nodes.ID(id),
				Count: uint32(b.leader), Value: int64(b.term)})
			from = b.to
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	f := leadership.New(nodes.Config{N: n}, &algorithm.Leadership{Terms: true})
	for _, e := range events {
		f.Add(e)
	}
	f.Close(nil)
	return &runs.TrialResult{
		Measures: &measure.Measures{Leaders: measure.NewLeaders(f), Window: section.Window{From: 0, To: 5e9}},
		Row:      results.Row{Figures: measure.Figures{TwoLeadersInTermUS: figure.Number(inTermUS)}},
		Faults:   []results.FaultRow{{OfFault: measure.OfFault{FromS: figure.Number(1), ToS: figure.Number(3)}}},
	}
}

// The fate of the leaders is read from the fold of the history: how long a node led a minority, whether it
// stepped down before the heal, and how long after the heal all agreed.
func TestJudged(t *testing.T) {
	majority := []believed{{4, 1, 1.5}, {2, 2, 5}}
	stays := []believed{{4, 1, 3.4}, {2, 2, 5}}
	down := []believed{{4, 1, 1.8}, {2, 2, 5}} // from 1.8 s on it leads no more
	half := []believed{{0, 1, 5}}
	for _, test := range []struct {
		name        string
		cut         string
		does        algorithm.Parted
		trial       *runs.TrialResult
		led, agreed figure.Figure
		stepped     bool
		leaders     string
		differs     string // part of it
	}{
		{name: "it leads until after the heal", cut: "0-2/3-4", does: algorithm.PerSide,
			trial: trial(0, majority, majority, majority, stays, stays),
			led:   figure.Number(2), agreed: figure.Number(0.4), leaders: "2 | 4"},
		{name: "it steps down", cut: "0-2/3-4", does: algorithm.MajorityLeads,
			trial: trial(0, majority, majority, majority, stays, down),
			led:   figure.Number(0.8), agreed: figure.Number(0.4), stepped: true, leaders: "2 | none"},
		{name: "it was to step down", cut: "0-2/3-4", does: algorithm.MajorityLeads,
			trial: trial(0, majority, majority, majority, stays, stays), led: figure.Number(2),
			agreed: figure.Number(0.4), leaders: "2 | 4", differs: "node 4 led on the side of 3-4"},
		{name: "all agreed before the heal", cut: "0-2/3-4", does: algorithm.OneLeads,
			trial: trial(0, half, half, half, half, half), agreed: figure.Number(0), leaders: "0 | none"},
		{name: "not all agreed", cut: "0-2/3-4", does: algorithm.PerSide,
			trial: trial(0, majority, majority, majority, []believed{{4, 1, 5}}, []believed{{4, 1, 5}}),
			led:   figure.Number(2), leaders: "2 | 4", differs: "not all agreed on a leader at the end"},
		{name: "half of the nodes are no majority", cut: "0-1/2-3", does: algorithm.OneLeads,
			trial: trial(0, half, half, half, half), led: figure.Number(2), agreed: figure.Number(0),
			leaders: "0 | none"},
		{name: "two led in one term", cut: "0-2/3-4", does: algorithm.PerSide,
			trial: trial(5000, majority, majority, majority, stays, stays), led: figure.Number(2),
			agreed: figure.Number(0.4), leaders: "2 | 4", differs: inOneTerm},
	} {
		t.Run(test.name, func(t *testing.T) {
			cut, err := effect.ParseCut(test.cut)
			if err != nil {
				t.Fatal(err)
			}
			spec := *scheme(t, "raft-election")
			leads := *spec.Elector
			leads.Partitions = []algorithm.Partition{{Does: test.does}}
			spec.Elector = &leads
			c := &SplitBrain{Experiment: of(&spec), N: len(cut.Named()), Cuts: []effect.Cut{cut}}
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			x := c.cases()[0]
			x.needs, x.left, x.leader = 0, Usual, test.trial.Measures.Leaders.LeadersAt(1e9)[0]
			got := x.judged(test.trial)
			if !near(got.MinorityLedS, test.led) || !near(got.AgreedS, test.agreed) ||
				got.SteppedDown != test.stepped || got.Leaders != test.leaders {
				t.Errorf("a minority was led for %v s, stepped down: %v; agreed after %v s; leaders %s",
					got.MinorityLedS, got.SteppedDown, got.AgreedS, got.Leaders)
			}
			if test.differs == "" && got.Differs != "" || !strings.Contains(got.Differs, test.differs) {
				t.Errorf("it differs %q, and not %q", got.Differs, test.differs)
			}
			if got.Inconclusive != "" {
				t.Errorf("inconclusive: %s", got.Inconclusive)
			}
		})
	}
}

// A leader that is not in its place shows nothing about that place, and is moved there for another run.
func TestALeaderElsewhereIsNoEvidence(t *testing.T) {
	c := &SplitBrain{Experiment: of(scheme(t, "raft-election")), N: 5}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	x := c.cases()[0] // its leader is to be in the minority, which is 3-4
	x.needs, x.left = 0, Usual
	stays := []believed{{2, 1, 5}}
	row := x.judged(trial(0, stays, stays, stays, stays, stays))
	const elsewhere = "node 2 led when the cut began, but the cut was laid for another leader"
	if row.LeaderIn != inMinority || row.Inconclusive != elsewhere {
		t.Errorf("leader in the %s: %q", row.LeaderIn, row.Inconclusive)
	}
	if !x.misplaced(row) || x.cut() != "0-1,4/2-3" || x.leader != 2 {
		t.Errorf("the leader, node %d, is cut off by %s", x.leader, x.cut())
	}
	if x.misplaced(row) {
		t.Error("it is moved again, though it is where it was to be")
	}
}

// A scheme with a stable leader differs if another node comes to lead later than the scheme may take, or if
// none leads though a node reaches a majority.
func TestLeadersThatAreToStay(t *testing.T) {
	follow := func(terms ...believed) []believed { return terms }
	for _, test := range []struct {
		name    string
		trial   *runs.TrialResult
		differs string
	}{
		{"it stays", trial(0, follow(believed{0, 1, 5}), follow(believed{0, 1, 5}), follow(believed{0, 1, 5})), ""},
		{"another replaces it in time", trial(0, follow(believed{0, 1, 1.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 1.4}, believed{1, 2, 5}), follow(believed{0, 1, 1.4}, believed{1, 2, 5})), ""},
		{"another replaces it later", trial(0, follow(believed{0, 1, 2.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 2.4}, believed{1, 2, 5}), follow(believed{0, 1, 2.4}, believed{1, 2, 5})),
			"1 node came to lead, later than 1s after the cut began; expected: the leader stays"},
		{"it is the same in another term", trial(0, follow(believed{0, 1, 2.4}, believed{0, 2, 5}),
			follow(believed{0, 2, 5}), follow(believed{0, 2, 5})), "1 node came to lead"},
		{"nobody leads", trial(0, follow(believed{0, 1, 1.4}, believed{1, 1, 3.1}, believed{0, 2, 5}),
			follow(believed{0, 1, 3.1}, believed{0, 2, 5}), follow(believed{0, 1, 3.1}, believed{0, 2, 5})),
			"nobody led when the cut was healed and reached a majority"},
	} {
		cut, err := effect.ParseCut("0/2")
		if err != nil {
			t.Fatal(err)
		}
		c := &SplitBrain{Experiment: of(scheme(t, "raft-election")), N: 3, Cuts: []effect.Cut{cut},
			Given: map[string]string{"pre-vote": "on"}}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		x := c.cases()[0]
		x.needs, x.left, x.leader = time.Second, Usual, 0
		if row := x.judged(test.trial); test.differs == "" && row.Differs != "" ||
			!strings.Contains(row.Differs, test.differs) || row.Inconclusive != "" || row.LeaderIn != "node 0" {
			t.Errorf("%s: it differs %q, and not %q; inconclusive %q", test.name, row.Differs, test.differs,
				row.Inconclusive)
		}
	}
}

// near reports whether two figures are equal but for rounding, or both unknown.
func near(a, b figure.Figure) bool {
	x, is := a.Value()
	y, wants := b.Value()
	return is == wants && x-y < 1e-9 && y-x < 1e-9
}
