package experiment

import (
	"strings"
	"testing"

	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/row"
)

// A campaign has so many plans of each row, however many rows there are, that every row which is known to be
// broken must be caught.
func TestCampaignsHaveEnoughPlansOfEachRow(t *testing.T) {
	rows := catalog.All()
	for _, count := range []int{1, 42, len(rows), 1000} {
		for _, row := range rows {
			each := UsualPlans(count) / count
			escaped := Tally{Spec: row, Plans: each, Inside: each}
			if each < 60 || (escaped.Lacks() != "") != (row.Flaw != nil) {
				t.Errorf("%d rows: %d plans of %s, which was not caught: %q", count, each, row.Name, escaped.Lacks())
			}
		}
	}
}

// The last line of a campaign counts its outcomes. If all runs are inconclusive, the campaign shows nothing.
func TestShownBy(t *testing.T) {
	sound := &row.Row{Spec: nodes.Spec{
		Name: "sound",
	}}
	caught := &row.Row{
		Spec: nodes.Spec{
			Name: "caught",
		},
		Flaw: &row.Flaw{
			Check: "exclusion",
		},
	}
	escaped := &row.Row{
		Spec: nodes.Spec{
			Name: "escaped",
		},
		Flaw: &row.Flaw{
			Check: "exclusion",
		},
	}
	idle := &row.Row{
		Spec: nodes.Spec{
			Name: "idle",
		},
		Flaw: &row.Flaw{
			Check: "exclusion",
		},
	}
	rows := []*row.Row{sound, caught, escaped, idle}
	run := func(row *row.Row, f check.Finding) *Result {
		r := &Result{Job: &bench.Job{Spec: row}}
		r.Verdict = check.Verdict{Outcome: f.Outcome, Findings: []check.Finding{f}, OutsideModel: f.OutsideModel,
			Misses: []string{"cut 0/1: it hit no message"}}
		return r
	}
	stall := check.Finding{Check: "progress", Outcome: check.Inconclusive, OutsideModel: true, Expected: true}
	unfair := check.Finding{Check: "fairness", Outcome: check.Inconclusive, OutsideModel: true}
	early := check.Finding{Check: "agreement", Outcome: check.Inconclusive, OutsideModel: true, Excused: true}
	missed := check.Finding{Check: "faults", Outcome: check.Inconclusive}
	all := []*Result{run(sound, check.Finding{Check: "progress"}), run(sound, stall), run(sound, unfair),
		run(sound, early), run(caught, check.Finding{Check: "exclusion", Outcome: check.Violated}),
		run(escaped, missed)}
	s := ShownBy(rows, all)
	const want = "In 1 of 6 plans all was kept that is promised, 2 stalled or were unfair as the model " +
		"allows, 0 violated outside the model and 1 inside; 1 of 2 algorithms known to be broken were caught; " +
		"not shown: what becomes of 2 plans, which are inconclusive (33.3%), and what is wrong with escaped"
	if s.String() != want || s.Nothing() {
		t.Errorf("%v, nothing: %v", &s, s.Nothing())
	}
	if none := ShownBy(rows, []*Result{run(sound, early), run(escaped, missed)}); !none.Nothing() {
		t.Errorf("%v", &none)
	}
	if tally := Tallied(rows, all)[0]; tally.Missed != 4 {
		t.Errorf("%d faults hit nothing", tally.Missed)
	}
	vague := Tally{Spec: sound, Plans: many, Inside: many}
	for vague.Of[Inconclusive] = range 2 * many / 10 {
		if too, says := 10*vague.Of[Inconclusive] > many, vague.Lacks(); too != strings.Contains(says, "a tenth") {
			t.Errorf("%d of %d are inconclusive: %q", vague.Of[Inconclusive], many, says)
		}
	}
}
