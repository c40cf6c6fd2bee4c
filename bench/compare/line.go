package compare

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/stats"
	"turnstile/internal/suggest"
	"turnstile/results"
)

// A Line compares one metric of a group with the baseline's. A difference is the group's value minus the
// baseline's, in the unit of the metric and in percent of the baseline's median.
type Line struct {
	Metric   results.Column `csv:"metric"`
	Where    string         `csv:"where"` // which experiment, if there are several
	Baseline string         `csv:"baseline"`
	Group    string         `csv:"group"`

	BaselineTrials int           `csv:"baseline_trials"` // trials that measured the metric
	Trials         int           `csv:"trials"`
	BaselineMedian figure.Figure `csv:"baseline_median"`
	BaselineLow    figure.Figure `csv:"baseline_low"` // ends of intervals are empty if there are too few trials
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
	Comparisons int           `csv:"comparisons"` // number of comparisons that PHolm is corrected for
	Verdict     string        `csv:"verdict"`     // better, worse, lower, higher or ~: no significant difference
	Reason      string        `csv:"reason"`      // why there is no statement about a difference
}

// NoDifference is the reason of a line whose trials are enough, but do not differ significantly.
const NoDifference = "no significant difference"

// The verdicts. Better and worse are for metrics with a preferred direction.
const (
	isBetter = "better"
	isWorse  = "worse"
	isLower  = "lower"
	isHigher = "higher"
	unshown  = "~"
)

// A sample has the figures of one metric in the trials of a group.
type sample struct {
	group  *Group
	x      []float64
	all    []figure.Figure // the figures in x, which may be lower bounds
	bounds int             // how many of the figures are lower bounds
}

func (g *Group) sample(metric results.Column) sample {
	s := sample{group: g}
	for _, t := range g.trials {
		f := t.Figure(metric)
		x, known := f.Value()
		if !known {
			continue
		}
		s.x, s.all = append(s.x, x), append(s.all, f)
		if f.IsBound() {
			s.bounds++
		}
	}
	return s
}

// median returns the median with its interval. If some figures are lower bounds, it returns no interval, and
// the median may be a lower bound.
func (s *sample) median() (median, low, high figure.Figure) {
	if len(s.x) == 0 {
		return
	}
	if s.bounds > 0 {
		return stats.MedianOf(s.all), low, high
	}
	e := stats.Median(s.x)
	return figure.Number(e.Value), figure.Number(e.Low), figure.Number(e.High)
}

// unranked returns why the figures of a group cannot be compared, or "".
func (s *sample) unranked(metric results.Column) string {
	switch {
	case s.group.Valid == 0:
		return "no valid trial of " + s.group.Name
	case len(s.x) == 0:
		return "not measured in " + s.group.Name
	case s.bounds > 0:
		return fmt.Sprintf("in %d of %d trials of %s only a lower bound is known", s.bounds, len(s.x), s.group.Name)
	case s.group.CPUBound > 0 && isDelay(metric):
		return fmt.Sprintf("CPU-bound in %d of %d trials of %s: its delays are not ranked", s.group.CPUBound,
			s.group.Valid, s.group.Name)
	}
	return ""
}

// line compares the two groups by a metric, without correcting the p-value.
func (p *pair) line(metric results.Column) Line {
	from, to := p.baseline.sample(metric), p.other.sample(metric)
	l := Line{Metric: metric, Where: p.where, Baseline: p.baseline.Name, Group: p.other.Name,
		BaselineTrials: len(from.x), Trials: len(to.x), Verdict: unshown}
	l.BaselineMedian, l.BaselineLow, l.BaselineHigh = from.median()
	l.Median, l.Low, l.High = to.median()
	for _, s := range []sample{from, to} {
		if l.Reason = s.unranked(metric); l.Reason != "" {
			return l
		}
	}
	shift := stats.Shift(from.x, to.x)
	for _, s := range []sample{from, to} {
		if s.group.same {
			l.Reason = fmt.Sprintf("the %d simulated trials of %s are identical, since nothing in them is random",
				s.group.Valid, s.group.Name)
		}
	}
	if from.group.same && to.group.same { // nothing is random: the difference is exact
		shift.Low, shift.High = shift.Value, shift.Value
	}
	n := figure.Number // an infinite end becomes an unknown figure
	l.Difference, l.DifferenceLow, l.DifferenceHigh = n(shift.Value), n(shift.Low), n(shift.High)
	if median, _ := l.BaselineMedian.Value(); median > 0 {
		percent := func(x float64) figure.Figure { return n(100 * x / median) }
		l.Percent, l.PercentLow, l.PercentHigh = percent(shift.Value), percent(shift.Low), percent(shift.High)
	}
	if l.Reason == "" {
		l.P = figure.Number(stats.MannWhitney(from.x, to.x))
	}
	return l
}

// linesOf compares the pairs by one metric, and corrects the p-values for multiple comparisons.
func linesOf(metric results.Column, pairs []pair) []Line {
	lines := make([]Line, len(pairs))
	var tested []*Line
	var p []float64
	for i, pair := range pairs {
		lines[i] = pair.line(metric)
		if x, known := lines[i].P.Value(); known {
			tested, p = append(tested, &lines[i]), append(p, x)
		}
	}
	for i, corrected := range stats.Holm(p) {
		l := tested[i]
		l.PHolm, l.Comparisons = figure.Number(corrected), len(p)
		switch {
		case corrected < stats.Level && l.Difference != figure.Number(0):
			l.Verdict = verdictOf(l.Metric, l.Difference)
		case stats.LeastP(l.BaselineTrials, l.Trials)*float64(len(p)) >= stats.Level:
			l.Reason = fmt.Sprintf("too few trials: %d and %d; %d of each would do for %s", l.BaselineTrials, l.Trials,
				stats.Enough(len(p)), english.Count(len(p), "comparison", "comparisons"))
		case l.Difference == figure.Number(0) && l.DifferenceLow == l.DifferenceHigh:
			l.Reason = "all trials have the same figure"
		default:
			l.Reason = NoDifference
		}
	}
	return lines
}

// defaults are the metrics of a comparison whose request names no metrics: the first list that has a measured
// metric. The second list is for runs about leaders, which have no entries.
var defaults = [][]results.Column{
	{results.EntriesPerS, results.MessagesPerEntry, results.AllMessagesPerEntry, results.WaitUSP50,
		results.WaitUSP99, results.SyncDelayUSP50},
	{results.ElectUSP50, results.ElectUSMax, results.Messages, results.MessagesPerElection,
		results.LeaderlessUS},
}

// defaults returns the metrics of a comparison whose request names no metrics. If no trial sent heartbeats,
// it leaves out all_messages_per_entry, which equals messages_per_entry.
func (c *Comparison) defaults() []results.Column {
	for _, metrics := range defaults {
		if slices.ContainsFunc(metrics, c.measured) {
			return slices.DeleteFunc(slices.Clone(metrics), func(m results.Column) bool {
				return m == results.AllMessagesPerEntry && !c.measured(results.HeartbeatsPerEntry)
			})
		}
	}
	return defaults[0]
}

// Metrics returns the figures of runs.csv with these names. An error for an unknown name suggests similar
// ones.
func Metrics(names ...string) (metrics []results.Column, err error) {
	for i, m := range names {
		if slices.Contains(names[:i], m) {
			return nil, fmt.Errorf("%s is named twice: leave out one of the two", m)
		}
		if err := known(m, results.FigureColumns()); err != nil {
			return nil, err
		}
		metrics = append(metrics, results.Column(m))
	}
	return metrics, nil
}

// known returns an error if a name is not that of a figure.
func known(name string, figures []string) error {
	if slices.Contains(figures, name) {
		return nil
	}
	return fmt.Errorf("there is no figure %q%s", name,
		suggest.List{Names: figures, By: "docs/columns.md"}.Hint(name))
}

// More is better for the metrics in moreIsBetter, and less is better for metrics with a prefix in
// lessIsBetter. All others have no preferred direction.
var (
	moreIsBetter = []results.Column{results.EntriesPerS, results.Utilisation, results.JainIndex,
		results.EntriesNodeMin, results.IssuedShare, results.ServedShare}
	lessIsBetter = []string{"messages_per_", "all_messages_per_", "heartbeats_per_", "publishes_per_",
		"bytes_per_", "one_entry_messages_", "wait_us_",
		"queue_us_", "protocol_us_", "client_delay_us_", "uncontended_us_", "sync_delay_us_",
		"overtaken_", "passed_over_",
		"suspicions_wrong", "detection_us_", "elect_", "takeover_us_", "all_agreed_us_", "leader_changes_per_s",
		"leaderless_us", "two_leaders_", "flaps", "terms_backwards", "violations", "overlap_us",
		"told_inside_us", "told_after_us", "overlapped_untold", "told_for_nothing", "refused_tries", "refused_free",
		"given_up", "unfinished", "lost_", "timer_late_us_", "node_rss_mb_max", "ready_ms"}
)

// betterOf returns 1 if more of a metric is better, -1 if less is better, and 0 if the metric has no
// preferred direction.
func betterOf(metric results.Column) int {
	if slices.Contains(moreIsBetter, metric) {
		return 1
	}
	for _, begin := range lessIsBetter {
		if strings.HasPrefix(string(metric), begin) {
			return -1
		}
	}
	return 0
}

// BetterOf says whether more or less of a metric is better, or returns "" if the metric has no preferred
// direction.
func BetterOf(metric results.Column) string {
	return [...]string{"less is better", "", "more is better"}[betterOf(metric)+1]
}

// isDelay reports whether a metric is a time that grows when the CPUs are busy.
func isDelay(metric results.Column) bool {
	return results.TimeUnit(metric) > 0 && (betterOf(metric) < 0 ||
		strings.HasPrefix(string(metric), "hold_us_"))
}

// verdictOf returns the verdict for a difference of a metric.
func verdictOf(metric results.Column, difference figure.Figure) string {
	x, _ := difference.Value()
	switch better := betterOf(metric); {
	case better == 0 && x > 0:
		return isHigher
	case better == 0:
		return isLower
	case (better > 0) == (x > 0):
		return isBetter
	}
	return isWorse
}
