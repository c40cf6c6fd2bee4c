package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/judge/check"
	"turnstile/results"
)

// A Requirement is a condition on a figure of every trial of a run, or of every fault in it.
type Requirement struct {
	text, operator string
	metric         results.Column
	value          float64 // in the unit of the metric
}

var (
	requirement = pattern.Of(`^\s*([^\s<>=]+)\s*(<=|>=|<|>|=)\s*(.*?)\s*$`)
	operators   = map[string]func(x, value float64) bool{
		"<":  func(x, value float64) bool { return x < value },
		"<=": func(x, value float64) bool { return x <= value },
		">":  func(x, value float64) bool { return x > value },
		">=": func(x, value float64) bool { return x >= value },
		"=":  func(x, value float64) bool { return x == value },
	}
)

// ParseRequirement parses a requirement: a figure of runs.csv or faults.csv, one of <, <=, >, >= and =, and
// a value. The value of a time is a duration, as in wait_us_p99<50ms; other values are a number or a
// percentage, as in issued_share>=95%.
func ParseRequirement(text string) (r Requirement, err error) {
	found := requirement().FindStringSubmatch(text)
	if found == nil {
		return r, fmt.Errorf("%q is not a condition: write a figure, one of <= >= < > =, and a value, as in "+
			"wait_us_p99<50ms", text)
	}
	if err := known(found[1], RequiredColumns()); err != nil {
		return r, err
	}
	r = Requirement{text: text, metric: results.Column(found[1]), operator: found[2]}
	r.value, err = valueOf(found[3], results.TimeUnit(r.metric))
	if err != nil {
		return r, fmt.Errorf("%s: %w", text, err)
	}
	return r, nil
}

// RequiredColumns returns the figures that a requirement may name.
func RequiredColumns() []string { return append(results.FigureColumns(), results.FaultColumns()...) }

// A measured is a figure, and where it was measured.
type measured struct {
	figure.Figure
	where string
}

// figures returns the figures of a trial that the requirement is about: one figure of the trial, or one for
// each phase of its faults.
func (r *Requirement) figures(row *results.Row, faults []results.FaultRow) (all []measured) {
	trial := fmt.Sprintf("trial %d", row.Trial)
	if !slices.Contains(results.FaultColumns(), string(r.metric)) {
		return []measured{{row.Figure(r.metric), trial}}
	}
	for _, p := range results.PhaseRows(faults) {
		if f := p.Figure(r.metric); p.Trial == row.Trial && f.Known() {
			all = append(all, measured{f, fmt.Sprintf("%s (fault %d, %s)", trial, p.Number, p.Phase)})
		}
	}
	if all == nil {
		return []measured{{figure.Figure{}, trial}}
	}
	return all
}

// valueOf parses a duration, and returns its length in the given unit. If unit is 0, it parses a number or a
// percentage.
func valueOf(text string, unit time.Duration) (float64, error) {
	if unit == 0 {
		digits, percent := strings.CutSuffix(text, "%")
		x, err := strconv.ParseFloat(digits, 64)
		switch {
		case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
			return 0, fmt.Errorf("%q is not a number, and this figure is not a time: write 250 or 95%%", text)
		case percent:
			x /= 100
		}
		return x, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		if err := suggest.Unit(text, "ms"); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%q is not a time such as 500us, 50ms or 3s", text)
	case d < 0:
		return 0, fmt.Errorf("%s is negative: a time is not", text)
	}
	return float64(d) / float64(unit), nil
}

var unitNames = map[time.Duration]string{time.Microsecond: " us", time.Millisecond: " ms", time.Second: " s"}

// Judge judges whether the rows of a run, with its faults, meet a requirement: valid if all do, violated if
// one certainly does not, and inconclusive if the figure of one is unknown, or if rows is empty.
func (r *Requirement) Judge(rows []results.Row, faults []results.FaultRow) (outcome check.Outcome,
	says string) {
	if len(rows) == 0 {
		return check.Inconclusive, r.text + " is required, and no trial has measured it"
	}
	var unmet, unknown []string
	for i := range rows {
		for _, f := range r.figures(&rows[i], faults) {
			x, known := f.Value()
			holds := operators[r.operator](x, r.value)
			// If the figure is a lower bound, the true value is x or more.
			sure := !f.IsBound() || holds == (r.operator[0] == '>') && (r.operator != "=" || x > r.value)
			says := fmt.Sprintf("%s%s in %s", f, unitNames[results.TimeUnit(r.metric)], f.where)
			switch {
			case !known:
				unknown = append(unknown, "not measured in "+f.where)
			case !sure:
				unknown = append(unknown, says)
			case !holds:
				unmet = append(unmet, says)
			}
		}
	}
	switch {
	case unmet != nil:
		return check.Violated, fmt.Sprintf("%s is required, and it is %s", r.text, listed(unmet))
	case unknown != nil:
		return check.Inconclusive, fmt.Sprintf("%s is required, and it is %s", r.text, listed(unknown))
	}
	return check.Valid, r.text + " is required, and met"
}

// Above reports whether a group is worse than its baseline by more than a share in some figure. It uses the
// end of the interval that favours the group; text is the share as the user wrote it. A group fails, whatever
// its valid trials measured, if a trial is violated, or if more of its trials than of the baseline's are not
// valid, in proportion. A baseline with a violated trial makes the result inconclusive.
func (c *Comparison) Above(share float64, text string) (check.Outcome, string) {
	broken, unknown := c.broken()
	worse, unsaid := c.worse(share)
	if worse != nil {
		broken = append(broken, fmt.Sprintf("worse by more than %s: %s", text, strings.Join(worse, "; ")))
	}
	for _, m := range c.Unmeasured {
		unsaid = append(unsaid, string(m))
	}
	if len(unsaid) > 0 || len(c.Lines) == 0 {
		unknown = append(unknown, fmt.Sprintf("cannot tell whether a figure is worse by more than %s: %s", text,
			cmp.Or(strings.Join(unsaid, "; "), "nothing could be compared")))
	}
	switch {
	case broken != nil:
		return check.Violated, "FAILED: " + strings.Join(broken, "; ")
	case unknown != nil:
		return check.Inconclusive, "INCONCLUSIVE: " + strings.Join(unknown, "; ")
	}
	return check.Valid, "PASSED: no figure is shown to be worse by more than " + text
}

// broken lists the groups with violated trials; unknown lists the reasons why other groups cannot be
// compared. Groups that only one side has are not compared, but their violated trials count.
func (c *Comparison) broken() (broken, unknown []string) {
	judge := func(g *Group, baseline, compared bool) {
		name := g.title()
		n := g.Others[check.Violated.String()]
		says := fmt.Sprintf("%s of %s violated", english.Count(n, "trial", "trials"), name)
		switch {
		case n > 0 && !baseline:
			broken = append(broken, says)
		case n > 0:
			unknown = append(unknown, says)
		}
		if g.Valid == 0 && compared {
			unknown = append(unknown, "no trial of "+name+" is valid")
		}
	}
	for _, g := range c.Groups {
		judge(g, slices.ContainsFunc(c.pairs, func(p pair) bool { return p.baseline == g }), true)
	}
	for side, groups := range c.alone {
		for _, g := range groups {
			judge(g, side == 0, false)
		}
	}
	for _, p := range c.pairs {
		failed, of := p.other.notValid()
		if before, all := p.baseline.notValid(); failed*all > before*of {
			broken = append(broken, fmt.Sprintf("%d of %s of %s not valid, and %d of %d of %s", failed,
				english.Count(of, "trial", "trials"), p.other.title(), before, all, p.baseline.Name))
		}
	}
	return broken, unknown
}

// title names a group, with its experiment if there are several.
func (g *Group) title() string { return strings.TrimPrefix(g.Where+": ", ": ") + g.Name }

// notValid returns how many trials of a group are not valid, and how many trials it has. It leaves out those
// that the user interrupted.
func (g *Group) notValid() (count, of int) {
	for _, n := range g.Others {
		count += n
	}
	count -= g.Interrupted
	return count, count + g.Valid
}

// worse lists the figures in which a group is worse than its baseline by more than a share of the baseline's
// median. Unsaid lists the figures that are not known precisely enough to tell. Figures without a preferred
// direction are left out.
func (c *Comparison) worse(than float64) (worse, unsaid []string) {
	for _, l := range c.Lines {
		better := betterOf(l.Metric)
		if better == 0 {
			continue
		}
		end := l.PercentLow // the end of the interval that favours the group
		if better > 0 {
			end = l.PercentHigh
		}
		percent, known := end.Value()
		percent *= -float64(better)
		of := fmt.Sprintf("%s of %s", l.Metric, cmp.Or(l.Where, l.Group))
		switch {
		case !known:
			unsaid = append(unsaid, of)
		case percent > 100*than:
			worse = append(worse, fmt.Sprintf("%s by %.1f%% or more", of, percent))
		}
	}
	return worse, unsaid
}
