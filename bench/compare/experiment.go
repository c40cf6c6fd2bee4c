package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes/catalog"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

// The columns by which trials are told apart beside those of what was asked for. No file has a column of the
// machine: run.yaml describes it.
const (
	versionColumn = "version"
	machineColumn = "machine"
	runColumn     = "run"
)

// simulated is the kind of runs that take place on virtual time, where no machine matters.
const simulated = "simulate"

// text returns what a trial has in a column.
func (t *Trial) text(column string) string {
	switch {
	case column != machineColumn:
		return t.Row.Text(column)
	case t.Kind == simulated:
		return ""
	}
	return t.Machine
}

// Columns names the columns by which all trials can be grouped and chosen. Trials of services and of foreign
// programs have more columns, one for each option: see OptionColumns.
func Columns() []string {
	asked := results.AskedColumns(catalog.OptionNames()...)
	return append(slices.Clone(ofOrigin), asked...)
}

// ofOrigin are the columns that say where trials come from.
var ofOrigin = []string{versionColumn, machineColumn, runColumn}

// OptionColumns names the columns of the options of some trials, sorted by name. It leaves out what the
// client of a service declares: that follows from the service and its options.
func OptionColumns(trials []*Trial) []string {
	names := map[string]bool{}
	for _, t := range trials {
		declares := t.Options[foreign.ServiceOption] != ""
		for option := range t.Options {
			if declares && (option == foreign.KindsOption || option == foreign.PromisesOption) {
				continue
			}
			name := results.OptionColumn(option)
			if results.IsColumn(name) || slices.Contains(ofOrigin, name) { // the name alone is that of another
				name = results.OptionColumnOf(t.Algorithm, option)
			}
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ColumnsWith returns the columns that tell trials apart which have options with such columns.
func ColumnsWith(options []string) []string {
	return append([]string{versionColumn, machineColumn}, results.AskedColumns(options...)...)
}

// columnsOf returns the columns that tell trials apart.
func columnsOf(trials ...[]*Trial) []string {
	return ColumnsWith(OptionColumns(slices.Concat(trials...)))
}

// checkColumn returns an error if trials cannot be grouped or chosen by the column of a name.
func checkColumn(name string, trials []*Trial) error {
	known := append(Columns(), OptionColumns(trials)...)
	switch {
	case slices.Contains(known, name) || optionOf(name, trials) != "":
		return nil
	case results.IsColumn(name):
		return fmt.Errorf("%s is not what a run was asked to be, but came of it: take a column such as algorithm, "+
			"nodes or latency", name)
	}
	hint := suggest.List{Names: known, By: "docs/columns.md"}.Hint(name)
	return fmt.Errorf("there is no column %q%s", name, hint)
}

// checkColumns says which column of the request is none of the trials of the sides.
func (r *Request) checkColumns(sides ...Side) error {
	var trials []*Trial
	for _, s := range sides {
		for i := range s.Trials {
			trials = append(trials, &s.Trials[i])
		}
	}
	if r.By != "" {
		if err := checkColumn(r.By, trials); err != nil {
			return fmt.Errorf("--by: %w", err)
		}
	}
	for _, c := range r.Where {
		if err := checkColumn(c.Column, trials); err != nil {
			return fmt.Errorf("--where: %w", err)
		}
	}
	return nil
}

// optionOf returns, of a column that files have for an option of an algorithm or of some trial, that of the
// option alone; nothing, if it is no such column.
func optionOf(column string, trials []*Trial) string {
	for _, row := range catalog.All() {
		for _, o := range row.Options {
			if results.OptionColumnOf(row.Name, o.Name) == column {
				return results.OptionColumn(o.Name)
			}
		}
	}
	for _, t := range trials {
		for option := range t.Options {
			if results.OptionColumnOf(t.Algorithm, option) == column {
				return results.OptionColumn(option)
			}
		}
	}
	return ""
}

// A Condition chooses the trials that have a value in a column.
type Condition struct{ Column, Value string }

// ParseCondition reads column=value.
func ParseCondition(text string) (Condition, error) {
	column, value, found := strings.Cut(text, "=")
	if !found {
		return Condition{}, fmt.Errorf("%q is no condition: write column=value, as in nodes=8", text)
	}
	return Condition{column, named(column, value)}, nil
}

// named returns the name of the algorithm that a value of the column of algorithms stands for, which may be
// an alias; all other values as they are.
func named(column, value string) string {
	if column == "algorithm" {
		if row, err := catalog.Find(value); err == nil {
			return row.Name
		}
	}
	return value
}

// choose returns the trials of a side that all conditions hold for.
func (s Side) choose(where []Condition) ([]*Trial, error) {
	if len(s.Trials) == 0 {
		return nil, fmt.Errorf("%s has no trials", s.Name)
	}
	chosen := make([]*Trial, len(s.Trials))
	for i := range s.Trials {
		chosen[i] = &s.Trials[i]
	}
	for _, c := range where {
		var values []string
		chosen = slices.DeleteFunc(chosen, func(t *Trial) bool {
			value := t.text(c.Column)
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
			return value != c.Value
		})
		if len(chosen) == 0 {
			return nil, fmt.Errorf("no trial of %s has %s=%s; there are: %s", s.Name, c.Column, c.Value,
				listed(values))
		}
	}
	return chosen, nil
}

// listed lists values, the first few of them.
func listed(values []string) string {
	const few = 8
	words := make([]string, 0, len(values))
	for _, v := range values[:min(few, len(values))] {
		words = append(words, shown(v))
	}
	if more := len(values) - few; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// shown returns a value as it is listed, where nothing would not be seen.
func shown(value string) string {
	if value == "" {
		return "(none)"
	}
	return value
}

// An experiment is trials that agree in all columns.
type experiment struct {
	values []string // by column
	trials []*Trial
}

// experiments sorts trials into experiments by the columns, in the order in which they come.
func experiments(trials []*Trial, columns []string) (all []*experiment) {
	byKey := map[string]*experiment{}
	for _, t := range trials {
		values := make([]string, len(columns))
		for i, c := range columns {
			values[i] = t.text(c)
		}
		key := strings.Join(values, "\x00")
		if byKey[key] == nil {
			byKey[key] = &experiment{values: values}
			all = append(all, byKey[key])
		}
		byKey[key].trials = append(byKey[key].trials, t)
	}
	return all
}

// ofEach returns columns with that of an option in the place of the one that all algorithms have together: a
// column for each algorithm.
func ofEach(columns []string, by string, trials []*Trial) (all []string) {
	option := optionOf(by, trials)
	for _, c := range columns {
		if c != option {
			all = append(all, c)
			continue
		}
		for _, t := range trials {
			if one := results.OptionColumnOf(t.Algorithm, c); t.Text(c) != "" && !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// valuesOf returns the different values that experiments have in column i, in the order in which they come.
func valuesOf(all []*experiment, i int) (values []string) {
	for _, e := range all {
		if !slices.Contains(values, e.values[i]) {
			values = append(values, e.values[i])
		}
	}
	return values
}

// groupOf returns the group of some experiments.
func groupOf(name string, all []*experiment) *Group {
	type draw struct {
		version string
		seed    uint64
	}
	g := &Group{Name: name, Others: map[string]int{}}
	drawn := map[draw]bool{}
	for _, e := range all {
		for _, t := range e.trials {
			d := draw{t.Version, t.Seed}
			switch {
			case t.Verdict != "valid":
				if g.Others[t.Verdict]++; t.Reason == results.Interrupted {
					g.Interrupted++
				}
				continue
			case t.Kind == simulated && drawn[d]:
				g.Repeated++
				continue
			}
			drawn[d] = true
			g.trials = append(g.trials, t)
			if t.CPUBound() {
				g.CPUBound++
			}
		}
	}
	g.Valid = len(g.trials)
	g.same = g.Valid > 1 && !slices.ContainsFunc(g.trials, func(t *Trial) bool {
		return t.Kind != simulated || t.Figures != g.trials[0].Figures
	})
	return g
}
