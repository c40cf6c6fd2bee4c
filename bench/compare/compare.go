// Package compare compares experiments: groups of trials that were asked for the same, by the figures that
// they have measured. It says of each figure how the groups differ, and where nothing can be said, why.
package compare

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/results"
)

// A Trial is a row of runs.csv, with the machine of its run, in words; nothing if that is not known.
type Trial struct {
	results.Row
	Machine string
	Started time.Time // its run; zero: it is not known
}

// A Side is the trials that are compared, and what they are called.
type Side struct {
	Name   string
	Trials []Trial
}

// A Request names the groups of a comparison and its figures.
type Request struct {
	By      string // a column; trials with one value in it form a group. Empty: two sides are compared
	Against string // the group that the others are compared with, by its value in that column; empty: the first
	Where   []Condition
	Metrics []string // columns of runs.csv; none: each of Defaults that some trial has measured
	Unlike  bool     // compare what differs in more than is compared
}

// A Comparison is what came of a Request.
type Comparison struct {
	By     string
	Sides  []string     // what the two are called, if there are two; the first is the baseline
	Agree  []Cell       // the columns that have one value in all trials, with that value
	Differ []Difference // the columns, other than By, that have several
	Groups []*Group     // the first is the baseline, or that of the first pair
	Alone  []string     // experiments of one side that the other has not
	Lines  []Line       // by metric, and then by group
	// Unmeasured are metrics that were asked for and no trial has measured.
	Unmeasured []string

	compared []pair
}

// A Cell is what trials have in one column, as text.
type Cell struct{ Column, Text string }

// A Difference is a column that has different values in different groups.
type Difference struct {
	Column string
	Values []string // of the groups, in their order
}

// A Group is trials of one experiment. Only those with a valid verdict are compared.
type Group struct {
	Name     string
	Where    string // which of several experiments of its side
	Valid    int
	CPUBound int            // of these
	Others   map[string]int // how many have another verdict, by the verdict
	Repeated int            // simulated trials that are left out, since one of the same seed is among these

	Interrupted int // of the others, which the user ended

	trials []*Trial
	same   bool // they are simulated, and have measured the same in everything
}

// A Line compares one metric of a group with that of the baseline. A difference is the group's value
// minus the baseline's, in the unit of the metric and in percent of the baseline's median.
type Line struct {
	Metric   string `csv:"metric"`
	Where    string `csv:"where"` // which of several experiments; empty: there is one
	Baseline string `csv:"baseline"`
	Group    string `csv:"group"`

	BaselineTrials int           `csv:"baseline_trials"` // that have measured it
	Trials         int           `csv:"trials"`
	BaselineMedian figure.Figure `csv:"baseline_median"`
	BaselineLow    figure.Figure `csv:"baseline_low"` // ends of intervals are empty if trials are too few
	BaselineHigh   figure.Figure `csv:"baseline_high"`
	Median         figure.Figure `csv:"median"`
	Low            figure.Figure `csv:"low"`
	High           figure.Figure `csv:"high"`

	Difference     figure.Figure `csv:"difference"`
	DifferenceLow  figure.Figure `csv:"difference_low"`
	DifferenceHigh figure.Figure `csv:"difference_high"`
	Percent        figure.Figure `csv:"difference_percent"`
	PercentLow     figure.Figure `csv:"difference_percent_low"`
	PercentHigh    figure.Figure `csv:"difference_percent_high"`

	P           figure.Figure `csv:"p"`
	PHolm       figure.Figure `csv:"p_holm"`
	Comparisons int           `csv:"comparisons"` // that PHolm is corrected for
	Verdict     string        `csv:"verdict"`     // better, worse, lower, higher or ~: nothing can be said
	Reason      string        `csv:"reason"`      // of ~
}

// The verdicts. The first two are of metrics of which more or less is better.
const (
	isBetter = "better"
	isWorse  = "worse"
	isLower  = "lower"
	isHigher = "higher"
	unshown  = "~"
)

// A pair is two groups that are compared.
type pair struct {
	where           string
	baseline, other *Group
}

// compare fills in the lines of the pairs.
func (c *Comparison) compare(pairs []pair, metrics []string) {
	c.compared = pairs
	for _, p := range pairs {
		for _, g := range []*Group{p.baseline, p.other} {
			if !slices.Contains(c.Groups, g) {
				c.Groups = append(c.Groups, g)
			}
		}
	}
	asked := len(metrics) > 0
	if !asked {
		metrics = c.defaults()
	}
	lines := make([][]Line, len(metrics))
	var group sync.WaitGroup
	for i, metric := range metrics {
		switch {
		case c.measured(metric):
			group.Go(func() { lines[i] = linesOf(metric, pairs) })
		case asked:
			c.Unmeasured = append(c.Unmeasured, metric)
		}
	}
	group.Wait()
	c.Lines = slices.Concat(lines...)
}

// linesOf compares the pairs by one metric.
func linesOf(metric string, pairs []pair) []Line {
	lines := make([]Line, len(pairs))
	for i, p := range pairs {
		lines[i] = p.line(metric)
	}
	correct(lines)
	return lines
}

// measured reports whether any valid trial has measured a metric.
func (c *Comparison) measured(metric string) bool {
	return slices.ContainsFunc(c.Groups, func(g *Group) bool {
		return slices.ContainsFunc(g.trials, func(t *Trial) bool { return t.Figure(metric).Known() })
	})
}

// correct corrects the probabilities of the lines of one metric for being several, and gives each its
// verdict.
func correct(lines []Line) {
	var tested []int
	var p []float64
	for i := range lines {
		if x, known := lines[i].P.Value(); known {
			tested, p = append(tested, i), append(p, x)
		}
	}
	for at, corrected := range stats.Holm(p) {
		l := &lines[tested[at]]
		l.PHolm, l.Comparisons = figure.Number(corrected), len(p)
		switch {
		case corrected < stats.Level && l.Difference != figure.Number(0):
			l.Verdict = verdictOf(l.Metric, l.Difference)
		case stats.LeastP(l.BaselineTrials, l.Trials)*float64(len(p)) >= stats.Level:
			l.Reason = tooFew(l.BaselineTrials, l.Trials, len(p))
		case l.Difference == figure.Number(0) && l.DifferenceLow == l.DifferenceHigh:
			l.Reason = "all trials have the same figure"
		default:
			l.Reason = "no difference is shown"
		}
	}
}

// tooFew says how many trials it would take to show a difference.
func tooFew(m, n, comparisons int) string {
	what := fmt.Sprintf("%d comparisons", comparisons)
	if comparisons == 1 {
		what = "a comparison"
	}
	return fmt.Sprintf("too few trials: %d and %d; %d of each would do for %s", m, n, stats.Enough(comparisons),
		what)
}

// WorseBy returns the share of the baseline's median by which the group is worse at least, that is by the end
// of the interval that is best for it; negative if it is better. It is not known where trials are too few,
// cannot be ranked, or of a metric of which neither direction is better.
func (l *Line) WorseBy() (share float64, known bool) {
	end, sign := l.PercentLow, 1.0
	if betterOf(l.Metric) > 0 {
		end, sign = l.PercentHigh, -1
	}
	percent, known := end.Value()
	return sign * percent / 100, known && betterOf(l.Metric) != 0
}
