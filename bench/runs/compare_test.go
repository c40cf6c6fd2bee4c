package runs

import (
	"fmt"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// Real runs must agree only in counts that do not depend on the timing of the machine.
func TestColumnsInWhichRealRunsAgree(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		load      workload.Load
		n         int
		entries   uint64
		want      string
	}{
		{"ricart-agrawala", workload.Saturated, 4, 0, "messages_per_entry"},
		{"ricart-agrawala", workload.Closed, 4, 60, "entries messages_per_entry"},
		{"raymond", workload.Saturated, 4, 0, ""},
		{"raymond", workload.Saturated, 4, 60, "entries"},
		{"raymond", workload.Sequential, 4, 60, "entries messages publishes messages_per_entry"},
		{"raymond", workload.Sequential, 4, 0, ""},
		{"raymond", workload.One, 4, 0, ""},
		{"raymond", workload.One, 4, 60, "entries messages publishes messages_per_entry"},
		{"token-ring", workload.Saturated, 4, 60, "entries messages_per_entry"},
		{"token-ring", workload.Saturated, 4, 3, "entries"},
		{"token-ring", workload.Sequential, 4, 60, "entries"},
	} {
		row, err := mutex.Find(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Config.N, o.Workload.Load, o.Entries = c.n, c.load, c.entries
		if c.entries > 0 {
			o.Duration = 0
		}
		if got := fmt.Sprint(exactColumns(drafted(t, row, o, false))); got != "["+c.want+"]" {
			t.Errorf("%s, %s, %d entries: %q, want %q", c.algorithm, c.load, c.entries, got, c.want)
		}
	}
}

func TestCompareRealRuns(t *testing.T) {
	row, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	job := drafted(t, row, option.Defaults(), false)
	made := func(change func(s *Summary)) *Summary {
		s := &Summary{Job: job, Record: Record{Options: option.Defaults(), Trials: make([]TrialRecord, 1)},
			Rows: []results.Row{{Trial: 1, Figures: measure.Figures{MessagesPerEntry: figure.Number(14),
				WaitUSP50: figure.Number(3)}}},
			Verdicts: []check.Verdict{{Outcome: check.Valid}}}
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		change  func(s *Summary)
		outcome check.Outcome
		says    string
	}{
		"other times": {func(s *Summary) { s.Rows[0].WaitUSP50 = figure.Number(5) }, check.Valid, ""},
		"another verdict": {func(s *Summary) {
			s.Verdicts[0] = check.Verdict{Outcome: check.Violated,
				Findings: []check.Finding{{Outcome: check.Violated, Check: "progress"}, {Check: "cost"}}}
		}, check.Violated, "verdict was valid, is violated progress"},
		"other messages": {func(s *Summary) { s.Rows[0].MessagesPerEntry = figure.Number(14.5) },
			check.Violated,
			"messages_per_entry was 14, is 14.5"},
		"nothing measured": {func(s *Summary) { s.Rows[0].MessagesPerEntry = figure.Figure{} }, check.Valid,
			""},
		"ended early": {func(s *Summary) { s.Record.Trials[0].Trouble = "interrupted" }, check.Inconclusive,
			"trial 1: the second run ended early: interrupted"},
		"no trial": {func(s *Summary) { s.Rows, s.Verdicts = nil, nil }, check.Inconclusive,
			"trial 1: the second run has no verdict of it"},
	} {
		got := Compare(made(func(*Summary) {}), made(c.change))
		says := strings.Join(got.Unknown, "; ")
		for _, d := range got.Differences {
			says += d.What + " was " + d.First + ", is " + d.Again
		}
		if got.Outcome() != c.outcome || says != c.says {
			t.Errorf("%s: %v, %q", name, got.Outcome(), says)
		}
	}
}
