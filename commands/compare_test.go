package commands

import (
	"strings"
	"testing"
	"unicode/utf8"

	"turnstile/bench/compare"
	"turnstile/internal/figure"
)

// However long names and numbers are, a comparison fits into its columns.
func TestComparisonsAreNotWide(t *testing.T) {
	n := figure.Number
	long := compare.Line{Metric: "sync_delay_us_p50", Where: strings.Repeat("algorithm=ricart-agrawala, ", 9),
		Baseline: "ricart-agrawala-fault-tolerant", Group: "token-ring-regenerating",
		BaselineTrials: 6, Trials: 6, BaselineMedian: n(123_456), BaselineLow: n(123_000), BaselineHigh: n(124_000),
		Median: n(1_234_567), Low: n(1_230_000), High: n(1_240_000),
		Difference: n(1_111_111), DifferenceLow: n(1_107_000), DifferenceHigh: n(1_117_000),
		Percent: n(900.123), PercentLow: n(890.1), PercentHigh: n(905.2), P: n(0.002165), PHolm: n(0.004329),
		Verdict: "worse"}
	short := long
	short.Baseline, short.Group = "a", "b"
	unranked := compare.Line{Metric: "messages", Baseline: "a", Group: "b", BaselineMedian: figure.AtLeast(5),
		Verdict: "~", Reason: strings.Repeat("too few trials ", 12)}
	made := &compare.Comparison{By: "algorithm", Lines: []compare.Line{long, short, unranked},
		Agree: []compare.Column{{Name: "faults", Values: []string{strings.Repeat("kill leader at 1s; ", 20)}}},
		Groups: []*compare.Group{{Name: "a", Valid: 6, CPUBound: 2, Others: map[string]int{"violated": 1},
			Repeated: 3}}}
	var b strings.Builder
	printComparison(&b, []string{"lan"}, made)
	for line := range strings.Lines(b.String()) {
		if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > comparisonWidth {
			t.Errorf("%d columns: %s", width, line)
		}
	}
	for _, want := range []string{
		"trials  a: 6 valid (2 of them CPU-bound), 1 violated, 3 left out as repetitions of a trial with the\n" +
			"        same seed\n",
		"  ricart-agrawala-fault-tolerant\n", "  a  >5.00  baseline\n  b  -\n    ~ too few trials",
		"123 ms (123 to 124)", "+1,111 ms (+1,107 to +1,117)  p 0.0022, Holm 0.0043\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, b.String())
		}
	}
}
