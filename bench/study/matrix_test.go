package study

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
)

// namesFault matches a reason that names the assumption, the fault and, for a fault of processes, its victim.
// A wrong suspicion may stand in place of the fault that caused it.
var namesFault = regexp.MustCompile(`\((?:outside its model|blocked|a livelock): the algorithm assumes ` +
	`that ([a-z ,]*only crashed nodes are suspected, and (another was|that did not hold)|` +
	`[a-zA-Z ,]+; ` +
	`((cut|loss|delay|duplicate|reorder|bandwidth) .+|[a-z-]+ (broker )?[0-9].*|.*, which hit node \d+))\)`)

// A run of processes that shows nothing is made again, but not one that broke a promise inside its model.
func TestViolatedRunsAreKept(t *testing.T) {
	spec, err := (catalog.Table{}).Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	m := some(spec)
	m.Real = true
	of := m.caseOf(m.Cells()[0], 0)
	broke := check.Verdict{Findings: []check.Finding{{Check: "winner", Outcome: check.Violated}}}
	if again := of.Again(&Result{Job: of.Job, Verdict: broke}); again != nil {
		t.Error("a run that broke a promise is made again")
	}
	if again := of.Again(&Result{Job: of.Job}); again == nil {
		t.Error("a run that shows nothing is not made again")
	}
}

// Under every plan, the outcome of each algorithm is one that is expected of it.
func TestAlgorithmsUnderAllPlans(t *testing.T) {
	for _, spec := range soak.Few(catalog.Table{}.Algorithms()) {
		t.Run(spec.Name, func(t *testing.T) {
			if err := checkCells(spec); err != nil {
				t.Fatal(err)
			}
			m := some(spec)
			m.Runs = soak.Pick(1, 1, 100)
			cells, err := m.Make(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cells {
				if len(c.Runs) != m.Runs {
					t.Errorf("%s: %d of %d runs", c.Plan.Name, len(c.Runs), m.Runs)
				}
				for _, r := range c.Runs {
					if r.Verdict.OutsideModel && !namesFault.MatchString(r.Verdict.Reason) {
						t.Errorf("%s, seed %d: it does not say what broke which assumption: %s", c.Plan.Name, r.Seed,
							r.Verdict.Reason)
					}
				}
				if r := c.Wrong(); r != nil {
					t.Errorf("%s, seed %d: %s", c.Plan.Name, r.Seed, r.Wrong)
				}
			}
		})
	}
}

// some returns a small matrix of one algorithm.
func some(spec *algorithm.Algorithm, plans ...string) *Matrix {
	return &Matrix{Experiment: of(spec), Faults: plans, Runs: 2}
}

// An algorithm whose runs show something unexpected is found, and so is one of which nothing is expected.
func TestDifferencesAreSeen(t *testing.T) {
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	liar := *spec
	liar.Faults = []algorithm.FaultCell{{Fault: "dead-holder", May: algorithm.Recovers, Why: "it is said so"}}
	cells, err := some(&liar, "dead-holder", "dead-idle").Make(t.Context())
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for i, want := range []string{`shows L, and nothing is expected of central`,
		"shows B, not L: no progress"} {
		c := cells[i]
		if r := c.Wrong(); r == nil || !strings.Contains(r.Wrong, want) || !c.Differs() {
			t.Errorf("%s: %+v, want %q", c.Plan.Name, r, want)
		}
	}
	if got := cells[1].Row(false); got.Blocked != 2 || !got.Differs || got.May != "L" || got.Shown != "B" ||
		got.Recovered != 0 || got.Reason == "" {
		t.Errorf("%+v", got)
	}
}

// Some results are wrong under any expectation.
func TestWrongRuns(t *testing.T) {
	sound := &algorithm.Algorithm{Faults: []algorithm.FaultCell{{}}}
	c := &Cell{Spec: sound, May: algorithm.FaultCell{May: algorithm.Breaks | algorithm.Recovers}}
	failed := func(says string, outside bool) check.Verdict {
		return check.Verdict{Outcome: check.Violated, Reason: says, OutsideModel: outside,
			Findings: []check.Finding{{Outcome: check.Violated, Says: says, OutsideModel: outside}}}
	}
	inside, outside := failed("two inside", false), failed("two inside", true)
	masked := check.Verdict{Outcome: check.Violated, Reason: "two inside", OutsideModel: true,
		Findings: append(outside.Findings, failed("9 messages", false).Findings...)}
	for name, x := range map[string]struct {
		r    Result
		want string
	}{
		"it shows nothing":            {Result{Says: "cut short"}, "inconclusive: cut short"},
		"it is violated in its model": {Result{Shown: algorithm.Breaks, Verdict: inside}, "its model: two inside"},
		"it costs too much": {Result{Says: "9 messages", Verdict: failed("9 messages", false)},
			"its model: 9 messages"},
		"it does outside of it, and costs too much": {Result{Shown: algorithm.Breaks, Verdict: masked},
			"its model: 9 messages"},
		"it is violated outside of it": {Result{Shown: algorithm.Breaks, Verdict: outside}, ""},
		"it recovers":                  {Result{Shown: algorithm.Recovers}, ""},
		"it is not hit": {Result{Shown: algorithm.Unhit, Says: "the faults hit nothing"},
			"not hit: the faults hit nothing, which is not"},
		"it blocks, and is not to": {Result{Shown: algorithm.Blocks, Says: "all wait"}, "B, not L|X: all wait"},
	} {
		x.r.Job = &bench.Job{Spec: c.Spec}
		c.expect(&x.r)
		if got := x.r.Wrong; !strings.Contains(got, x.want) || (got == "") != (x.want == "") {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	none := new(Experiment).make(t.Context(), &Case{Job: &bench.Job{Spec: sound}, Err: errors.New("no disk"),
		Expect: c.expect})
	if none.Wrong != "inconclusive: could not be made: no disk" {
		t.Errorf("what cannot be made: %q", none.Wrong)
	}
	known := &Result{Job: &bench.Job{Spec: &algorithm.Algorithm{Flaw: &algorithm.Flaw{Check: "exclusion"}}},
		Shown:   algorithm.Breaks,
		Verdict: inside}
	if c.expect(known); known.Wrong != "" {
		t.Errorf("what is known to be broken: %s", known.Wrong)
	}
}

// A cell whose faults hit nothing never counts as different. It is as expected only if the algorithm lists
// that.
func TestCellsThatAreNotHit(t *testing.T) {
	spec, err := election.Find("le-lann")
	if err != nil {
		t.Fatal(err)
	}
	liar := *spec
	liar.Faults = []algorithm.FaultCell{{Fault: "unheard-node", May: algorithm.Recovers, Why: "it is said so"}}
	for of, expected := range map[*algorithm.Algorithm]bool{spec: true, &liar: false} {
		cells, err := some(of, "unheard-node").Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := cells[0]
		if !c.NotHit() || c.Differs() || (c.Wrong() == nil) != expected || c.Row(false).Differs {
			t.Errorf("expected %v: not hit %v, differs %v, %+v", expected, c.NotHit(), c.Differs(), c.Wrong())
		}
		c.Runs[1].Shown = algorithm.Recovers
		if c.NotHit() {
			t.Errorf("expected %v: one of its runs was hit", expected)
		}
	}
}

// checkCells returns an error for missing and superfluous cells of an algorithm.
func checkCells(spec *algorithm.Algorithm) error {
	var lacks []string
	names := map[string]bool{}
	for _, p := range chaos.Plans() {
		names[p.Name] = false
	}
	for _, p := range chaos.ScenariosOf(spec) {
		if _, known := spec.FaultCell(p.Name); !known {
			lacks = append(lacks, p.Name)
		}
		names[p.Name] = true
	}
	if len(lacks) > 0 {
		return fmt.Errorf("the algorithm %q lacks in Faults: %s: docs/extending.md says what belongs there",
			spec.Name, strings.Join(lacks, ", "))
	}
	said := map[string]bool{}
	for _, c := range spec.Faults {
		wrong := ""
		switch suits, is := names[c.Fault]; {
		case !is:
			wrong = "is no plan of ours: orchestrator plans lists them"
		case !suits:
			wrong = "is not run with it: it has no such node or message, or is of the other kind"
		case said[c.Fault]:
			wrong = "is there twice"
		case c.May == 0:
			wrong = "says nothing that may be: May is empty"
		case c.Why == "":
			wrong = "has no reason: Why is empty"
		}
		if wrong != "" {
			return fmt.Errorf("the algorithm %q, Faults, %s %s", spec.Name, c.Fault, wrong)
		}
		said[c.Fault] = true
	}
	return nil
}

// The figures of a cell are over the runs that recovered.
func TestFiguresOfCells(t *testing.T) {
	algo, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(algo, "stopped-holder").Make(t.Context())
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

// The figures of a cell about leaders: a bully is replaced after a silence of 250 ms to 300 ms, and two nodes
// lead during a cut of three seconds, from the moment when the cut is detected.
func TestFiguresOfCellsAboutLeaders(t *testing.T) {
	algo, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(algo, "dead-leader", "lowest-cut-off", "flapping-links", "amnesia").Make(t.Context())
	if err != nil || len(cells) != 4 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	dead, cut, back := cells[0].Row(false), cells[1].Row(false), cells[3].Row(false)
	if agreed, known := back.AgreedS.Value(); !known || agreed > 0.1 { // counted from the restart
		t.Errorf("%+v", back)
	}
	// The fourth cut ends after 3.1 s, and the grace of bully is 800 ms.
	if o := cells[2].Options(1); o.Duration != 3900*time.Millisecond+electing {
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

// A cell about leaders names the nodes without a leader.
func TestNodesWithoutALeaderAreNamed(t *testing.T) {
	algo, err := election.Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	cells, err := some(algo, "amnesia", "dead-leader").Make(t.Context())
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	if all, one := cells[0].Row(false), cells[1].Row(false); all.Waiting != "0 1 2 3" || all.Shown != "B" ||
		one.Waiting != "0" || one.Shown != "P" {
		t.Errorf("%+v %+v", all, one)
	}
}

// The time of agreement on the final leader is unknown if a run does not end in agreement.
func TestAgreedOnTheLeaderOfTheEnd(t *testing.T) {
	for doubts, want := range map[bool]string{false: "0.000001", true: ""} {
		f := leadership.New(nodes.Config{N: 1}, &algorithm.Leadership{})
		f.Add(history.Event{Kind: history.Marked, Node: nodes.None, Count: history.Began})
		f.Add(history.Event{At: 1000, Kind: history.Elected, Count: 0})
		if none := nodes.None; doubts {
			f.Add(history.Event{At: 2000, Kind: history.Elected, Count: uint32(none)})
		}
		f.Add(history.Event{At: 3000, Kind: history.Marked, Node: nodes.None, Count: history.Stopped})
		f.Close(nil)
		r := &Result{Leaders: measure.NewLeaders(f)}
		if got := r.agreed(); got.String() != want {
			t.Errorf("one doubts the leader at the end, %v: agreed after %q s", doubts, got)
		}
	}
}

// Each broken algorithm names a check, and runs of the algorithm make that check.
func TestBrokenAlgorithmsFailChecksThatExist(t *testing.T) {
	for _, algo := range (catalog.Table{}).Algorithms() {
		if algo.Flaw != nil && !check.ProblemOf(algo).Has(algo.Broken().Check) {
			t.Errorf("%s is known to fail %s, which no check is called", algo.Name, algo.Broken().Check)
		}
	}
}

// The explorer and the checks of a run use the same names.
func TestTheExplorerNamesWhatChecksName(t *testing.T) {
	for of, names := range map[*check.Problem][]string{
		check.Exclusion: {replay.CheckExclusion, replay.CheckFairness, replay.CheckMinority},
		check.Election:  {replay.CheckLeaders, replay.CheckTerms, replay.CheckAgreement},
	} {
		for _, name := range names {
			if !of.Has(name) {
				t.Errorf("no check of %s is called %s", of.Many, name)
			}
		}
	}
}
