package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"turnstile/algorithms/catalog"
	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

// Columns that tell trials apart, besides columns of options. The machine is in no table: run.yaml describes
// it.
const (
	versionColumn = "version"
	machineColumn = "machine"
	runColumn     = "run"
)

// simulated is the kind of simulated runs, which do not depend on the machine.
const simulated = "simulate"

// Text returns the value of a column; for a simulated trial, the machine is "".
func (t *Observation) Text(column string) string {
	switch {
	case column != machineColumn:
		return t.Row.Text(column)
	case t.Kind == simulated:
		return ""
	}
	return t.Machine
}

// Columns returns the columns by which all trials can be grouped and chosen. Trials of services and of
// foreign programs have more, one for each option: see OptionColumns.
func Columns(known catalog.Table) []string {
	return append(ColumnsWith(known.OptionNames()), runColumn)
}

// ColumnsWith returns the columns that tell trials apart, if the trials have these columns of options.
func ColumnsWith(options []string) []string {
	return append([]string{versionColumn, machineColumn}, results.AskedColumns(options...)...)
}

// OptionColumns returns the columns of the options of some trials, sorted. It leaves out what the client of a
// service declares, which follows from the service and its options.
func OptionColumns(trials []*Observation) []string {
	names := map[string]bool{}
	for _, t := range trials {
		declares := t.Options[foreign.ServiceOption] != ""
		for option := range t.Options {
			if declares && (option == foreign.KindsOption || option == foreign.PromisesOption) {
				continue
			}
			name := results.OptionColumn(option)
			if results.IsColumn(name) || name == machineColumn { // another column has that name
				name = results.OptionColumnOf(t.Algorithm, option)
			}
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ofAlgorithm reports whether a column belongs to the algorithm: its failure detector, or an option.
func ofAlgorithm(column string) bool {
	return column == "detector" || !slices.Contains(ColumnsWith(nil), column)
}

// CheckColumns returns an error if trials cannot be grouped or chosen by the named columns.
func CheckColumns(table catalog.Table, names []string, trials []*Observation) error {
	known := append(Columns(table), OptionColumns(trials)...)
	for _, name := range names {
		switch {
		case slices.Contains(known, name):
		case results.IsColumn(name):
			return fmt.Errorf("%s is a result of a run and not an option: take a column such as "+
				"algorithm, nodes or latency", name)
		case !slices.ContainsFunc(trials, func(t *Observation) bool { return t.Text(name) != "" }):
			return fmt.Errorf("there is no column %q%s", name,
				suggest.List{Names: known, By: "docs/columns.md"}.Hint(name))
		}
	}
	return nil
}

// A selection has the trials that are compared, in groups.
type selection struct {
	names   []string // names of the groups, the baseline first
	trials  []*Observation
	group   []int    // by trial: the index of its group
	by      []string // the columns that make the groups; nil: the groups are two sides
	columns []string // other columns that tell trials apart
}

// choose selects the trials of sides that match the request, and sorts them into groups.
func (r *Request) choose(sides []Side) (*selection, error) {
	var all []*Observation
	for _, side := range sides {
		if len(side.Trials) == 0 {
			return nil, fmt.Errorf("%s has no trials", side.Name)
		}
		all = append(all, pointers(side.Trials)...)
	}
	filter, columns, err := r.filter(all)
	if err != nil {
		return nil, fmt.Errorf("--where: %w", err)
	}
	by, err := (&benchproc.ProjectionParser{}).Parse(r.By, filter)
	if err != nil {
		return nil, fmt.Errorf("--by: %w", err)
	}
	s := &selection{}
	for _, field := range by.Fields() {
		s.by = append(s.by, field.Name)
	}
	if err := CheckColumns(r.Known, s.by, all); err != nil {
		return nil, fmt.Errorf("--by: %w", err)
	}
	columns = slices.Compact(slices.Sorted(slices.Values(append(columns, s.by...))))
	var keys []benchproc.Key
	for i, side := range sides {
		s.names = append(s.names, side.Name)
		for _, t := range pointers(side.Trials) {
			result := t.result(columns)
			if match, _ := filter.Match(result); match.All() {
				s.trials, s.group, keys = append(s.trials, t), append(s.group, i), append(keys, by.Project(result))
			}
		}
		if !slices.Contains(s.group, i) {
			return nil, unmatched(side, columns)
		}
	}
	if s.by != nil {
		err = s.regroup(r, keys)
	}
	s.columns = slices.DeleteFunc(ColumnsWith(OptionColumns(s.trials)), func(column string) bool {
		return slices.Contains(s.by, column)
	})
	return s, err
}

// named finds the columns in a filter: words before a colon, outside of quotes and regular expressions.
var named = pattern.Of(`"(?:[^"\\]|\\.)*"|/[^/]*/|(\w+):`)

// filter returns the filter of a request, and the columns that it uses.
func (r *Request) filter(trials []*Observation) (f *benchproc.Filter, columns []string, err error) {
	query := "(" + cmp.Or(strings.Join(r.Where, ") ("), "*") + ")"
	for _, where := range r.Where {
		for _, found := range named().FindAllStringSubmatch(where, -1) {
			if found[1] != "" {
				columns = append(columns, found[1])
			}
		}
	}
	if f, err = benchproc.NewFilter(query); err != nil {
		return nil, nil, fmt.Errorf("%w\nwrite a column and a value, as in nodes:8", err)
	}
	return f, columns, CheckColumns(r.Known, columns, trials)
}

// result returns a trial for benchproc, with some columns as its configuration.
func (t *Observation) result(columns []string) *benchfmt.Result {
	r := &benchfmt.Result{}
	for _, column := range columns {
		r.Config = append(r.Config, benchfmt.Config{Key: column, Value: []byte(t.Text(column))})
	}
	return r
}

// unmatched returns the error that no trial of a side matches. Its text lists the values that the side has.
func unmatched(side Side, columns []string) error {
	all := &selection{names: []string{side.Name}, trials: pointers(side.Trials),
		group: make([]int, len(side.Trials))}
	says := "no trial of " + side.Name + " matches; there are:"
	for _, column := range columns {
		_, values := all.values(column)
		says += "\n  " + column + ": " + listed(values)
	}
	return errors.New(says)
}

// regroup groups the trials by their keys. The first group is the baseline.
func (s *selection) regroup(r *Request, keys []benchproc.Key) error {
	order := slices.Clone(keys)
	benchproc.SortKeys(order)
	order = slices.Compact(order)
	name := func(key benchproc.Key) string { return shown(key.StringValues()) }
	if len(order) == 1 {
		return fmt.Errorf("all trials of %s have %s=%s: there is nothing to compare by that", s.names[0], r.By,
			name(order[0]))
	}
	s.names = nil
	for _, key := range order {
		s.names = append(s.names, name(key))
	}
	if r.Against != "" {
		against := r.Against
		if algo, err := r.Known.Find(against); err == nil && r.By == "algorithm" { // Against may be an alias
			against = algo.Name
		}
		at := slices.Index(s.names, against)
		if at < 0 {
			return fmt.Errorf("--against: no trial has %s=%s%s", r.By, against, suggest.Hint(against, s.names))
		}
		s.names = slices.Concat(s.names[at:at+1], s.names[:at], s.names[at+1:])
	}
	for i, key := range keys {
		s.group[i] = slices.Index(s.names, name(key))
	}
	return nil
}

// values returns the distinct values of a column in each group and in all, in order of occurrence.
func (s *selection) values(column string) (each [][]string, all []string) {
	each = make([][]string, len(s.names))
	for i, t := range s.trials {
		text, group := t.Text(column), &each[s.group[i]]
		if !slices.Contains(*group, text) {
			*group = append(*group, text)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return each, all
}

func pointers(trials []Observation) []*Observation {
	all := make([]*Observation, len(trials))
	for i := range trials {
		all[i] = &trials[i]
	}
	return all
}

// listed lists the first few values.
func listed(values []string) string {
	const few = 8
	var words []string
	for _, v := range values[:min(few, len(values))] {
		words = append(words, shown(v))
	}
	if more := len(values) - few; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// shown returns a value as lists show it, with a word for an empty value.
func shown(value string) string { return cmp.Or(value, "(none)") }
