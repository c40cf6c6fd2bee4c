package study

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// of returns an experiment with some algorithms.
func of(algos ...*algorithm.Algorithm) Experiment { return Experiment{Algorithms: algos, Seed: 1} }

// No sound algorithm fails inside its model, and the broken ones are caught.
func TestCampaign(t *testing.T) {
	algos := soak.Few(mutex.Table)
	c := Campaign{Experiment: Experiment{Algorithms: algos, Seed: 2},
		Simulated: len(algos) * soak.Pick(enough/2, enough, 500)}
	var last int
	c.Progress = func(done, all int, _ *Result) {
		if last++; done != last || all != c.Simulated {
			t.Errorf("%d of %d are done after %d", done, all, last)
		}
	}
	results, err := c.Run(t.Context())
	if err != nil || len(results) != c.Simulated {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.Wrong != "" {
			t.Errorf("%s with %d nodes under %s: %s", r.Spec.Name, r.Options.Config.N, r.Options.Plan, r.Wrong)
		}
	}
	tallies := Tallied(c.Algorithms, results)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			t.Error(says)
		}
	}
}

// A campaign finds a broken algorithm that passes as sound, a sound algorithm that passes as broken, and an
// algorithm whose plans leave its model.
func TestCampaignFindsWhatIsWrong(t *testing.T) {
	find := func(name string, change func(*algorithm.Algorithm)) *algorithm.Algorithm {
		algo, err := mutex.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := *algo
		change(&changed)
		return &changed
	}
	c := Campaign{Experiment: Experiment{Seed: 1, Algorithms: []*algorithm.Algorithm{
		find("naive-broadcast", func(s *algorithm.Algorithm) { s.Flaw = nil }),
		find("central", func(s *algorithm.Algorithm) { s.Flaw = &algorithm.Flaw{Check: "exclusion"} }),
	}}, Simulated: 2 * enough}
	results, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(results, func(r *Result) bool {
		return r.Spec == c.Algorithms[0] && strings.HasPrefix(r.Wrong, "VIOLATED inside its model: ")
	}) {
		t.Error("an algorithm that is not sound passes as sound")
	}
	tallies := Tallied(c.Algorithms, results)
	if says := tallies[0].Lacks(); says != "" {
		t.Error(says)
	}
	if says := tallies[1].Lacks(); !strings.Contains(says, "did not show it") {
		t.Errorf("a sound algorithm passes as broken: %q", says)
	}
	outside := Tally{Spec: c.Algorithms[0], Plans: 31, Inside: 10}
	if says := outside.Lacks(); !strings.Contains(says, "10 of 31 plans stayed inside its model") {
		t.Errorf("%q", says)
	}
}

func TestInterruptedCampaignKeepsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := Campaign{Experiment: of(mutex.Table...), Simulated: 1000}
	c.Progress = func(done, _ int, _ *Result) {
		if done == 5 {
			cancel()
		}
	}
	results, err := c.Run(ctx)
	if !errors.Is(err, context.Canceled) || len(results) < 5 || len(results) > 50 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

// electors returns the sound algorithms of election, or the broken ones.
func electors(broken bool) (all []*algorithm.Algorithm) {
	for _, algo := range election.Table {
		if (algo.Flaw != nil) == broken {
			all = append(all, algo)
		}
	}
	return all
}

// No sound elector fails inside its model, few runs end too early, and at most a tenth are inconclusive.
func TestElectorsOutlastDisasters(t *testing.T) {
	algos := electors(false)
	c := Campaign{Experiment: Experiment{Algorithms: algos, Seed: 12},
		Simulated: len(algos) * soak.Pick(8, 12, 1000)}
	results, err := c.Run(t.Context())
	if err != nil || len(results) != c.Simulated {
		t.Fatalf("%d results, %v", len(results), err)
	}
	early := 0
	for _, r := range results {
		if r.Wrong != "" {
			t.Errorf("%s with %d nodes under %s: %s", r.Spec.Name, r.Options.Config.N, r.Options.Plan, r.Wrong)
		}
		if r.Inside() && r.Verdict.Findings[0].ByRun {
			early++
		}
	}
	if 50*early > len(results) {
		t.Errorf("of %d runs %d ended too early to tell", len(results), early)
	}
	if shown := ShownBy(algos, results); 10*shown.Of[Inconclusive] > shown.Plans {
		t.Errorf("%v", &shown)
	}
	tallies := Tallied(algos, results)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			t.Error(says)
		}
	}
}

// caught makes cases of an algorithm until one is wrong or shows the algorithm's flaw, but no more cases than
// most. It returns how many it made, or 0 if no case was wrong or showed the flaw.
func caught(t *testing.T, spec *algorithm.Algorithm, seed uint64, most int) int {
	t.Helper()
	c := Campaign{Experiment: Experiment{Algorithms: []*algorithm.Algorithm{spec}, Seed: seed}}
	for number := range most {
		switch r := c.make(t.Context(), c.drawn(number, false)); {
		case r.Err != nil:
			t.Fatal(r.Err)
		case r.Wrong != "", spec.Flaw != nil && r.Caught():
			return number + 1
		}
	}
	return 0
}

func TestBrokenElectorsAreCaught(t *testing.T) {
	for _, algo := range electors(true) {
		t.Run(algo.Name, func(t *testing.T) {
			t.Parallel()
			if most := enoughOf(algo); caught(t, algo, 1, most) == 0 {
				t.Errorf("%d plans do not show that it is broken: %s", most, algo.Broken().Check)
			}
		})
	}
}

// A flaw shows in a quarter of the plans or more, so 20 plans hardly ever miss it; one that is marked as rare
// shows in a tenth, so 60 plans hardly ever do.
func TestFlawsShowOften(t *testing.T) {
	for _, spec := range (catalog.Table{}).Algorithms() {
		if flaw := spec.Broken(); spec.Flaw == nil || flaw.By == 0 && soak.Pick(true, false, false) {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			c := Campaign{Experiment: of(spec), Simulated: soak.Pick(2*enough, rarely, 10*rarely)}
			results, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			least := 4
			if spec.Broken().Rare {
				least = 10
			}
			if tally := Tallied(c.Algorithms, results)[0]; least*tally.Caught < tally.Plans {
				t.Errorf("%d of %d plans show it: that is too rare", tally.Caught, tally.Plans)
			}
		})
	}
}

// Campaigns catch electors that work only without faults, or with few.
func TestCampaignsCatchMutantsOfElectors(t *testing.T) {
	for _, m := range []struct {
		name string
		deaf algotest.Deaf
		soon uint64 // a seed whose first plans catch it
	}{
		{"bully", algotest.Deaf{Suspects: true}, 11},
		{"bully-four-phase", algotest.Deaf{Message: "poll"}, 5},
		{"fast-bully", algotest.Deaf{Message: "up"}, 3},
		{"bully-majority", algotest.Deaf{Message: "ok"}, 7},
		{"bully-majority", algotest.Deaf{Trusts: true}, 11},
		{"bully-shared-disk", algotest.Deaf{Message: "beat"}, 5},
		{"ring-list", algotest.Deaf{Suspects: true}, 11},
		{"raft-election", algotest.Deaf{Message: "heartbeat"}, 9},
		{"invitation", algotest.Deaf{Saved: true}, 12},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			algo, err := election.Find(m.name)
			if err != nil {
				t.Fatal(err)
			}
			if most := 500; caught(t, m.deaf.Of(algo), soak.Pick(m.soon, 1, 1), most) == 0 {
				t.Errorf("%d plans do not show that it takes no notice: %+v", most, m.deaf)
			}
		})
	}
}

// The default number of plans for an algorithm catches mutants that break safety.
func TestCampaignsCatchUnsafeMutants(t *testing.T) {
	for _, m := range algotest.Unsafe(catalog.Table{}.Find) {
		t.Run(m.Rule, func(t *testing.T) {
			t.Parallel()
			if caught(t, m.Algorithm, soak.Pick[uint64](5, 1, 1), rarely) == 0 {
				t.Errorf("%d plans of %s do not show it", rarely, m.Algorithm.Name)
			}
		})
	}
}

// What a node saves survives campaigns of random plans: kills come in the middle of inputs, and right after
// messages. Mutants of the testbed that save too little, or read more than was saved, fail here.
func TestWhatIsSavedOutlastsCampaigns(t *testing.T) {
	spec, err := election.Find("bully-majority")
	if err != nil {
		t.Fatal(err)
	}
	c := Campaign{Experiment: of(spec), Simulated: soak.Pick(50, 50, 5000)}
	results, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong != "" {
			t.Errorf("under %s: %s", r.Options.Plan, r.Wrong)
		}
	}
}

// A campaign has so many plans of each algorithm, however many algorithms there are, that every algorithm
// which is known to be broken must be caught.
func TestCampaignsHaveEnoughPlansOfEachAlgorithm(t *testing.T) {
	algos := catalog.Table{}.Algorithms()
	for _, count := range []int{1, 42, len(algos), 1000} {
		for _, algo := range algos {
			each := UsualPlans(count) / count
			escaped := Tally{Spec: algo, Plans: each, Inside: each}
			if each < 60 || (escaped.Lacks() != "") != (algo.Flaw != nil) {
				t.Errorf("of %d, %d plans of %s, which was not caught: %q", count, each, algo.Name, escaped.Lacks())
			}
		}
	}
}

// The last line of a campaign counts its outcomes. If all runs are inconclusive, the campaign shows nothing.
func TestShownBy(t *testing.T) {
	sound := &algorithm.Algorithm{Spec: nodes.Spec{
		Name: "sound",
	}}
	caught := &algorithm.Algorithm{
		Spec: nodes.Spec{
			Name: "caught",
		},
		Flaw: &algorithm.Flaw{
			Check: "exclusion",
		},
	}
	escaped := &algorithm.Algorithm{
		Spec: nodes.Spec{
			Name: "escaped",
		},
		Flaw: &algorithm.Flaw{
			Check: "exclusion",
		},
	}
	idle := &algorithm.Algorithm{
		Spec: nodes.Spec{
			Name: "idle",
		},
		Flaw: &algorithm.Flaw{
			Check: "exclusion",
		},
	}
	algos := []*algorithm.Algorithm{sound, caught, escaped, idle}
	run := func(algo *algorithm.Algorithm, f check.Finding) *Result {
		r := &Result{Job: &bench.Job{Spec: algo}}
		r.Verdict = check.Verdict{Outcome: f.Outcome, Findings: []check.Finding{f}, OutsideModel: f.OutsideModel,
			Misses: []string{"cut 0/1: it hit no message"}}
		return r
	}
	stall := check.Finding{Check: "progress", Outcome: check.Inconclusive, OutsideModel: true, Expected: true}
	unfair := check.Finding{Check: "fairness", Outcome: check.Inconclusive, OutsideModel: true}
	early := check.Finding{Check: "agreement", Outcome: check.Inconclusive, OutsideModel: true, ByRun: true}
	missed := check.Finding{Check: "faults", Outcome: check.Inconclusive}
	all := []*Result{run(sound, check.Finding{Check: "progress"}), run(sound, stall), run(sound, unfair),
		run(sound, early), run(caught, check.Finding{Check: "exclusion", Outcome: check.Violated}),
		run(escaped, missed)}
	s := ShownBy(algos, all)
	const want = "1 of 6 plans valid, 2 stalled or unfair as the model " +
		"allows, 0 violated outside the model, 1 violated inside; 1 of 2 algorithms known to be broken " +
		"were caught; 2 inconclusive (33.3%); not caught: escaped"
	if s.String() != want || s.Nothing() {
		t.Errorf("%v, nothing: %v", &s, s.Nothing())
	}
	if none := ShownBy(algos, []*Result{run(sound, early), run(escaped, missed)}); !none.Nothing() {
		t.Errorf("%v", &none)
	}
	if tally := Tallied(algos, all)[0]; tally.Missed != 4 {
		t.Errorf("%d faults hit nothing", tally.Missed)
	}
	vague := Tally{Spec: sound, Plans: many, Inside: many}
	for vague.Of[Inconclusive] = range 2 * many / 10 {
		if too, says := 10*vague.Of[Inconclusive] > many, vague.Lacks(); too != strings.Contains(says, "a tenth") {
			t.Errorf("%d of %d are inconclusive: %q", vague.Of[Inconclusive], many, says)
		}
	}
}
