package page

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/bench/compare"
	"turnstile/bench/runs"
	"turnstile/draw"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/option"
	"turnstile/results"
)

// A Page is the report of a set as data.
type Page struct {
	Name string // name of the set
	Lead string // a sentence that counts the runs by verdict
	Calls
	Valid    int // number of valid trials
	Sections []section
	LeftOut  []string // sections without data, and why
	Damaged  []string // runs that cannot be read in full, and why

	most int // the greatest size of the HTML file, in bytes
}

// Calls are the commands that a page names.
type Calls struct {
	Command string // makes the page again
	Program string // the first word of other commands
	Runs    string // what precedes a run in commands: SET in SET/RUN
}

// A section is a title and the blocks below it, in order.
type section struct {
	Title  string
	Blocks []block
}

// A block is a text, a table or a figure. A text with a summary is folded: the page shows only the summary
// until the reader opens it.
type block struct {
	Text    string
	Summary string
	Table   *table
	Figure  *figureOf
}

// A table has a line of headers. Its first Words columns hold words, and its other columns hold numbers.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   int
	Folded  bool // the page shows only its caption until the reader opens it
}

// A figureOf is a picture with the data that it shows.
type figureOf struct {
	Name    string // name of its files, without the ending
	Caption string
	Inline  string // the picture as an element of an HTML page; empty: with it the page would be too large
	Wide    bool   // its text is readable only at the full width of the page
	Beside  bool   // its data are written beside it: no table of the page or of the set has them
	drawn   *draw.Picture
	csv     func() string // the data that it shows
}

// A Choice says what the pictures of a page show.
type Choice struct {
	Algorithms []string // only these, by names or aliases; empty: all
	By         string   // the column whose values are the series; empty: the algorithm with its options
	Log        bool     // the y axes are logarithmic
}

// ErrNoTrials is the error for a set without a readable trial.
var ErrNoTrials = errors.New("no trials can be read")

// A maker makes the page of a set.
type maker struct {
	*Page
	Choice
	known    catalog.Table
	set      *results.Set
	all      []*experiment // sorted by setting, and then by series and nodes
	settings []*setting
	looks    map[string]draw.Series // by name of a series: its kind and number
	figures  map[string]int         // by first word of names of figures: how many names begin with it
}

// Make returns the page of a set with that name. Runs that cannot be read are listed on the page. Without
// trials and without a fault matrix, the error is ErrNoTrials. Another error says why the choice names
// nothing in the set.
func Make(known catalog.Table, set *results.Set, name string, calls Calls, choice Choice) (*Page, error) {
	m := &maker{known: known, Choice: choice, set: set, figures: map[string]int{}, Page: &Page{Name: name,
		Lead: "What the runs of this set have measured.", Calls: calls, most: mostBytes}}
	trials := runs.StoredTrials(known, set.Runs, func(folder *results.Folder, err error) {
		m.Damaged = append(m.Damaged, folder.Name()+": "+
			strings.NewReplacer("\n", "; ", set.Path+string(filepath.Separator), "").Replace(err.Error()))
	})
	if len(trials) == 0 {
		if m.matrix(); len(m.Sections) == 0 { // a simulated fault matrix stores no runs
			return m.Page, ErrNoTrials
		}
		m.LeftOut, m.Lead = nil, m.leadOfMatrix()
		return m.Page, nil
	}
	trials, err := m.chosen(trials)
	if err != nil {
		return m.Page, err
	}
	m.group(trials)
	if m.Valid > 0 { // first the pictures, and then the tables
		m.tradeoffs()
		m.curves()
		m.percentiles()
		m.fairness()
	}
	m.matrix()
	m.ledgers()
	if m.Valid > 0 {
		m.elections()
	}
	m.faults()
	if m.Valid > 0 {
		m.boards()
	}
	m.failovers()
	m.about(trials)
	return m.Page, nil
}

// chosen returns the trials of the chosen algorithms. It returns an error if the choice names an algorithm or
// a column that no trial has.
func (m *maker) chosen(trials []compare.Observation) (its []compare.Observation, err error) {
	all := make([]*compare.Observation, len(trials))
	there := make([]string, len(trials))
	for i := range trials {
		all[i], there[i] = &trials[i], trials[i].Algorithm
	}
	var names []string
	for _, name := range m.Algorithms {
		if algo, err := m.known.Find(name); err == nil {
			name = algo.Name
		}
		if names = append(names, name); !slices.Contains(there, name) {
			return nil, fmt.Errorf("--algo: the set has no trial of %s; it has %s", name,
				strings.Join(uniqueOf(there), ", "))
		}
	}
	if m.By == "nodes" {
		return nil, errors.New("--by: the number of nodes is an x axis: name another column, such as latency")
	} else if m.By != "" {
		if err := compare.CheckColumns(m.known, []string{m.By}, all); err != nil {
			return nil, fmt.Errorf("--by: %w", err)
		}
	}
	return slices.DeleteFunc(trials, func(t compare.Observation) bool {
		return names != nil && !slices.Contains(names, t.Algorithm)
	}), nil
}

// leadOfMatrix says of how many runs a fault matrix is whose runs are not stored, and which algorithms are
// known to be broken.
func (m *maker) leadOfMatrix() string {
	cells, _ := m.set.Matrix() // it was read before
	made, faults := 0, map[string]bool{}
	var algorithms, broken []string
	for i := range cells {
		made += cells[i].Runs
		faults[cells[i].Fault] = true
		if name := cells[i].Algorithm; !slices.Contains(algorithms, name) {
			algorithms = append(algorithms, name)
			if algo, err := m.known.Find(name); err == nil && algo.Flaw != nil {
				broken = append(broken, name)
			}
		}
	}
	says := fmt.Sprintf("%s under %s: %s in %s. An empty cell: the plan does not suit the algorithm.",
		english.Count(len(algorithms), "algorithm", "algorithms"), english.Count(len(faults), "plan of faults",
			"plans of faults"),
		english.Count(made, "run", "runs"), english.Count(len(cells), "cell", "cells"))
	if len(broken) > 0 {
		says += " Known to be broken, and listed to show how: " + english.List(broken) + "."
	}
	return says
}

// add adds a section. If blocks is empty, it instead lists the title as left out, with lacks as the reason.
func (m *maker) add(title, lacks string, blocks []block) {
	if len(blocks) == 0 {
		m.LeftOut = append(m.LeftOut, strings.ToLower(title[:1])+title[1:]+" ("+lacks+")")
		return
	}
	m.Sections = append(m.Sections, section{title, blocks})
}

// widest is the greatest width of a picture that is readable on a phone, in pixels.
const widest = 500

// figureBlock returns a block with a figure and its data. The names of its files begin with the word begin.
func figureBlock[T any](m *maker, begin, caption string, p *draw.Picture, data []T) block {
	b := pictureBlock(m, begin, caption, p, data)
	b.Figure.Beside = true
	return b
}

// pictureBlock does what figureBlock does, for data that the page or the set has elsewhere.
func pictureBlock[T any](m *maker, begin, caption string, p *draw.Picture, data []T) block {
	m.figures[begin]++
	f := &figureOf{Name: fmt.Sprintf("%s-%d", begin, m.figures[begin]), Caption: caption, drawn: p,
		Wide: p.Width > widest, csv: func() string { return tableText(data) }}
	class := map[bool]string{true: "wide", false: "chart"}[f.Wide]
	f.Inline = p.Inline(class, f.Name)
	return block{Figure: f}
}

// tableText returns rows as CSV.
func tableText[T any](rows []T) string {
	var b strings.Builder
	if err := results.WriteTable(&b, rows); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.String()
}

// figures returns the pictures of the page, in order.
func (p *Page) figures() (all []*figureOf) {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Figure != nil {
				all = append(all, b.Figure)
			}
		}
	}
	return all
}

// Figures returns how many pictures the page has.
func (p *Page) Figures() int { return len(p.figures()) }

// Pictures returns the names of all pictures.
func (p *Page) Pictures() (names []string) {
	for _, f := range p.figures() {
		names = append(names, f.Name)
	}
	return names
}

// Picture returns a picture of the page as SVG, and the data that it shows as CSV. A name without its number
// is that of the first such picture. The title, if not empty, stands above the picture.
func (p *Page) Picture(name, title string) (svg, data string, found bool) {
	for _, f := range p.figures() {
		if f.Name == name || f.Name == name+"-1" {
			if title != "" {
				f.drawn.Entitle(title)
			}
			return f.drawn.File(), f.csv(), true
		}
	}
	return "", "", false
}

// about adds the section with the settings, machines, versions and commands of the runs.
func (m *maker) about(trials []compare.Observation) {
	verdicts, versions, machines := map[string]int{}, map[string]int{}, map[string]int{}
	services := map[string]int{}
	bound, disturbed := 0, map[string]bool{}
	for i := range trials {
		t := &trials[i]
		verdicts[t.VerdictText()]++
		versions[t.Version]++
		if name := t.Options[foreign.ServiceOption]; name != "" {
			services[fmt.Sprintf("%s (server %s, client %s)", name,
				cmp.Or(t.Options[foreign.ServerVersionOption], "unknown"),
				cmp.Or(t.Options[foreign.ClientVersionOption], "unknown"))]++
		}
		machine := t.Machine
		if t.Kind == "simulate" {
			machine = "simulated, so that figures do not depend on the machine; made on " + machine
		}
		machines[machine]++
		if t.CPUBound() {
			bound++
		}
		if t.Disturbed() {
			disturbed[t.Run] = true
		}
	}
	var verdicted []string
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		verdicted = append(verdicted, english.Thousands(float64(verdicts[v]))+" "+v)
	}
	m.Lead = fmt.Sprintf("%s with %s: %s. Only valid trials enter medians, curves and ranks. Intervals are of "+
		"95%% and take six trials. Simulated trials with the same seed count once.",
		english.Count(len(m.set.Runs), "run", "runs"), english.Count(len(trials), "trial", "trials"),
		strings.Join(verdicted, ", "))
	facts := &table{Caption: "The set", Head: []string{"", ""}, Words: 2, Rows: [][]string{
		{"Version", counted(versions)},
		{"Machine", counted(machines)},
	}}
	if len(services) > 0 {
		facts.Rows = append(facts.Rows, []string{"Services", counted(services)})
	}
	if bound > 0 {
		facts.Rows = append(facts.Rows, []string{"CPU-bound", fmt.Sprintf("%d trials: the CPU limits their "+
			"delays, so they are marked and not ranked", bound)})
	}
	if n := len(disturbed); n > 0 {
		facts.Rows = append(facts.Rows, []string{"Disturbed", fmt.Sprintf("in %s, other programs took more than "+
			"%.0f%% of the machine (others_cpu)", english.Count(n, "run", "runs"), results.OthersAbove*100)})
	}
	blocks := []block{{Table: facts}}
	if m.Valid == 0 {
		blocks = append(blocks, block{Text: "No trial is valid, so that nothing is compared or drawn. The " +
			"verdict of each run has the reason."})
	}
	blocks = append(blocks, block{Table: m.asked()})
	if again := m.commands(); len(again.Rows) > 0 && !m.set.Joined {
		blocks = append(blocks, block{Table: again})
	}
	m.Sections = append(m.Sections, section{"What was run", blocks})
}

// counted lists words; if there are several, it adds to each its number of trials.
func counted(words map[string]int) string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		name := w
		if name == "" {
			name = "unknown"
		}
		if len(words) > 1 {
			name = fmt.Sprintf("%s: %s", name, english.Count(words[w], "trial", "trials"))
		}
		list = append(list, name)
	}
	return strings.Join(list, "; ")
}

// asked returns the table of experiments, a row for each series of a setting.
func (m *maker) asked() *table {
	t := &table{Caption: "What was asked for", Words: 7,
		Head: []string{"Algorithm", "Nodes", "Load", "Hold", "Latency", "Faults", "Differs in", "Valid",
			"Other trials"}}
	for _, s := range m.settings {
		for _, its := range s.bySeries() {
			var sizes []string
			valid, others := 0, map[string]int{}
			for _, e := range its {
				sizes = append(sizes, strconv.Itoa(e.nodes))
				valid += e.Valid
				for verdict, n := range e.Others {
					others[verdict] += n
				}
			}
			first := &its[0].trials[0]
			latency := first.Text(option.LatencyColumn)
			if first.Text(option.RegionsColumn) != "" {
				latency = "regions"
			}
			var rest []string
			for _, verdict := range slices.Sorted(maps.Keys(others)) {
				rest = append(rest, fmt.Sprintf("%d %s", others[verdict], verdict))
			}
			t.Rows = append(t.Rows, []string{its[0].series, strings.Join(sizes, ", "), first.Text(option.LoadColumn),
				first.Text(option.HoldColumn),
				latency, s.faults(), s.also, strconv.Itoa(valid), strings.Join(rest, ", ")})
		}
	}
	return t
}

// bySeries returns the experiments of each series.
func (s *setting) bySeries() (all [][]*experiment) {
	for i, e := range s.all {
		if i == 0 || e.series != s.all[i-1].series {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], e)
	}
	return all
}

// mostCommands is how many commands are listed.
const mostCommands = 40

// commands lists, for each simulated experiment, a command that makes one of its runs again.
func (m *maker) commands() *table {
	t := &table{Caption: "Commands that make a run of each experiment again", Words: 3, Folded: true,
		Head: []string{"Algorithm", "Nodes", "Command"}}
	all := slices.DeleteFunc(slices.Clone(m.all), func(e *experiment) bool {
		return e.trials[0].Kind != "simulate"
	})
	for _, e := range all[:min(mostCommands, len(all))] {
		folder := m.Runs + "/" + e.trials[0].Run
		t.Rows = append(t.Rows, []string{e.series, strconv.Itoa(e.nodes),
			m.Program + " verify --again " + terminal.ShellQuoted(folder)})
	}
	if more := len(all) - mostCommands; more > 0 {
		t.Caption += fmt.Sprintf(" (%d more are not listed)", more)
	}
	return t
}

// An experiment is all trials with the same settings, on the same machine, by the same version.
type experiment struct {
	*compare.Group
	series  string // the algorithm, with the options in which its trials in the set differ
	nodes   int
	setting *setting
	trials  []compare.Observation
	flawed  bool // the algorithm is known to be broken
	family  string
}

// A setting is the settings that trials share, apart from the algorithm and the number of nodes.
type setting struct {
	label   string // the columns in which it differs from similar settings of the set, with its values
	also    string // label without the columns that the table of experiments shows anyway
	rest    string // label without the columns of the demand of clients
	columns string // what its runs count: entries or elections
	faulty  bool
	all     []*experiment // sorted by series, and then by nodes
	asked   []string      // the columns of a setting
	values  []string      // the value of the setting in each of the columns asked
}

// ofSeries are columns that tell series apart, and are not part of a setting.
var ofSeries = []string{"algorithm", "detector", "elect"}

// group sorts trials into experiments and settings.
func (m *maker) group(trials []compare.Observation) {
	all := make([]*compare.Observation, len(trials))
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
	if m.By != "" {
		about = slices.DeleteFunc(append(names, about...), func(c string) bool { return c == m.By })
		names = []string{m.By}
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
				columns: columnsOf(m.known, t.Algorithm)}
			bySetting[key] = s
			m.settings = append(m.settings, s)
		}
		key = fmt.Sprint(key, "\x00", t.Nodes, "\x00", strings.Join(textsOf(t, names), "\x00"))
		e := byKey[key]
		if e == nil {
			e = &experiment{series: m.seriesOf(t, names, differ), nodes: t.Nodes, setting: s,
				flawed: isFlawed(m.known, t.Algorithm), family: familyOf(m.known, t.Algorithm)}
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
	m.look()
}

// shown are the columns that the table of experiments shows anyway.
var shown = []string{"load", "hold", "latency", "plan", "faults"}

// minor are columns that name a setting only if it has no other name, and ordinary the values that do not.
var (
	minor    = []string{"arrivals", "warmup_s", option.LimitColumn, option.DurationColumn, option.EntriesColumn}
	ordinary = map[string]string{option.UnitsColumn: "1", option.ResourcesColumn: "1", "whole": "0"}
)

// label names the settings by the columns in which they differ from similar settings, and sorts their
// experiments.
func (m *maker) label(about []string) {
	columns := slices.Clone(about)
	slices.SortStableFunc(columns, func(a, b string) int {
		return slices.Index(minor, a) - slices.Index(minor, b) // minor columns come last
	})
	for _, column := range columns {
		i, labels := slices.Index(about, column), map[*setting]string{}
		for _, s := range m.settings {
			labels[s] = s.label
		}
		for _, s := range m.settings {
			differ := slices.ContainsFunc(m.settings, func(other *setting) bool {
				return other.columns == s.columns && other.faulty == s.faulty && other.values[i] != s.values[i] &&
					(!slices.Contains(minor, column) || labels[other] == labels[s])
			})
			text := s.values[i]
			if !differ || text == cmp.Or(ordinary[column], "false") || text == "" ||
				column == "faults" && s.plan() != "" {
				continue
			}
			words := strings.ReplaceAll(column, "_", " ") + " " + text
			s.label = joined(s.label, words)
			if !slices.Contains(shown, column) {
				s.also = joined(s.also, words)
			}
			if !slices.Contains(ofDemand, column) {
				s.rest = joined(s.rest, words)
			}
		}
	}
	for _, s := range m.settings {
		slices.SortStableFunc(s.all, func(a, b *experiment) int {
			return cmp.Or(strings.Compare(a.series, b.series), cmp.Compare(a.nodes, b.nodes))
		})
	}
}

// families are the families of algorithms, of each kind, with the colors of their index.
var families = [][]string{{"permission", "token", "quorum", "centralized", "registers"},
	{"complete network", "ring", "majority", "eventual leader", "anonymous ring"}}

// look gives each series its look: the color of its family, and a number in the family. Another family, such
// as a service, has a color that no family of the set has, as long as there are any.
func (m *maker) look() {
	of := map[string][]string{} // by family: its series
	for _, e := range m.all {
		family := e.family
		if m.By != "" {
			family = e.series
		}
		of[family] = append(of[family], e.series)
	}
	colors, taken := map[string]int{}, map[int]bool{}
	for _, known := range families {
		for i, family := range known {
			if of[family] != nil {
				colors[family], taken[i] = i, true
			}
		}
	}
	next := 0
	m.looks = map[string]draw.Series{}
	for _, family := range slices.Sorted(maps.Keys(of)) {
		color, known := colors[family]
		if !known {
			for ; taken[next] && len(taken) < len(draw.Looks); next++ {
			}
			color, taken[next] = next, true
			next++
		}
		for nth, series := range uniqueOf(of[family]) {
			s := draw.Series{Name: series, Kind: draw.Kind{Name: family, Color: color}, Nth: nth}
			if m.By != "" { // each series has its own color, dashes and marker, and no family
				s.Kind.Name, s.Nth = "", color
			}
			m.looks[series] = s
		}
	}
}

// joined joins two lists of words by a comma; either may be empty.
func joined(words, more string) string { return strings.TrimPrefix(words+", "+more, ", ") }

// plan returns the name of the plan of faults; empty: no plan.
func (s *setting) plan() string { return s.all[0].trials[0].Text(option.PlanColumn) }

// faults describes the faults in a few words; empty: no faults.
func (s *setting) faults() string {
	if plan := s.plan(); plan != "" {
		return "plan " + plan
	}
	return s.all[0].trials[0].Text(option.FaultsColumn)
}

// textsOf returns the values of a trial in columns.
func textsOf(t *compare.Observation, columns []string) (texts []string) {
	for _, c := range columns {
		texts = append(texts, t.Text(c))
	}
	return texts
}

// differing returns, by algorithm, the columns in which its trials differ although they agree in the columns
// about and in the number of nodes. Without the last condition, a default that depends on the number of nodes
// would make another series.
func differing(trials []compare.Observation, columns, about []string) map[string]map[string]bool {
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
func (m *maker) seriesOf(t *compare.Observation, columns []string, differ map[string]map[string]bool) string {
	name := t.Algorithm
	if m.By != "" {
		return cmp.Or(t.Text(m.By), "no "+m.By)
	}
	for _, c := range columns {
		if text := t.Text(c); text != "" && differ[t.Algorithm][c] {
			name += ", " + strings.ReplaceAll(c, "_", " ") + " " + text
		}
	}
	return name
}

// The nouns for what the runs of a problem count, as in check.Problem.
const (
	entries   = "entries"
	elections = "elections"
)

// kinds has, by kind of algorithm, what its runs count.
var kinds = map[nodes.Kind]string{nodes.MutualExclusion: entries, nodes.Election: elections}

// isFlawed reports whether an algorithm is known to be broken.
func isFlawed(known catalog.Table, algorithm string) bool {
	algo, err := known.Find(algorithm)
	return err == nil && algo.Flaw != nil
}

// familyOf returns the family of an algorithm. A service is a family of its own.
func familyOf(known catalog.Table, algorithm string) string {
	if algo, err := known.Find(algorithm); err == nil {
		return algo.Family
	}
	return algorithm
}

// columnsOf returns what the runs of an algorithm count. An unknown algorithm is treated as one of mutual
// exclusion.
func columnsOf(known catalog.Table, algorithm string) string {
	algo, err := known.Find(algorithm)
	if err != nil {
		return entries
	}
	return nodes.OfKind(kinds, algo.Kind)
}

// calm returns the settings without faults that have valid trials, and whose runs count entries or elections,
// as columns asks.
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
