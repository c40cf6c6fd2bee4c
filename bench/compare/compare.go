// Package compare compares experiments: groups of trials with the same options, by the figures that they
// measured. It says for each figure how the groups differ, or why that cannot be said.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/option"
	"turnstile/results"
)

// An Observation is what is known of a trial: its row of runs.csv, and the machine of its run, "" if unknown.
type Observation struct {
	results.Row
	Machine string
	Started time.Time // when its run began; zero: unknown
}

// A Side is a named set of trials to compare.
type Side struct {
	Name   string
	Trials []Observation
}

// A Request names the groups of a comparison and its figures.
type Request struct {
	// By is a projection of golang.org/x/perf/benchproc, such as algorithm or nodes@num: trials with the same
	// value form a group. Empty: two sides are compared.
	By      string
	Known   catalog.Table    // known algorithms; Against may be an alias of one
	Against string           // value of the group that the others are compared with; empty: the first group
	Where   []string         // filters of benchproc, such as nodes:8; trials that match all of them are compared
	Metrics []results.Column // empty: each metric of defaults that some trial has measured
	Unlike  bool             // compare groups even if they differ in further columns
}

// A Comparison is the result of a Request.
type Comparison struct {
	By     string   `json:"by,omitempty"`
	Sides  []string `json:"-"` // names of the two sides, if any; the first is the baseline
	Agree  []Column `json:"-"` // columns with one value in all trials
	Differ []Column `json:"-"` // columns, other than By, with several values
	Groups []*Group `json:"groups"`
	Alone  []string `json:"alone"` // experiments of one side that the other side lacks
	Lines  []Line   `json:"-"`     // sorted by metric, and then by group
	// Unmeasured are requested metrics that no trial has measured.
	Unmeasured []results.Column `json:"unmeasured"`

	pairs []pair
	alone [2][]*Group // by side: the groups of Alone
}

// A Column has the values of trials in one column of runs.csv.
type Column struct {
	Name   string
	Values []string // one text per group, in order; a single text if all groups agree
}

// A Group has the trials of one experiment. Only trials with a valid verdict are compared.
type Group struct {
	Name     string         `json:"name"`
	Where    string         `json:"where,omitempty"` // which experiment of its side, if there are several
	Valid    int            `json:"valid"`
	CPUBound int            `json:"cpu_bound"` // how many valid trials were CPU-bound
	Others   map[string]int `json:"others"`    // numbers of trials that are not valid, by verdict
	Repeated int            `json:"repeated"`  // simulated trials that are left out, since another has that seed

	Interrupted int `json:"-"` // how many of Others the user interrupted

	trials []*Observation
	same   bool // the trials are simulated, and all their figures are equal
}

// A pair has two groups to compare.
type pair struct {
	where           string // which experiment, if there are several
	baseline, other *Group
}

// Compare compares two sides, or the groups of one side. Two sides may differ in a column in which each side
// has a single value, unless the column is in alike. Compare pairs the experiments of the two sides by the
// columns in which a side has several values. The groups of one side must agree in all columns except By; if
// they are grouped by algorithm, options and failure detectors may differ too.
func Compare(r Request, sides ...Side) (*Comparison, error) {
	s, err := r.choose(sides)
	if err != nil {
		return nil, err
	}
	c := &Comparison{By: r.By, Alone: []string{}, Unmeasured: []results.Column{}}
	if r.By == "" {
		c.Sides = s.names
	}
	var apart, refused []string // columns in which experiments of one side differ; columns that must not differ
	for _, column := range s.columns {
		each, all := s.values(column)
		one := !slices.ContainsFunc(each, func(values []string) bool { return len(values) > 1 })
		switch {
		case len(all) == 1:
			c.Agree = append(c.Agree, Column{column, all})
		case r.By == "" && !one:
			apart = append(apart, column)
		case one && (r.Unlike || s.follows(column)),
			r.Unlike && (column == versionColumn || column == machineColumn):
			differ := Column{Name: column}
			for _, values := range each {
				differ.Values = append(differ.Values, listed(values))
			}
			c.Differ = append(c.Differ, differ)
		default:
			refused = append(refused, column)
		}
	}
	if refused != nil {
		return nil, r.refuse(s, refused)
	}
	if err := c.pair(s, apart); err != nil {
		return nil, err
	}
	c.compare(r.Metrics)
	return c, nil
}

// alike are the columns in which two sides must agree: version, machine and amount of work. Other columns,
// such as the algorithm or the latency, are what the comparison is about if they differ.
var alike = func() []string {
	all := []string{versionColumn, machineColumn, "kind", "nodes"}
	for o, c := range option.Columns() {
		if o.Alike {
			all = append(all, c.Name)
		}
	}
	return all
}()

// follows reports whether a column may differ between groups, given what they are grouped by.
func (s *selection) follows(column string) bool {
	return s.by == nil && !slices.Contains(alike, column) ||
		slices.ContainsFunc(s.by, func(by string) bool {
			return ofAlgorithm(column) && (by == "algorithm" || strings.HasSuffix(by, "_"+column))
		})
}

// refuse returns an error with the columns in which groups differ but must not, and advice.
func (r *Request) refuse(s *selection, columns []string) error {
	if r.By == "" {
		return errors.New(s.apart(columns) + "\n--unlike compares them all the same")
	}
	lines := []string{"these trials differ in more than " + r.By + ":"}
	for _, column := range columns {
		_, all := s.values(column)
		lines = append(lines, "  "+column+": "+listed(all))
	}
	_, first := s.values(columns[0])
	return fmt.Errorf("%s\nchoose trials with --where '%s:%q'; --unlike allows such columns if each group has "+
		"a single value in each of them", strings.Join(lines, "\n"), columns[0], first[0])
}

// apart describes the columns in which two sides differ.
func (s *selection) apart(columns []string) string {
	lines := []string{"the two sides differ in columns that must be equal:"}
	for _, column := range columns {
		each, _ := s.values(column)
		lines = append(lines, fmt.Sprintf("  %s: %s and %s", column, listed(each[0]), listed(each[1])))
	}
	return strings.Join(lines, "\n")
}

// pair makes the pairs: of one side, the first group with each later group; of two sides, the groups with
// the same values in the given columns.
func (c *Comparison) pair(s *selection, apart []string) error {
	var order []string
	rows := map[string][][]*Observation{} // by experiment and group
	for i, t := range s.trials {
		where := t.where(apart)
		if rows[where] == nil {
			order = append(order, where)
			rows[where] = make([][]*Observation, len(s.names))
		}
		rows[where][s.group[i]] = append(rows[where][s.group[i]], t)
	}
	for _, where := range order {
		row := rows[where]
		if i := slices.IndexFunc(row, func(trials []*Observation) bool { return trials == nil }); i >= 0 {
			c.Alone = append(c.Alone, s.names[1-i]+": "+where)
			c.alone[1-i] = append(c.alone[1-i], groupOf(s.names[1-i], where, row[1-i]))
			continue
		}
		baseline := groupOf(s.names[0], where, row[0])
		c.Groups = append(c.Groups, baseline)
		for i, trials := range row[1:] {
			g := groupOf(s.names[i+1], where, trials)
			c.Groups = append(c.Groups, g)
			c.pairs = append(c.pairs, pair{where, baseline, g})
		}
	}
	if c.pairs != nil {
		return nil
	}
	return fmt.Errorf("no experiment of %s agrees with one of %s: %s\nchoose one of each by --where, or "+
		"compare the trials of one set with --by", s.names[0], s.names[1],
		s.apart(slices.DeleteFunc(apart, func(column string) bool {
			each, _ := s.values(column)
			return slices.Equal(slices.Sorted(slices.Values(each[0])), slices.Sorted(slices.Values(each[1])))
		})))
}

// where returns the values of a trial in some columns, as text.
func (t *Observation) where(columns []string) string {
	var words []string
	for _, column := range columns {
		if text := t.Text(column); text != "" || !ofAlgorithm(column) {
			words = append(words, column+"="+shown(text))
		}
	}
	return strings.Join(words, ", ")
}

// GroupOf returns the group of some trials, which must have the same options.
func GroupOf(name string, trials []Observation) *Group { return groupOf(name, "", pointers(trials)) }

func groupOf(name, where string, trials []*Observation) *Group {
	type draw struct {
		version, verdict string
		seed             uint64
	}
	g := &Group{Name: name, Where: where, Others: map[string]int{}}
	drawn := map[draw]bool{}
	for _, t := range trials {
		d := draw{t.Version, t.Verdict, t.Seed}
		interrupted := t.Verdict != "valid" && t.Reason == results.Interrupted
		switch {
		case t.Kind == simulated && drawn[d] && !interrupted:
			g.Repeated++
			continue
		case t.Verdict != "valid":
			if g.Others[t.Verdict]++; interrupted {
				g.Interrupted++
			}
			drawn[d] = !interrupted || drawn[d]
			continue
		}
		drawn[d] = true
		g.trials = append(g.trials, t)
		if t.CPUBound() {
			g.CPUBound++
		}
	}
	g.Valid = len(g.trials)
	g.same = g.Valid > 1 && !slices.ContainsFunc(g.trials, func(t *Observation) bool {
		return t.Kind != simulated || t.Figures != g.trials[0].Figures
	})
	return g
}

// compare computes the lines of all pairs.
func (c *Comparison) compare(metrics []results.Column) {
	asked := len(metrics) > 0
	if !asked {
		metrics = c.defaults()
	}
	lines := make([][]Line, len(metrics))
	var group sync.WaitGroup
	for i, metric := range metrics {
		switch {
		case c.measured(metric):
			group.Go(func() { lines[i] = linesOf(metric, c.pairs) })
		case asked:
			c.Unmeasured = append(c.Unmeasured, metric)
		}
	}
	group.Wait()
	c.Lines = slices.Concat(lines...)
}

// measured reports whether some valid trial has measured a metric.
func (c *Comparison) measured(metric results.Column) bool {
	return slices.ContainsFunc(c.Groups, func(g *Group) bool {
		return slices.ContainsFunc(g.trials, func(t *Observation) bool { return t.Figure(metric).Known() })
	})
}
