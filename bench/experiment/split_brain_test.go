package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/nodes/election"
	"turnstile/nodes/row"
	"turnstile/results"
)

// rowsOf makes the simulated runs of some schemes.
func rowsOf(t *testing.T, c *SplitBrain) (rows []*results.SplitBrainRow) {
	t.Helper()
	c.Seed, c.Setup = 1, bench.Setup{Results: t.TempDir(), Set: "set"}
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

// scheme returns the row of a scheme.
func scheme(t *testing.T, name string) *row.Row {
	t.Helper()
	row, err := election.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// slow returns schemes whose elections take longer the more nodes there are.
func slow(t *testing.T) []*row.Row {
	return []*row.Row{scheme(t, "bully-four-phase"), scheme(t, "omega-efficient"), scheme(t, "invitation")}
}

// Schemes whose elections take longer the more nodes there are have a longer cut, and do what their rows say.
func TestCutsAreAsLongAsSchemesNeed(t *testing.T) {
	for n, rows := range map[int][]*row.Row{5: election.Table, 32: soak.Pick(slow(t)[:1], slow(t), slow(t))} {
		for _, r := range rowsOf(t, &SplitBrain{Experiment: of(rows...), N: n}) {
			if r.Differs != "" || r.Inconclusive != "" {
				t.Errorf("%d nodes, %s: differs %q, inconclusive %q", n, r.Algorithm, r.Differs, r.Inconclusive)
			}
			if cut, _ := r.CutS.Value(); n == 5 && cut != Usual.Seconds() {
				t.Errorf("5 nodes, %s: the cut lasts for %v s", r.Algorithm, cut)
			}
		}
	}
}

// cutsOfPlan returns the cuts of a plan of ours.
func cutsOfPlan(t *testing.T, name string) (all []effect.Cut) {
	t.Helper()
	p, err := chaos.FindPlan(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Faults {
		all = append(all, p.Faults[i].Effect.(*effect.CutLinks).Cut)
	}
	return all
}

// Where some links are cut, each scheme does what its row says, wherever its leader is: a row that promises a
// leader that stays has one, and of those that promise none, one shows that it needs to.
func TestPartialCutsWithTheLeaderAtEachPlace(t *testing.T) {
	quick := []*row.Row{scheme(t, "raft-election"), scheme(t, "bully-majority"), scheme(t, "omega")}
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
		rows := soak.Pick(quick[:1], quick, election.Table)
		places, restless := map[string]bool{}, 0
		for _, r := range rowsOf(t, &SplitBrain{Experiment: of(rows...), N: test.n, Given: test.given,
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
			if says := row.OneStays.String(); (r.Says == says) != (test.given != nil) {
				t.Errorf("%s with %v says %q", r.Algorithm, test.given, r.Says)
			}
		}
		if len(places) != test.n || (restless > 0) != (test.given == nil) {
			t.Errorf("%s, %v: with %d of %d leaders, the next come again and again", test.plan, test.given, restless,
				len(places))
		}
	}
}

// A row that promises that its leader stays differs if it does not.
func TestAWrongPromiseOfALeaderThatStays(t *testing.T) {
	spec := *scheme(t, "raft-election")
	leads := *spec.Elector
	leads.Partitions = []row.Partition{{Cuts: row.SomeLinks, Does: row.OneStays}}
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

// Each scheme is cut once with its leader in the minority and once in the majority, and who leads before the
// cut is there; a scheme that is silent shows nothing.
func TestLeadersAreOnEitherSide(t *testing.T) {
	rows := []*row.Row{scheme(t, "bully"), scheme(t, "omega"), scheme(t, "raft-election"),
		scheme(t, "chang-roberts"), scheme(t, "itai-rodeh")}
	where := map[string]string{}
	for _, r := range rowsOf(t, &SplitBrain{Experiment: of(rows...), N: 5}) {
		cut, err := effect.ParseCut(r.Cut)
		if err != nil {
			t.Fatal(err)
		}
		led, err := effect.ParseGroup(r.Led)
		if err != nil {
			t.Fatal(err)
		}
		side := slices.IndexFunc(cut.Sides(), func(g effect.Group) bool { return slices.Contains(g, led[0]) })
		if small := 2*len(cut.Sides()[side]) < 5; small != (r.LeaderIn == inMinority) {
			t.Errorf("%s: node %v led, cut %s: the leader is not in the %s", r.Algorithm, led, r.Cut, r.LeaderIn)
		}
		where[r.Algorithm] += r.LeaderIn + " "
		silent := r.Algorithm == "chang-roberts" || r.Algorithm == "itai-rodeh"
		if silent != (r.ShowsNothing != "") {
			t.Errorf("%s shows nothing: %q", r.Algorithm, r.ShowsNothing)
		}
	}
	for _, row := range rows {
		if where[row.Name] != inMinority+" "+inMajority+" " {
			t.Errorf("%s: leader in %s", row.Name, where[row.Name])
		}
	}
}

// What a scheme had too little time for, as the caller asked for a short cut, differs from nothing.
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

// A row that says what is not so differs, also where the cut is short.
func TestWrongRowsDiffer(t *testing.T) {
	for _, test := range []struct {
		scheme string
		does   row.Parted
		says   string
	}{
		{"bully", row.Blocked, "came to lead while the cut lasted"},
		{"bully", row.OneLeads, "alone was to lead"},
		{"bully", row.MajorityLeads, "nobody was to lead there"},
		{"bully-majority", row.TwoLead, "one node was to lead there"},
		{"le-lann", row.PerSide, "one node was to lead there"},
	} {
		spec := *scheme(t, test.scheme)
		leads := *spec.Elector
		leads.Partitions = []row.Partition{{Does: test.does, Why: "a slip of the pen"}}
		spec.Elector = &leads
		r := rowsOf(t, &SplitBrain{Experiment: of(&spec), N: 5, For: 1600 * time.Millisecond})[0]
		if !strings.Contains(r.Differs, test.says) {
			t.Errorf("%s, whose row says %v, differs: %q", test.scheme, test.does, r.Differs)
		}
	}
}

// A run that ends too soon says nothing of who agreed.
func TestShortRunsAreInconclusive(t *testing.T) {
	c := &SplitBrain{Experiment: of(scheme(t, "bully")), N: 5, Duration: 3010 * time.Millisecond}
	r := rowsOf(t, c)[0]
	if r.Differs != "" || !strings.Contains(r.Inconclusive, "10ms after the heal; this scheme") {
		t.Errorf("it differs %q, inconclusive %q", r.Differs, r.Inconclusive)
	}
}

// Runs are made again where another may show more: not where two led in one term, and on virtual time only
// with a longer cut.
func TestRunsMadeAgain(t *testing.T) {
	differs, short := results.SplitBrainRow{Differs: "x"}, results.SplitBrainRow{Inconclusive: "x"}
	fine, never := results.SplitBrainRow{}, results.SplitBrainRow{Differs: inOneTerm}
	for _, test := range []struct {
		what string
		c    SplitBrain
		rows []results.SplitBrainRow
		want int // of the last run that is made, from 1
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
		test.c.N, test.c.Rows = 12, []*row.Row{scheme(t, "bully-four-phase")}
		if err := test.c.Check(); err != nil {
			t.Fatal(err)
		}
		made := 0
		r := test.c.repeated(t.Context(), test.c.cases()[0], func(context.Context, *partition) *Result {
			made++
			row := &test.rows[made-1]
			return &Result{Row: row, Wrong: row.Differs}
		})
		if made != test.want || r.Row != &test.rows[test.want-1] {
			t.Errorf("%s: %d runs are made, not %d", test.what, made, test.want)
		}
	}
}
