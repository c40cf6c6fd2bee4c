package compare

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/results"
)

// Groups compares the trials of one side, grouped by a column. All else has to be the same, but for what
// belongs to the algorithm if they are grouped by that: its options and its failure detector.
func Groups(set Side, r Request) (*Comparison, error) {
	if err := r.checkColumns(set); err != nil {
		return nil, err
	}
	trials, err := set.choose(r.Where)
	if err != nil {
		return nil, err
	}
	columns := ofEach(columnsOf(trials), r.By, trials)
	if r.By == runColumn {
		columns = append(columns, runColumn)
	}
	by := slices.Index(columns, r.By)
	all := experiments(trials, columns)
	if by < 0 || len(valuesOf(all, by)) == 1 {
		return nil, fmt.Errorf("all trials of %s have %s=%s: there is nothing to compare by that", set.Name, r.By,
			shown(trials[0].text(r.By)))
	}
	names, err := r.baselineFirst(valuesOf(all, by))
	if err != nil {
		return nil, err
	}
	c := &Comparison{By: r.By}
	if err := c.differ(r, columns, by, all, names); err != nil {
		return nil, err
	}
	var pairs []pair
	var baseline *Group
	for i, name := range names {
		g := groupOf(shown(name), slices.DeleteFunc(slices.Clone(all), func(e *experiment) bool {
			return e.values[by] != name
		}))
		if i == 0 {
			baseline = g
		} else {
			pairs = append(pairs, pair{"", baseline, g})
		}
	}
	c.compare(pairs, r.Metrics)
	return c, nil
}

// baselineFirst returns the names of groups, that of the one that the others are compared with first.
func (r *Request) baselineFirst(names []string) ([]string, error) {
	if r.Against == "" {
		return names, nil
	}
	at := slices.Index(names, named(r.By, r.Against))
	if at < 0 {
		return nil, fmt.Errorf("--against: no trial has %s=%s%s", r.By, r.Against, suggest.Hint(r.Against, names))
	}
	return slices.Concat(names[at:at+1], names[:at], names[at+1:]), nil
}

// differ fills Agree and Differ: the columns in which all experiments agree, and those in which the groups
// differ. The column that groups them is in neither. A difference that makes groups incomparable is an error.
func (c *Comparison) differ(r Request, columns []string, by int, all []*experiment, names []string) error {
	var refused []string
	choice, apart := "", true // apart: each group has one value in each of these
	for i, column := range columns {
		values := valuesOf(all, i)
		if len(values) == 1 {
			c.Agree = append(c.Agree, Cell{Column: column, Text: values[0]})
		}
		if len(values) == 1 || i == by {
			continue
		}
		each, one := perGroup(all, i, by, names)
		origin := column == versionColumn || column == machineColumn
		switch {
		case one && (r.Unlike || r.By == "algorithm" && ofAlgorithm(column)), r.Unlike && origin:
			c.Differ = append(c.Differ, Difference{column, each})
			continue
		case refused == nil:
			choice = "--where " + column + "=" + terminal.ShellQuoted(values[0])
		}
		refused = append(refused, fmt.Sprintf("  %s: %s", column, listed(values)))
		apart = apart && (one || origin)
	}
	if refused == nil {
		return nil
	}
	hint := "\nchoose some, as by " + choice + ", several times for several columns"
	switch {
	case r.Unlike:
		hint += "; even --unlike compares only groups that have one value each"
	case apart:
		hint += "; or add --unlike, to compare groups that differ in more"
	}
	return fmt.Errorf("these trials differ in more than %s:\n%s%s", r.By, strings.Join(refused, "\n"), hint)
}

// perGroup returns the values of column i in each group, and whether each group has one alone.
func perGroup(all []*experiment, i, by int, names []string) (each []string, one bool) {
	one = true
	for _, name := range names {
		values := valuesOf(slices.DeleteFunc(slices.Clone(all), func(e *experiment) bool {
			return e.values[by] != name
		}), i)
		one = one && len(values) == 1
		each = append(each, listed(values))
	}
	return each, one
}

// ofAlgorithm reports whether a column says something that belongs to the algorithm: its failure detector, or
// one of its options.
func ofAlgorithm(column string) bool {
	return column == "detector" || !slices.Contains(ofOrigin, column) &&
		!slices.Contains(results.AskedColumns(), column)
}
