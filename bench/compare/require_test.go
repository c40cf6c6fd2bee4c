package compare

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/results"
)

func TestRequirements(t *testing.T) {
	for _, text := range []string{"wait_us_p99<", "wait_us_p99<-5ms", "entries_per_s>1s", "entries_per_s>NaN",
		"nodes<5"} {
		if _, err := ParseRequirement(text); err == nil {
			t.Errorf("%s is a requirement", text)
		}
	}
	if _, err := ParseRequirement("jain_index>95%"); err != nil {
		t.Error(err)
	}
	row := func(trial int, f figure.Figure) results.Row {
		return results.Row{Trial: trial, Figures: measure.Figures{WaitUSP99: f}}
	}
	n, atLeast := figure.Number, figure.AtLeast
	const valid, unknown, violated = check.Valid, check.Inconclusive, check.Violated
	for _, test := range []struct {
		text    string
		figures []figure.Figure
		want    check.Outcome
		says    string // text if the requirement is not met; empty: it is met
	}{
		{"wait_us_p99<50ms", []figure.Figure{n(49_999), n(3)}, valid, ""},
		{"wait_us_p99<50ms", []figure.Figure{n(1), n(50_000)}, violated, "it is 50000 us in trial 2"},
		{"wait_us_p99<=50ms", []figure.Figure{n(50_000)}, valid, ""},
		{"wait_us_p99>=50ms", []figure.Figure{n(49_999)}, violated, "it is 49999 us in trial 1"},
		{"wait_us_p99>50ms", []figure.Figure{n(50_000)}, violated, "it is 50000 us in trial 1"},
		{"wait_us_p99=50ms", []figure.Figure{n(50_000)}, valid, ""},
		{"wait_us_p99<50ms", []figure.Figure{n(1), {}}, unknown, "it is not measured in trial 2"},
		{"wait_us_p99<50ms", []figure.Figure{{}, n(60_000)}, violated, "it is 60000 us in trial 2"},
		{"wait_us_p99<50ms", []figure.Figure{atLeast(60_000)}, violated, "it is >60000 us in trial 1"},
		{"wait_us_p99<50ms", []figure.Figure{atLeast(40_000)}, unknown, "it is >40000 us in trial 1"},
		{"wait_us_p99>50ms", []figure.Figure{atLeast(60_000)}, valid, ""},
		{"wait_us_p99>50ms", []figure.Figure{atLeast(40_000)}, unknown, "it is >40000 us in trial 1"},
		{"wait_us_p99=50ms", []figure.Figure{atLeast(50_000)}, unknown, "it is >50000 us in trial 1"},
		{"wait_us_p99=50ms", []figure.Figure{atLeast(50_001)}, violated, "it is >50001 us in trial 1"},
		{"wait_us_p99<50ms", nil, unknown, "no trial has measured it"},
	} {
		var rows []results.Row
		for i, f := range test.figures {
			rows = append(rows, row(i+1, f))
		}
		judged(t, test.text, rows, nil, test.want, cmp.Or(test.says, "met"))
	}
}

// judged fails the test unless a requirement on runs and faults has this outcome for this reason.
func judged(t *testing.T, text string, rows []results.Row, faults []results.FaultRow, want check.Outcome,
	says string) {
	t.Helper()
	r, err := ParseRequirement(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, why := r.Judge(rows, faults); got != want || why != text+" is required, and "+says {
		t.Errorf("%s: %v, %q", text, got, why)
	}
}

// A requirement on a figure of faults holds for each fault that has the figure.
func TestRequirementsOfFaults(t *testing.T) {
	fault := func(trial, number int, next, silence figure.Figure) results.FaultRow {
		return results.FaultRow{Trial: trial, OfFault: measure.OfFault{Number: number, NextEntryS: next,
			SilenceS: silence}}
	}
	faults := []results.FaultRow{fault(1, 1, figure.Number(0.2), figure.Number(3)),
		fault(1, 2, figure.AtLeast(9), figure.Number(0.5))}
	for text, want := range map[string]struct {
		outcome check.Outcome
		says    string
	}{
		"next_entry_s<10s": {check.Inconclusive, "it is >9 s in trial 1 (fault 2, during)"},
		"next_entry_s<9s":  {check.Violated, "it is >9 s in trial 1 (fault 2, during)"},
		"silence_s<=3s":    {check.Valid, "met"},
		"silence_s<1s":     {check.Violated, "it is 3 s in trial 1 (fault 1, during)"},
		"old_rate_s<1s":    {check.Inconclusive, "it is not measured in trial 1"},
	} {
		judged(t, text, []results.Row{{Trial: 1}}, faults, want.outcome, want.says)
	}
}

// A candidate with a violated trial, or with more trials than the baseline that are not valid, fails,
// whatever it measured in other trials.
func TestABrokenPromiseFails(t *testing.T) {
	with := func(verdict string, first int) func(t *Observation) {
		return func(t *Observation) {
			if t.Version = "v1"; t.Trial <= first {
				t.Verdict = verdict
			}
		}
	}
	for _, c := range []struct {
		a, b func(t *Observation)
		wait float64 // mean wait of b; the mean wait of a is 100
		want check.Outcome
		says string
	}{
		{nil, nil, 50, check.Valid, "PASSED"},
		{nil, nil, 150, check.Violated, "FAILED: worse by more than 5%: "},
		{nil, with("violated", 2), 50, check.Violated, "FAILED: 2 trials of b violated"},
		{nil, with("violated", 12), 50, check.Violated, "FAILED: 12 trials of b violated"},
		{with("violated", 1), nil, 50, check.Inconclusive, "INCONCLUSIVE: 1 trial of a violated"},
		{with("violated", 1), with("violated", 1), 50, check.Violated, "FAILED: 1 trial of b violated"},
		{nil, with("inconclusive", 12), 50, check.Violated, "FAILED: 12 of 12 trials of b not"},
		{nil, with("inconclusive", 2), 50, check.Violated, "FAILED: 2 of 12 trials of b not"},
		{with("inconclusive", 2), with("under-loaded", 3), 50, check.Violated, "FAILED: 3 of 12"},
		{with("inconclusive", 2), with("inconclusive", 2), 50, check.Valid, "PASSED"},
		{with("inconclusive", 3), with("inconclusive", 2), 50, check.Valid, "PASSED"},
		{with("inconclusive", 12), with("inconclusive", 12), 50, check.Inconclusive, "INCONCLUSIVE: no trial of "},
	} {
		made, err := Compare(Request{Metrics: []results.Column{"wait_us_p99", "entries_per_s"}},
			sideOf("a", maker{algorithm: "maekawa", n: 12, wait: 100, change: c.a}),
			sideOf("b", maker{algorithm: "maekawa", n: 12, wait: c.wait, change: c.b}))
		if err != nil {
			t.Fatal(err)
		}
		if outcome, says := made.Above(0.05, "5%"); outcome != c.want || !strings.HasPrefix(says, c.says) {
			t.Errorf("%v: %s; not %v: %s", outcome, says, c.want, c.says)
		}
	}
}

// The end of the interval that favours a group decides how much worse the group counts.
func TestTheBestEndCounts(t *testing.T) {
	for _, c := range []struct {
		metric    results.Column
		low, high float64
		want      check.Outcome
	}{
		{"wait_us_p99", 4, 12, check.Valid}, {"wait_us_p99", 6, 12, check.Violated},
		{"entries_per_s", -12, -4, check.Valid}, {"entries_per_s", -12, -6, check.Violated},
		{"messages", 6, 12, check.Valid}, {"wait_us_p99", math.Inf(-1), math.Inf(1), check.Inconclusive},
	} {
		made := Comparison{Lines: []Line{{Metric: c.metric, PercentLow: figure.Number(c.low),
			PercentHigh: figure.Number(c.high)}}}
		if outcome, says := made.Above(0.05, "5%"); outcome != c.want {
			t.Errorf("%+v: %v, %s", c, outcome, says)
		}
	}
}
