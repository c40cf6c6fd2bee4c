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
	"turnstile/bench/option"
	"turnstile/bench/runs"
	"turnstile/bench/site"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/report/draw"
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

// A block is a text, a table or a figure.
type block struct {
	Text   string
	Table  *table
	Figure *figureOf
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
	File    string // the picture as a separate file
	Wide    bool   // its text is readable only at the full width of the page
	CSV     string
}

// ErrNoTrials is the error for a set without a readable trial.
var ErrNoTrials = errors.New("no trials can be read")

// A maker makes the page of a set.
type maker struct {
	*Page
	known    catalog.Table
	set      *results.Set
	all      []*experiment // sorted by setting, and then by series and nodes
	settings []*setting
	names    map[string]int // by name of a series: the number of the look of this series
	figures  map[string]int // by first word of names of figures: how many names begin with it
}

// Make returns the page of a set with that name. Runs that cannot be read are listed on the page. Without
// trials and without a fault matrix, the error is ErrNoTrials.
func Make(known catalog.Table, set *results.Set, name string, calls Calls) (*Page, error) {
	m := &maker{known: known, Page: &Page{Name: name, Lead: "What the runs of this set have measured.",
		Calls: calls, most: mostBytes}, set: set, figures: map[string]int{}}
	trials := runs.StoredTrials(known, set.Runs, func(folder *results.Folder, err error) {
		m.Damaged = append(m.Damaged, folder.Name()+": "+
			strings.NewReplacer("\n", "; ", set.Path+string(filepath.Separator), "").Replace(err.Error()))
	})
	if len(trials) == 0 {
		if m.matrix(); len(m.Sections) == 0 { // a simulated fault matrix stores no runs
			return m.Page, ErrNoTrials
		}
		m.LeftOut = nil
		return m.Page, nil
	}
	m.group(trials)
	if m.Valid > 0 { // first the pictures, and then the tables
		m.tradeoffs()
		m.curves()
		m.percentiles()
		m.fairness()
		m.matrix()
		m.ledgers()
		m.elections()
		m.faults()
		m.boards()
	}
	m.failovers()
	m.about(trials)
	return m.Page, nil
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
	m.figures[begin]++
	f := &figureOf{Name: fmt.Sprintf("%s-%d", begin, m.figures[begin]), Caption: caption, File: p.File(),
		Wide: p.Width > widest, CSV: tableText(data)}
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

// Picture returns a picture of the page as SVG, and the data that it shows as CSV.
func (p *Page) Picture(name string) (svg, data string, found bool) {
	for _, f := range p.figures() {
		if f.Name == name {
			return f.File, f.CSV, true
		}
	}
	return "", "", false
}

// about adds the section with the settings, machines, versions and commands of the runs.
func (m *maker) about(trials []compare.Trial) {
	verdicts, versions, machines := map[string]int{}, map[string]int{}, map[string]int{}
	services := map[string]int{}
	bound, disturbed := 0, map[string]bool{}
	for i := range trials {
		t := &trials[i]
		verdicts[t.VerdictText()]++
		versions[t.Version]++
		if name := t.Options[foreign.ServiceOption]; name != "" {
			services[fmt.Sprintf("%s (server %s, client %s)", name,
				cmp.Or(t.Options[site.ServerVersionOption], "unknown"),
				cmp.Or(t.Options[site.ClientVersionOption], "unknown"))]++
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
	if again := m.commands(); len(again.Rows) > 0 {
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
	trials  []compare.Trial
	flawed  bool // the algorithm is known to be broken
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
				columns: columnsOf(m.known, t.Algorithm)}
			bySetting[key] = s
			m.settings = append(m.settings, s)
		}
		key = fmt.Sprint(key, "\x00", t.Nodes, "\x00", strings.Join(textsOf(t, names), "\x00"))
		e := byKey[key]
		if e == nil {
			e = &experiment{series: seriesOf(t, names, differ), nodes: t.Nodes, setting: s,
				flawed: isFlawed(m.known, t.Algorithm)}
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

// shown are the columns that the table of experiments shows anyway.
var shown = []string{"load", "hold", "latency", "plan", "faults"}

// label names the settings by the columns in which they differ from similar settings, sorts their
// experiments, and gives each series its look.
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
			if !slices.Contains(ofDemand, column) {
				s.rest = joined(s.rest, words)
			}
		}
	}
	m.names = map[string]int{}
	series := map[string][]string{} // by s.columns: the names of the series
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
func textsOf(t *compare.Trial, columns []string) (texts []string) {
	for _, c := range columns {
		texts = append(texts, t.Text(c))
	}
	return texts
}

// differing returns, by algorithm, the columns in which its trials differ although they agree in the columns
// about and in the number of nodes. Without the last condition, a default that depends on the number of nodes
// would make another series.
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

// The nouns for what the runs of a problem count, as in check.Problem.
const (
	entries   = "entries"
	elections = "elections"
)

// kinds has, by kind of algorithm, what its runs count.
var kinds = map[nodes.Kind]string{nodes.MutualExclusion: entries, nodes.Election: elections}

// isFlawed reports whether an algorithm is known to be broken.
func isFlawed(known catalog.Table, algorithm string) bool {
	row, err := known.Find(algorithm)
	return err == nil && row.Flaw != nil
}

// columnsOf returns what the runs of an algorithm count. An unknown algorithm is treated as one of mutual
// exclusion.
func columnsOf(known catalog.Table, algorithm string) string {
	row, err := known.Find(algorithm)
	if err != nil {
		return entries
	}
	return nodes.OfKind(kinds, row.Kind)
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
