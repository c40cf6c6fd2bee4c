package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/judge/check"
	"turnstile/results"
)

// A Requirement is a condition on a figure of every trial of a run.
type Requirement struct {
	text, metric, operator string
	value                  float64 // in the unit of the metric
}

// operators are those of requirements. One that another begins with comes behind it.
var operators = []string{"<=", ">=", "<", ">", "="}

// ParseRequirement reads a requirement: a figure of runs.csv, <, <=, >, >= or =, and a value: of times a
// length of time, as in wait_us_p99<50ms, of others a number or a percentage, as in issued_share>=95%.
func ParseRequirement(text string) (Requirement, error) {
	r := Requirement{text: text}
	at := strings.IndexAny(text, "<>=")
	if at < 0 {
		return r, fmt.Errorf("%q is no condition: write a figure, one of %s, and a value, as in wait_us_p99<50ms",
			text, strings.Join(operators, " "))
	}
	i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(text[at:], o) })
	r.metric, r.operator = strings.TrimSpace(text[:at]), operators[i]
	if err := CheckMetrics([]string{r.metric}); err != nil {
		return r, err
	}
	value := strings.TrimSpace(text[at+len(r.operator):])
	var err error
	if unit := results.TimeUnit(r.metric); unit > 0 {
		r.value, err = lengthOf(value, unit)
	} else {
		r.value, err = numberOf(value)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", text, err)
	}
	return r, nil
}

// lengthOf reads a length of time, and returns how many units it is.
func lengthOf(text string, unit time.Duration) (float64, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d == 0 && text != "0":
		if err := suggest.Unit(text, "ms"); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%q is no time such as 500us, 50ms or 3s", text)
	case d < 0:
		return 0, fmt.Errorf("%s is negative: no time is", text)
	}
	return float64(d) / float64(unit), nil
}

// numberOf reads a number or a percentage.
func numberOf(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || x-x != 0: // it is infinite, or no number
		return 0, fmt.Errorf("%q is no number: this figure is no time; write 250 or 95%%", text)
	case percent:
		x /= 100
	}
	return x, nil
}

var unitNames = map[time.Duration]string{time.Microsecond: " us", time.Millisecond: " ms", time.Second: " s"}

// Judge says whether the rows of a run meet a requirement: valid if all do, violated if one does not, and
// inconclusive if that is not known of one, or there are none.
func (r *Requirement) Judge(rows []results.Row) (outcome check.Outcome, says string) {
	if len(rows) == 0 {
		return check.Inconclusive, r.text + " is required, and no trial has measured it"
	}
	var unmet, unknown []string
	for i := range rows {
		f := rows[i].Figure(r.metric)
		of := fmt.Sprintf("%s%s in trial %d", f, unitNames[results.TimeUnit(r.metric)], rows[i].Trial)
		x, known := f.Value()
		switch holds := r.holds(x); {
		case !known:
			unknown = append(unknown, fmt.Sprintf("not measured in trial %d", rows[i].Trial))
		case f.IsBound() && holds == (r.operator[0] == '>') && r.operator != "=":
			// whatever above x it is, that is so
			if !holds {
				unmet = append(unmet, of)
			}
		case f.IsBound():
			unknown = append(unknown, of)
		case !holds:
			unmet = append(unmet, of)
		}
	}
	switch {
	case unmet != nil:
		return check.Violated, fmt.Sprintf("%s is required, and it is %s", r.text, listed(unmet))
	case unknown != nil:
		return check.Inconclusive, fmt.Sprintf("%s is required, and it is %s", r.text, listed(unknown))
	}
	return check.Valid, r.text + " is required, and so it is"
}

// holds reports whether the condition holds for a number.
func (r *Requirement) holds(x float64) bool {
	switch r.operator {
	case "<":
		return x < r.value
	case "<=":
		return x <= r.value
	case ">":
		return x > r.value
	case ">=":
		return x >= r.value
	}
	return x == r.value
}
