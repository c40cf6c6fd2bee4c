package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/internal/format"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/option"
	setpage "turnstile/report/page"
	"turnstile/results"
)

const runsHelp = `List the stored runs, of all sets or of SET, the newest first.
Figures are medians of the trials of a run.
--csv and --json have every column of runs.csv.

If a run is damaged or has another format, the list has the parts that can be read, and names the others. It
also names folders that are not runs.`

const runsExample = `  orchestrator runs
  orchestrator runs sweep
  orchestrator runs --algo maekawa --verdict violated
  orchestrator runs --kind simulate --set lamport --newest 10 --json`

// A runsCall is one call of runs.
type runsCall struct {
	known
	root                          string
	algorithm, verdict, kind, set string // list only runs with these values; empty: all
	nodes, newest                 int    // list only runs with so many nodes, or only so many runs; 0: all
	json, csv                     bool
}

var (
	runKinds    = []string{"bench", "simulate"}
	runVerdicts = append(check.Outcomes(), results.Unfinished)
)

// runHelp explains RUN.
const runHelp = `RUN is the path of a run's folder, set/run, the name of the run alone, or latest (the
default).`

func runsCommand(k known) Command {
	c := &runsCall{known: k}
	return Command{
		Name:    "runs [SET]",
		Short:   "List the stored runs",
		Help:    runsHelp,
		Example: runsExample,
		Options: c.addTo,
		Args:    atMostOne,
		Instead: "csv",
		Run:     c.run,
	}
}

func (c *runsCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.algorithm, "algo", "", "only runs of this algorithm, by `name` or alias")
	f.StringVar(&c.verdict, "verdict", "", "only runs with this verdict: "+strings.Join(runVerdicts, ", "))
	f.StringVar(&c.kind, "kind", "", "only runs of this kind: "+strings.Join(runKinds, ", "))
	f.StringVar(&c.set, "set", "", "only runs of the result set of this `name`")
	f.IntVarP(&c.nodes, "nodes", "n", 0, "only runs of so many nodes")
	f.IntVar(&c.newest, "newest", 0, "only so many, the newest")
	noZero(f, "nodes", "nodes cannot make a run: leave it out for any number")
	noZero(f, "newest", "would list nothing: leave it out for all")
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	addJSON(f, &c.json)
	f.BoolVar(&c.csv, "csv", false, "print CSV instead")
	forOneCall(cmd, "algo", "verdict", "kind", "set", "nodes", "newest", "csv")
	completeWith(cmd, "verdict", runVerdicts)
	completeWith(cmd, "kind", runKinds)
	cmd.RegisterFlagCompletionFunc("algo", c.completeAlgorithm)
}

// takeSet takes the name of the set from the argument, if there is one.
func (c *runsCall) takeSet(args []string) error {
	if len(args) == 0 {
		return nil
	}
	set := filepath.Base(args[0]) // shells complete the argument to the path of a folder
	switch {
	case c.set != "" && c.set != set:
		return fmt.Errorf("runs takes one set, not %s and %s: leave out one of the two", set, c.set)
	case filepath.Clean(args[0]) != set && filepath.Clean(args[0]) != filepath.Join(c.root, set):
		return fmt.Errorf("%s is not a set of %s: write its name, or add --results %s", args[0], c.root,
			filepath.Dir(filepath.Clean(args[0])))
	}
	c.set = set
	return nil
}

// validate checks the filters.
func (c *runsCall) validate() error {
	for _, f := range []struct {
		flag, value string
		known       []string
	}{{"verdict", c.verdict, runVerdicts}, {"kind", c.kind, runKinds}} {
		if f.value != "" && !slices.Contains(f.known, f.value) {
			return fmt.Errorf("--%s: there is no %s %q%s", f.flag, f.flag, f.value, suggest.Hint(f.value, f.known))
		}
	}
	switch {
	case c.nodes < 0:
		return fmt.Errorf("--nodes: %d: a run has at least 1; leave it out for any number", c.nodes)
	case c.newest < 0:
		return fmt.Errorf("--newest: %d: list at least 1; leave it out for all", c.newest)
	}
	return nil
}

// run lists the runs that the filters let through.
func (c *runsCall) run(_ context.Context, a *app) error {
	if err := cmp.Or(c.takeSet(a.args), c.validate()); err != nil {
		return err
	}
	all, others, err := c.read()
	if err != nil {
		return err
	}
	if c.algorithm, err = c.knownAlgorithm(c.algorithm, all); err != nil {
		return err
	}
	if err := c.checkSet(all); err != nil {
		return err
	}
	listed := slices.DeleteFunc(slices.Clone(all), func(o *runs.Overview) bool { return !c.wants(o) })
	if c.newest > 0 {
		listed = listed[:min(c.newest, len(listed))]
	}
	switch {
	case c.json:
		err = terminal.PrintJSON(a.stdout, objectsOf(valuesOf(listed)))
	case c.csv:
		err = writeOverviews(a.stdout, listed)
	case len(listed) > 0:
		err = printOverviews(a.stdout, listed)
	}
	if len(listed) == 0 {
		fmt.Fprintln(a.stderr, c.nothing(all))
	}
	for _, o := range listed {
		if o.Problem != "" {
			fmt.Fprintf(a.stderr, "%s: %s\n", o.Run, o.Problem)
		}
	}
	for _, path := range others {
		if c.set != "" && filepath.Base(filepath.Dir(path)) != c.set {
			continue
		}
		fmt.Fprintf(a.stderr, "%s is not a run: it has neither %s nor %s\n", path, results.RunFile,
			results.RowsFile)
	}
	return err
}

// read reads all runs, the newest first. others are folders beside runs that are not runs.
func (c *runsCall) read() (all []*runs.Overview, others []string, err error) {
	if _, err := os.ReadDir(c.root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("--results: %w", err)
	}
	folders := results.Runs(c.root)
	are := map[string]bool{}
	for _, f := range folders {
		all = append(all, runs.ReadOverview(f))
		are[filepath.Clean(f.Path)] = true
	}
	slices.SortStableFunc(all, func(x, y *runs.Overview) int { return strings.Compare(y.Started, x.Started) })
	for path := range are { // only folders next to runs were perhaps meant to be runs
		beside, _ := os.ReadDir(filepath.Dir(path))
		for _, e := range beside {
			other := filepath.Join(filepath.Dir(path), e.Name())
			if e.IsDir() && !are[other] && !isReport(other) && !strings.HasPrefix(e.Name(), ".") &&
				!slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	slices.Sort(others)
	return all, others, nil
}

// isReport reports whether a folder has the pictures of the report next to it.
func isReport(path string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(path), setpage.HTMLFile))
	return filepath.Base(path) == setpage.FiguresDir && err == nil
}

// knownAlgorithm returns the name of an algorithm by its name or alias. Stored runs may be of algorithms that
// this program lacks: their names are known too.
func (k known) knownAlgorithm(name string, all []*runs.Overview) (string, error) {
	algo, err := k.Find(name)
	switch {
	case name == "" || slices.ContainsFunc(all, func(o *runs.Overview) bool { return o.Algorithm == name }):
		return name, nil
	case err != nil:
		return "", fmt.Errorf("--algo: %w", err)
	}
	return algo.Name, nil
}

// wants reports whether the filters let a run through.
func (c *runsCall) wants(o *runs.Overview) bool {
	set, _, _ := strings.Cut(o.Run, "/")
	for _, f := range [][2]string{
		{c.algorithm, o.Algorithm}, {c.verdict, o.Verdict}, {c.kind, o.Kind}, {c.set, set},
	} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	return c.nodes == 0 || c.nodes == o.Nodes
}

// checkSet returns an error if --set names a set without runs.
func (c *runsCall) checkSet(all []*runs.Overview) error {
	sets := map[string]bool{}
	for _, o := range all {
		set, _, _ := strings.Cut(o.Run, "/")
		sets[set] = true
	}
	switch {
	case c.set == "" || sets[c.set]:
		return nil
	case len(sets) == 0:
		return fmt.Errorf("there is no set %q: there are no runs below %s yet", c.set, c.root)
	}
	return fmt.Errorf("there is no set %q; there are: %s", c.set,
		strings.Join(slices.Sorted(maps.Keys(sets)), ", "))
}

// nothing explains why no run is listed.
func (c *runsCall) nothing(all []*runs.Overview) string {
	if len(all) == 0 {
		return fmt.Sprintf("there are no runs below %s yet", c.root)
	}
	return fmt.Sprintf("none of the %d runs below %s matches", len(all), c.root)
}

// An overviewColumn is a column of the list of runs.
type overviewColumn struct {
	header string
	of     func(*runs.Overview) string
}

var overviewColumns = []overviewColumn{
	{"RUN", func(o *runs.Overview) string { return o.Run }},
	{"KIND", func(o *runs.Overview) string { return cmp.Or(o.Kind, format.Missing) }},
	{"N", func(o *runs.Overview) string {
		if o.Nodes == 0 {
			return format.Missing
		}
		return strconv.Itoa(o.Nodes)
	}},
	{"LOAD", func(o *runs.Overview) string { return cmp.Or(o.Text(option.LoadColumn), format.Missing) }},
	{"TRIALS", func(o *runs.Overview) string {
		return format.OutOf(o.Trials, max(o.TrialsAsked, o.Trials))
	}},
	{"VERDICT", func(o *runs.Overview) string {
		if o.Problem != "" {
			return strings.TrimPrefix(o.VerdictText()+", problem", ", ")
		}
		return o.VerdictText()
	}},
	{"ENTRIES/S", func(o *runs.Overview) string { return format.Rate(o.EntriesPerS) }},
	{"WAIT P50", func(o *runs.Overview) string { return format.Micros(o.WaitUSP50) }},
	{"WAIT P99", func(o *runs.Overview) string { return format.Micros(o.WaitUSP99) }},
	{"MSGS/ENTRY", func(o *runs.Overview) string { return format.Plain(o.MessagesPerEntry, 2) }},
	{"ELECTIONS", func(o *runs.Overview) string { return format.Plain(o.Elections, 0) }},
	{"ELECT P50", func(o *runs.Overview) string { return format.Micros(o.ElectUSP50) }},
}

// printOverviews prints a line per run, for people. It leaves out columns without a figure.
func printOverviews(w io.Writer, all []*runs.Overview) error {
	t := terminal.Table{Drops: []string{"WAIT P50", "KIND", "LOAD"}, Rows: make([][]string, len(all))}
	for _, c := range overviewColumns {
		var cells []string
		for _, o := range all {
			cells = append(cells, c.of(o))
		}
		if slices.ContainsFunc(cells, func(cell string) bool { return cell != format.Missing }) {
			t.Head = append(t.Head, c.header)
			for i, cell := range cells {
				t.Rows[i] = append(t.Rows[i], cell)
			}
		}
	}
	return t.Print(w)
}

// writeOverviews prints a line per run, for programs.
func writeOverviews(w io.Writer, all []*runs.Overview) error {
	return results.WriteTable(w, valuesOf(all))
}

// valuesOf dereferences pointers.
func valuesOf(all []*runs.Overview) (rows []runs.Overview) {
	for _, o := range all {
		rows = append(rows, *o)
	}
	return rows
}
