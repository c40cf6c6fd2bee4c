package matrix

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// named matches a reason that names the assumption, the fault and, of a fault of processes, its victim. That
// a detector is wrong is no fault, but what may come of one.
var named = regexp.MustCompile(`\((outside its model|blocked, as its model allows): it needs ` +
	`(an? [a-z]+ detector(, an? [a-z]+ detector)?|` +
	`[a-zA-Z ,]+; ` +
	`((cut|loss|delay|duplicate|reorder|bandwidth) .+|[a-z-]+ [0-9].*|.*, which hit node \d+))\)`)

// Whatever goes wrong, what becomes of each algorithm is what its row says.
func TestRowsUnderAllPlans(t *testing.T) {
	for _, row := range catalog.All() {
		t.Run(row.Name, func(t *testing.T) {
			if err := Check(row); err != nil {
				t.Fatal(err)
			}
			m := Matrix{Rows: []*nodes.Spec{row}, Seed: 1, Runs: soak.Pick(1, 1, 100)}
			cells, err := m.Make(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				if len(c.Runs) != m.Runs {
					t.Errorf("%s: %d of %d runs", c.Plan.Name, len(c.Runs), m.Runs)
				}
				for _, r := range c.Runs {
					if r.Verdict.OutsideModel && !named.MatchString(r.Verdict.Reason) {
						t.Errorf("%s, seed %d: it does not say what broke which assumption: %s", c.Plan.Name, r.Seed,
							r.Verdict.Reason)
					}
				}
				if r := c.Wrong(); r != nil {
					t.Errorf("%s, seed %d: %s", c.Plan.Name, r.Seed, r.Wrong())
				}
			}
		})
	}
}

// some returns a small matrix of one row.
func some(row *nodes.Spec, plans ...string) *Matrix {
	return &Matrix{Rows: []*nodes.Spec{row}, Faults: plans, Seed: 1, Runs: 2}
}

// A row that says something else than what its runs show is found out, and so is one that says nothing.
func TestDifferencesAreSeen(t *testing.T) {
	row, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	liar := *row
	liar.Faults = []nodes.FaultCell{{Fault: "dead-holder", May: nodes.Recovers, Why: "it is said so"}}
	cells, err := some(&liar, "dead-holder", "dead-idle").Make(t.Context())
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for i, want := range []string{`shows L, and the row "central" says nothing of it`,
		"shows B, and not L: no progress"} {
		c := cells[i]
		if r := c.Wrong(); r == nil || !strings.Contains(r.Wrong(), want) || !c.Differs() {
			t.Errorf("%s: %+v, want %q", c.Plan.Name, r, want)
		}
	}
	if row := cells[1].Row(false); row.Blocked != 2 || !row.Differs || row.May != "L" || row.Shown != "B" ||
		row.Recovered != 0 || row.Reason == "" {
		t.Errorf("%+v", row)
	}
}

// What is wrong with a run is wrong whatever its cell says.
func TestWrongRuns(t *testing.T) {
	sound := &nodes.Spec{}
	c := &Cell{Spec: sound, May: nodes.FaultCell{May: nodes.Breaks | nodes.Recovers}}
	failed := func(says string, outside bool) check.Verdict {
		return check.Verdict{Outcome: check.Violated, Reason: says, OutsideModel: outside,
			Findings: []check.Finding{{Outcome: check.Violated, Says: says, OutsideModel: outside}}}
	}
	inside, outside := failed("two inside", false), failed("two inside", true)
	masked := check.Verdict{Outcome: check.Violated, Reason: "two inside", OutsideModel: true,
		Findings: append(outside.Findings, failed("9 messages", false).Findings...)}
	for name, x := range map[string]struct {
		r    Run
		want string
	}{
		"it shows nothing":            {Run{Says: "cut short"}, "inconclusive: cut short"},
		"it is violated in its model": {Run{Shown: nodes.Breaks, Verdict: inside}, "its model: two inside"},
		"it costs too much": {Run{Says: "9 messages", Verdict: failed("9 messages", false)},
			"its model: 9 messages"},
		"it does outside of it, and costs too much": {Run{Shown: nodes.Breaks, Verdict: masked},
			"its model: 9 messages"},
		"it is violated outside of it": {Run{Shown: nodes.Breaks, Verdict: outside}, ""},
		"it recovers":                  {Run{Shown: nodes.Recovers}, ""},
		"it blocks, and is not to":     {Run{Shown: nodes.Blocks, Says: "all wait"}, "B, and not L|X: all wait"},
		"it could not be made":         {*new(Run).failed(errors.New("no disk")), "could not be made: no disk"},
	} {
		x.r.Cell = c
		if got := x.r.Wrong(); !strings.Contains(got, x.want) || (got == "") != (x.want == "") {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	known := &Run{Cell: &Cell{Spec: &nodes.Spec{Broken: "exclusion"}, May: c.May}, Shown: nodes.Breaks,
		Verdict: inside}
	if says := known.Wrong(); says != "" {
		t.Errorf("what is known to be broken: %s", says)
	}
}

// Rows say of each plan that suits them what may become of them, once, and of no other.
func TestCheck(t *testing.T) {
	row, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	change := func(do func(cells []nodes.FaultCell) []nodes.FaultCell) *nodes.Spec {
		changed := *row
		changed.Faults = do(append([]nodes.FaultCell{}, row.Faults...))
		return &changed
	}
	with := func(c nodes.FaultCell) *nodes.Spec {
		return change(func(cells []nodes.FaultCell) []nodes.FaultCell { return append(cells, c) })
	}
	for want, changed := range map[string]*nodes.Spec{
		"": row,
		`the row "central" lacks in Faults: dead-idle:`: change(
			func(cells []nodes.FaultCell) []nodes.FaultCell { return cells[1:] }),
		"dead-cat is no plan of ours":        with(nodes.FaultCell{Fault: "dead-cat", May: 1, Why: "x"}),
		"lost-token is not run with it":      with(nodes.FaultCell{Fault: "lost-token", May: 1, Why: "x"}),
		"dead-leader is not run with it":     with(nodes.FaultCell{Fault: "dead-leader", May: 1, Why: "x"}),
		"Faults, dead-holder is there twice": with(nodes.FaultCell{Fault: "dead-holder", May: 1, Why: "x"}),
		"dead-idle has no reason": change(func(cells []nodes.FaultCell) []nodes.FaultCell {
			cells[0].Why = ""
			return cells
		}),
		"dead-idle says nothing that may be": change(func(cells []nodes.FaultCell) []nodes.FaultCell {
			cells[0].May = 0
			return cells
		}),
	} {
		err := Check(changed)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The figures of a cell are those of the runs that recovered.
func TestFiguresOfCells(t *testing.T) {
	row, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(row, "stopped-holder").Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := cells[0].Row(false)
	wait, _ := r.WaitMaxS.Value()
	next, _ := r.NextEntryS.Value()
	before, _ := r.MessagesBefore.Value()
	after, _ := r.MessagesAfter.Value()
	if wait < 1 || wait > 1.1 || next > 0.1 || before < 7 || before > 9 || after < 7 || after > 9 ||
		r.Recovered != 2 {
		t.Errorf("the holder stood still for a second: %+v", r)
	}
}

// The figures of a cell about leaders: a bully is replaced after a silence of 250 ms to 300 ms, and two lead
// while a cut lasts for three seconds, but for as long as it takes to find that out.
func TestFiguresOfCellsAboutLeaders(t *testing.T) {
	row, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(row, "dead-leader", "lowest-cut-off", "flapping-links", "amnesia").Make(t.Context())
	if err != nil || len(cells) != 4 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	dead, cut, back := cells[0].Row(false), cells[1].Row(false), cells[3].Row(false)
	if agreed, known := back.AgreedS.Value(); !known || agreed > 0.1 { // since it came up again
		t.Errorf("%+v", back)
	}
	// The fourth cut is over after 3.1 s, and a bully takes 800 ms.
	if o := cells[2].Options(1); o.Duration != 3900*time.Millisecond+spare {
		t.Errorf("%s is measured for %v", o.Plan, o.Duration)
	}
	agreed, _ := dead.AgreedS.Value()
	without, _ := dead.LeaderlessUS.Value()
	two, known := dead.TwoLeadersUS.Value()
	if dead.Recovered != 2 || agreed < 0.25 || agreed > 0.5 || without < 250e3 || without > 500e3 || !known ||
		two > 0 || dead.OverlapUS.Known() || dead.NextEntryS.Known() || dead.MessagesBefore.Known() {
		t.Errorf("%+v", dead)
	}
	if two, _ := cut.TwoLeadersUS.Value(); cut.Broke != 2 || two < 2.5e6 || two > 3e6 || cut.Waiting != "" {
		t.Errorf("%+v", cut)
	}
}

// A cell about leaders names those who have none.
func TestNodesWithoutALeaderAreNamed(t *testing.T) {
	row, err := election.Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(row, "amnesia", "dead-leader").Make(t.Context())
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	if all, one := cells[0].Row(false), cells[1].Row(false); all.Waiting != "0 1 2 3" || all.Shown != "B" ||
		one.Waiting != "0" || one.Shown != "P" {
		t.Errorf("%+v %+v", all, one)
	}
}
