package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// of returns an experiment with some rows.
func of(rows ...*row.Row) Experiment { return Experiment{Rows: rows, Seed: 1} }

// No sound algorithm fails inside its model, and those that are broken are caught.
func TestCampaign(t *testing.T) {
	rows := soak.Few(mutex.Table)
	c := Campaign{Experiment: Experiment{Rows: rows, Seed: 2},
		Simulated: len(rows) * soak.Pick(enough/2, enough, 500)}
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
	tallies := Tallied(c.Rows, results)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			t.Error(says)
		}
	}
}

// A campaign draws every work, and none for a resource that cannot have it.
func TestCampaignDrawsWork(t *testing.T) {
	e, drawn := of(mutex.Table...), map[workload.Work]bool{}
	for number := range 8 * len(e.Rows) {
		j, err := e.draw(number, false)
		if err != nil {
			t.Fatal(err)
		}
		drawn[j.Workload.Work] = true
	}
	if len(drawn) != 4 {
		t.Errorf("%v", drawn)
	}
}

// One that passes as sound and is not, one that passes as broken and is not, and one whose plans leave
// its model are all found out.
func TestCampaignFindsWhatIsWrong(t *testing.T) {
	find := func(name string, change func(*row.Row)) *row.Row {
		row, err := mutex.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := *row
		change(&changed)
		return &changed
	}
	c := Campaign{Experiment: Experiment{Seed: 1, Rows: []*row.Row{
		find("naive-broadcast", func(s *row.Row) { s.Flaw = nil }),
		find("central", func(s *row.Row) { s.Flaw = &row.Flaw{Check: "exclusion"} }),
	}}, Simulated: 2 * enough}
	results, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(results, func(r *Result) bool {
		return r.Spec == c.Rows[0] && strings.HasPrefix(r.Wrong, "VIOLATED inside its model: ")
	}) {
		t.Error("an algorithm that is not sound passes as sound")
	}
	tallies := Tallied(c.Rows, results)
	if says := tallies[0].Lacks(); says != "" {
		t.Error(says)
	}
	if says := tallies[1].Lacks(); !strings.Contains(says, "did not show it") {
		t.Errorf("a sound algorithm passes as broken: %q", says)
	}
	outside := Tally{Spec: c.Rows[0], Plans: 31, Inside: 10}
	if says := outside.Lacks(); !strings.Contains(says, "10 of 31 plans stayed inside its model") {
		t.Errorf("%q", says)
	}
}

// The plans of every second round leave an algorithm inside its model, and equal seeds draw equal cases.
func TestDraw(t *testing.T) {
	for number := range 20 * len(mutex.Table) {
		c, err := (&Experiment{Rows: mutex.Table, Seed: 7}).draw(number, false)
		if err != nil {
			t.Fatal(err)
		}
		inside := number/len(mutex.Table)%2 == 0
		for i := range c.Options.Faults {
			f := &c.Options.Faults[i]
			if broken := f.Breaks() & (c.Spec.SafeIn(c.Options.Config) | c.Spec.Live); inside && broken != 0 {
				t.Errorf("%s: %v breaks %v", c.Spec.Name, f, broken)
			}
		}
		again, err := (&Experiment{Rows: mutex.Table, Seed: 7}).draw(number, false)
		if err != nil || again.Options.Seed != c.Options.Seed || again.Options.Plan != c.Options.Plan {
			t.Errorf("%+v, and then %+v, %v", c, again, err)
		}
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
