package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"turnstile/bench/compare"
	"turnstile/bench/option"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
)

// An experiment is trials that were asked for the same, on one machine, by one version.
type experiment struct {
	*compare.Group
	series  string // the algorithm, with those of its options in which others of the set differ
	nodes   int
	setting *setting
	trials  []compare.Trial
}

// A setting is what trials have in common but for the algorithm and the number of nodes.
type setting struct {
	label   string // in what it differs from others of its sort in the set
	also    string // the same, without the columns that are shown anyway
	columns string // those of its problem: entries or elections
	faulty  bool
	all     []*experiment // by series, and then by nodes
	asked   []string      // columns
	values  []string      // what it has in each
}

// The columns that say whose work it is rather than under what: those of an algorithm, and its size.
var ofSeries = []string{"algorithm", "detector", "elect"}

// group sorts trials into experiments and settings.
func (m *maker) group(trials []compare.Trial) {
	all := make([]*compare.Trial, len(trials))
	for i := range trials {
		all[i] = &trials[i]
	}
	options := compare.OptionColumns(all)
	var names, about []string
	for _, c := range compare.ColumnsWith(options) {
		switch {
		case slices.Contains(options, c) || slices.Contains(ofSeries, c):
			names = append(names, c)
		case c != "nodes":
			about = append(about, c)
		}
	}
	differ := differing(trials, names, about)
	byKey, bySetting := map[string]*experiment{}, map[string]*setting{}
	for i := range trials {
		t := &trials[i]
		values := textsOf(t, about)
		key := strings.Join(values, "\x00")
		s := bySetting[key]
		if s == nil {
			s = &setting{asked: about, values: values,
				faulty:  t.Text(option.PlanColumn) != "" || t.Text(option.FaultsColumn) != "",
				columns: columnsOf(t.Algorithm)}
			bySetting[key] = s
			m.settings = append(m.settings, s)
		}
		key = fmt.Sprint(key, "\x00", t.Nodes, "\x00", strings.Join(textsOf(t, names), "\x00"))
		e := byKey[key]
		if e == nil {
			e = &experiment{series: seriesOf(t, names, differ), nodes: t.Nodes, setting: s}
			byKey[key] = e
			s.all = append(s.all, e)
		}
		e.trials = append(e.trials, *t)
	}
	m.label(about)
	for _, s := range m.settings {
		for _, e := range s.all {
			e.Group = compare.GroupOf(e.series, e.trials)
			m.Valid += e.Valid
		}
		m.all = append(m.all, s.all...)
	}
}

// shown are the columns that have columns of their own in the table of what was asked for.
var shown = []string{"load", "hold", "latency", "plan", "faults"}

// label names the settings by what they differ in from others of their sort, sorts what they have, and gives
// each series its look.
func (m *maker) label(about []string) {
	for i, column := range about {
		for _, s := range m.settings {
			differ := slices.ContainsFunc(m.settings, func(other *setting) bool {
				return other.columns == s.columns && other.faulty == s.faulty && other.values[i] != s.values[i]
			})
			text := s.values[i]
			if !differ || text == "" || text == "false" || column == "faults" && s.plan() != "" {
				continue
			}
			words := strings.ReplaceAll(column, "_", " ") + " " + text
			s.label = joined(s.label, words)
			if !slices.Contains(shown, column) {
				s.also = joined(s.also, words)
			}
		}
	}
	m.names = map[string]int{}
	series := map[string][]string{} // by columns
	for _, s := range m.settings {
		slices.SortStableFunc(s.all, func(a, b *experiment) int {
			return cmp.Or(strings.Compare(a.series, b.series), cmp.Compare(a.nodes, b.nodes))
		})
		for _, e := range s.all {
			if !slices.Contains(series[s.columns], e.series) {
				series[s.columns] = append(series[s.columns], e.series)
			}
		}
	}
	for _, names := range series {
		slices.Sort(names)
		for i, name := range names {
			m.names[name] = i
		}
	}
}

// joined returns words with more of them.
func joined(words, more string) string { return strings.TrimPrefix(words+", "+more, ", ") }

// plan returns the name of the plan of faults, if there is one.
func (s *setting) plan() string { return s.all[0].trials[0].Text(option.PlanColumn) }

// faults says in a few words what faults there are; nothing: there are none.
func (s *setting) faults() string {
	if plan := s.plan(); plan != "" {
		return "plan " + plan
	}
	return s.all[0].trials[0].Text(option.FaultsColumn)
}

// textsOf returns what a trial has in columns.
func textsOf(t *compare.Trial, columns []string) (texts []string) {
	for _, c := range columns {
		texts = append(texts, t.Text(c))
	}
	return texts
}

// differing returns, by algorithm, in which columns its trials differ that agree in all others: defaults of
// options follow from the number of nodes and the latency, and make no other series.
func differing(trials []compare.Trial, columns, about []string) map[string]map[string]bool {
	first, differ := map[string][]string{}, map[string]map[string]bool{}
	for i := range trials {
		t := &trials[i]
		key := fmt.Sprint(t.Algorithm, " ", t.Nodes, "\x00", strings.Join(textsOf(t, about), "\x00"))
		texts := textsOf(t, columns)
		if differ[t.Algorithm] == nil {
			differ[t.Algorithm] = map[string]bool{}
		}
		if first[key] == nil {
			first[key] = texts
		}
		for i, c := range columns {
			if texts[i] != first[key][i] {
				differ[t.Algorithm][c] = true
			}
		}
	}
	return differ
}

// seriesOf names the series of a trial.
func seriesOf(t *compare.Trial, columns []string, differ map[string]map[string]bool) string {
	name := t.Algorithm
	for _, c := range columns {
		if text := t.Text(c); text != "" && differ[t.Algorithm][c] {
			name += ", " + strings.ReplaceAll(c, "_", " ") + " " + text
		}
	}
	return name
}

// The columns of problems, as check.Problem has them.
const (
	entries   = "entries"
	elections = "elections"
)

// columnsOf returns the columns of the problem of an algorithm. One that is unknown is taken for one of
// mutual exclusion.
func columnsOf(algorithm string) string {
	row, err := catalog.Find(algorithm)
	if err != nil {
		return entries
	}
	return check.ProblemOf(row).Columns
}

// calm returns the settings without faults whose problem has such columns, and that have valid trials.
func (m *maker) calm(columns string) (all []*setting) {
	for _, s := range m.settings {
		if !s.faulty && s.columns == columns && s.valid() > 0 {
			all = append(all, s)
		}
	}
	return all
}

func (s *setting) valid() (count int) {
	for _, e := range s.all {
		count += e.Valid
	}
	return count
}

// sizes returns the numbers of nodes of a setting, in order.
func (s *setting) sizes() (all []int) {
	for _, e := range s.all {
		all = append(all, e.nodes)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// titled returns a title with the label of a setting, if it has one.
func (s *setting) titled(title string) string {
	if s.label == "" {
		return title
	}
	return title + " (" + s.label + ")"
}
