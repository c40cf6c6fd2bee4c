package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"turnstile/bench/compare"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/report/text"
	"turnstile/results"
)

const compareHelp = `Compare the trials of two runs or sets, A and B, or of one, grouped --by a column of
runs.csv. Each figure has the median of each group with its interval; the difference from the baseline,
as the median of all differences of two trials (Hodges and Lehmann) with its interval; and p, by Mann and
Whitney: the probability that trials of the same experiment differ as much. With several comparisons
against one baseline, p has Holm's correction; only a p below 0.05 is called a difference. All intervals
are 95%. A ~ marks a comparison that cannot be made, with the reason. docs/sets.md explains the
statistics.

Trials with the same settings are repetitions. Only valid trials count; others are listed. Experiments of
A and B are paired if they agree in all settings except those in which A and B differ. Groups have to agree
in all other settings; otherwise they are refused, and the setting is named.

A and B are the path of a folder, set/run, the name of a run or set, or latest.

Exit status: 0 compared, 1 --fail-above found a worse figure, a violated trial outside the baseline, or more
trials that are not valid than in the baseline, 2 no trials could be read or it is not known whether a
figure is worse, 64 bad usage or groups that cannot be compared, 74 if the output could not be written.`

const compareExample = `  orchestrator compare lan --by algorithm --against ricart-agrawala
  orchestrator compare lan --by nodes --where algorithm:maekawa --metric messages_per_entry,wait_us_p99
  orchestrator compare before after --fail-above 5% --unlike
  orchestrator compare lan wan --csv >lan-wan.csv`

// A compareCall is one call of compare.
type compareCall struct {
	known
	compare.Request
	root      string
	metrics   []string
	failAbove string
	above     float64 // --fail-above as a share; negative: not given
	json, csv bool
	latex     bool
}

func compareCommand(k known) Command {
	c := &compareCall{known: k}
	return Command{
		Name:     "compare A [B]",
		Short:    "Compare the trials of runs or sets by their figures",
		Help:     compareHelp,
		Example:  compareExample,
		Options:  c.addTo,
		Args:     cobra.ArbitraryArgs,
		Complete: completeRunsOrSets,
		Instead:  "csv",
		Run:      c.run,
	}
}

func (c *compareCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.By, "by", "", "group the trials of one set by this `column`, such as algorithm, run or "+
		"nodes@num, which sorts the groups")
	f.StringVar(&c.Against, "against", "", "the `group` that the others are compared with (default the first)")
	f.StringArrayVar(&c.Where, "where", nil, "only trials that match a `filter`, such as nodes:8 or "+
		"'algorithm:(maekawa OR raymond) -load:saturated'; if given several times, all of them")
	f.StringSliceVar(&c.metrics, "metric", nil, "`figures` to compare, columns of runs.csv with commas between "+
		"(default throughput, messages and delays, or those of elections)")
	f.BoolVar(&c.Unlike, "unlike", false, "compare trials that differ in nodes, load, machine or version too")
	f.StringVar(&c.failAbove, "fail-above", "", "exit with status 1 if any figure is worse by more than this "+
		"`share`, such as 5%, of the baseline's, even at the best end of the interval")
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	addJSON(f, &c.json)
	f.BoolVar(&c.csv, "csv", false, "print CSV instead, a line per figure and pair of groups")
	f.BoolVar(&c.latex, "latex", false, "print a table for LaTeX with booktabs instead")
	forOneCall(cmd, "by", "against", "where", "metric", "unlike", "fail-above", "csv", "latex")
	completeWith(cmd, "by", compare.Columns(c.Table))
	completeWith(cmd, "metric", results.FigureColumns())
}

// check returns an error for arguments and flags that do not fit together.
func (c *compareCall) check(args []string) (err error) {
	switch {
	case len(args) == 0 || len(args) == 1 && c.By == "":
		return errors.New("name two runs or sets to compare, or one and --by and a column, such as algorithm")
	case len(args) == 2 && c.By+c.Against != "":
		return errors.New("--by and --against are for the groups of one set, and two sets are given: leave out " +
			"one set, or these flags")
	case c.latex && (c.csv || c.json):
		return fmt.Errorf("--latex and --%s ask for different outputs: leave out one of the two",
			map[bool]string{true: "csv", false: "json"}[c.csv])
	case len(args) > 2:
		return fmt.Errorf("compare takes two runs or sets, not %d; put runs into one set to compare them --by run",
			len(args))
	}
	if c.Metrics, err = compare.Metrics(c.metrics...); err != nil {
		return fmt.Errorf("--metric: %w", err)
	}
	c.above, err = c.parseAbove()
	return err
}

// parseAbove reads --fail-above.
func (c *compareCall) parseAbove() (share float64, err error) {
	if c.failAbove == "" {
		return -1, nil
	}
	number, isShare := strings.CutSuffix(c.failAbove, "%")
	percent, err := strconv.ParseFloat(number, 64)
	switch {
	case err == nil && !isShare:
		return 0, fmt.Errorf("--fail-above: %s is not a share: did you mean %s%%?", c.failAbove, c.failAbove)
	case err != nil || !(percent >= 0 && percent <= 1e6):
		return 0, fmt.Errorf("--fail-above: %q is not a share: write one such as 5%%", c.failAbove)
	}
	for _, m := range c.Metrics {
		if compare.BetterOf(m) == "" {
			return 0, fmt.Errorf("--fail-above: neither a higher nor a lower value of %s is worse: "+
				"leave it out of --metric", m)
		}
	}
	return percent / 100, nil
}

// run compares the groups of one set, or two runs or sets.
func (c *compareCall) run(_ context.Context, a *app) error {
	args := a.args
	if err := c.check(args); err != nil {
		return err
	}
	var sides []compare.Side
	var paths []string
	for _, ref := range args {
		side, path, err := c.side(a, ref)
		if err != nil {
			return err
		}
		if slices.Contains(paths, path) {
			return fmt.Errorf("%s and %s are the same: there is nothing to compare", args[0], args[1])
		}
		sides, paths = append(sides, side), append(paths, path)
	}
	if len(sides) == 2 && max(len(sides[0].Name), len(sides[1].Name)) > longestName {
		sides[0].Name, sides[1].Name = "A", "B"
	}
	made, err := compare.Compare(c.Request, sides...)
	if err != nil {
		return err
	}
	return c.printComparison(a, args, made)
}

// longestName is how long the name of a side may be to be printed in each of its lines.
const longestName = 20

// side reads the trials of a run or a set. It names runs that cannot be read, and goes on with the others.
func (c *compareCall) side(a *app, ref string) (side compare.Side, path string, err error) {
	side.Name = ref
	v, err := openRunOrSet(c.root, ref)
	if err != nil {
		return side, "", err
	}
	folders := []*results.Folder{v.run}
	if v.run == nil {
		folders, path = v.set.Runs, v.set.Path
	} else {
		path = v.run.Path
	}
	side.Trials = runs.StoredTrials(c.Table, folders, func(folder *results.Folder, err error) {
		fmt.Fprintf(a.stderr, "%s: %s\n", folder.Ref(), strings.ReplaceAll(err.Error(), "\n", "; "))
	})
	if len(side.Trials) == 0 {
		return side, "", failure{fmt.Errorf("no trials of %s can be read", ref), check.Inconclusive.ExitCode()}
	}
	return side, path, nil
}

// completeRunsOrSets completes both arguments as completeRunOrSet does one.
func completeRunsOrSets(cmd *cobra.Command, args []string, begun string) (refs []string,
	how cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeRunOrSet(cmd, nil, begun)
}

// comparisonWidth is how many columns a comparison takes.
const comparisonWidth = 100

// printComparison prints a comparison, and sets the exit status by --fail-above.
func (c *compareCall) printComparison(a *app, args []string, made *compare.Comparison) (err error) {
	out := a.stderr
	switch {
	case c.json:
		err = terminal.PrintJSON(a.stdout, documentOf(args, made))
	case c.csv:
		err = results.WriteTable(a.stdout, made.Lines)
	case c.latex:
		err = writeLatex(a.stdout, made)
	default:
		out = a.stdout
		lines := bufio.NewWriter(out)
		printComparison(lines, args, made)
		err = lines.Flush()
	}
	if c.above >= 0 {
		outcome, says := made.Above(c.above, c.failAbove)
		a.status = outcome.ExitCode()
		printWrapped(out, "", says)
	}
	return err
}

// A comparisonDocument is what --json prints.
type comparisonDocument struct {
	Compared []string `json:"compared"` // names of the compared sides, as the user gave them
	*compare.Comparison
	Alike  map[string]string   `json:"alike"`  // columns in which all trials agree
	Differ map[string][]string `json:"differ"` // the other columns, with the value of each group or side
	Lines  []text.Object       `json:"lines"`  // lines of the comparison, as in CSV
}

func documentOf(args []string, made *compare.Comparison) comparisonDocument {
	d := comparisonDocument{args, made, map[string]string{}, map[string][]string{}, []text.Object{}}
	for _, column := range made.Agree {
		d.Alike[column.Name] = column.Values[0]
	}
	for _, column := range made.Differ {
		d.Differ[column.Name] = column.Values
	}
	for _, l := range results.AsStored(made.Lines) {
		d.Lines = append(d.Lines, text.ObjectOf(l))
	}
	return d
}

// printWrapped prints a text in lines; all but the first are indented to the width of first.
func printWrapped(w io.Writer, first, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(first))
	for _, line := range english.Wrap(text, comparisonWidth-len(indent)) {
		fmt.Fprintln(w, strings.TrimRight(first+line, " "))
		first = indent
	}
}

// printComparison prints a comparison for people.
func printComparison(w io.Writer, args []string, made *compare.Comparison) {
	if made.By != "" {
		fmt.Fprintf(w, "%s by %s\n", args[0], made.By)
	}
	for i, name := range made.Sides {
		width := max(len(made.Sides[0]), len(made.Sides[1]))
		fmt.Fprintf(w, "%-*s  %s\n", width, name, [...]string{"the baseline", "compared with it"}[i])
		if name != args[i] {
			fmt.Fprintf(w, "   %s\n", args[i])
		}
	}
	var alike []string
	for _, column := range made.Agree {
		if text := column.Values[0]; text != "" && text != "false" {
			alike = append(alike, column.Name+" "+text)
		}
	}
	printWrapped(w, "alike   ", strings.Join(alike, ", "))
	for _, d := range made.Differ {
		printWrapped(w, "differ  ", d.Name+": "+strings.Join(d.Values, " | "))
	}
	for _, g := range made.Groups {
		printWrapped(w, "trials  ", strings.TrimPrefix(g.Where+": ", ": ")+g.Name+": "+trialsOf(g))
	}
	for _, alone := range made.Alone {
		printWrapped(w, "alone   ", alone)
	}
	for _, metric := range made.Unmeasured {
		printWrapped(w, "", string(metric)+": no valid trial has measured it")
	}
	for title, rows := range metricsOf(made) {
		fmt.Fprintf(w, "\n%s\n", title)
		printRows(w, rows)
	}
	if len(made.Lines) > 0 {
		fmt.Fprintln(w)
	}
}

// metricsOf iterates over the metrics of a comparison: the title and the rows of each.
func metricsOf(made *compare.Comparison) iter.Seq2[string, []comparisonRow] {
	return func(yield func(string, []comparisonRow) bool) {
		from := 0 // index of the first line of the current metric
		for i, l := range made.Lines {
			if i+1 < len(made.Lines) && made.Lines[i+1].Metric == l.Metric {
				continue
			}
			title := string(l.Metric)
			if better := compare.BetterOf(l.Metric); better != "" {
				title += ", " + better
			}
			if !yield(title, rowsOfMetric(made.Lines[from:i+1])) {
				return
			}
			from = i + 1
		}
	}
}

// latex escapes a text for LaTeX.
var latex = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"_", `\_`, "{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", "$<$",
	">", "$>$", "µ", `$\mu$`)

// writeLatex writes a comparison as a table for LaTeX, whose lines are of the package booktabs.
func writeLatex(w io.Writer, made *compare.Comparison) error {
	var b strings.Builder
	b.WriteString("\\begin{tabular}{lrrl} % \\usepackage{booktabs}\n\\toprule\n" +
		"Group & Median (95\\% interval) & Difference (95\\% interval) & \\\\\n")
	for title, rows := range metricsOf(made) {
		fmt.Fprintf(&b, "\\midrule\n\\multicolumn{4}{l}{%s} \\\\\n", latex.Replace(title))
		for _, r := range rows {
			if r.text != "" {
				fmt.Fprintf(&b, "\\multicolumn{4}{l}{%s} \\\\\n", latex.Replace(strings.TrimSpace(r.first+r.text)))
				continue
			}
			cells := []string{r.name, r.median, r.difference, r.rest}
			for i := range cells {
				if cells[i] = latex.Replace(cells[i]); i == 1 || i == 2 {
					cells[i] = strings.ReplaceAll(cells[i], "-", "$-$")
				}
			}
			fmt.Fprintf(&b, "%s \\\\\n", strings.Join(cells, " & "))
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// trialsOf describes how many trials a group has, by verdict.
func trialsOf(g *compare.Group) string {
	words := []string{fmt.Sprintf("%d valid", g.Valid)}
	if g.CPUBound > 0 {
		words[0] += fmt.Sprintf(" (%d of them CPU-bound)", g.CPUBound)
	}
	for _, verdict := range slices.Sorted(maps.Keys(g.Others)) {
		words = append(words, fmt.Sprintf("%d %s", g.Others[verdict], verdict))
	}
	if g.Interrupted > 0 {
		words[len(words)-1] += fmt.Sprintf(" (%d %s)", g.Interrupted, results.Interrupted)
	}
	if g.Repeated > 0 {
		words = append(words, fmt.Sprintf("%d left out as repetitions of a trial with the same seed", g.Repeated))
	}
	return strings.Join(words, ", ")
}

// A comparisonRow is a row of the table of one metric, or a text between two rows.
type comparisonRow struct {
	name, median, difference, rest string
	first, text                    string // if it is a text: the text, and the label before its first line
}

// rowsOfMetric returns the rows of one metric: a row for each baseline and each group.
func rowsOfMetric(lines []compare.Line) (rows []comparisonRow) {
	baseline, where := "", ""
	for i := range lines {
		l, u := &lines[i], unitOf(&lines[i])
		if l.Where != where {
			rows = append(rows, comparisonRow{first: " ", text: l.Where})
		}
		if l.Baseline != baseline || l.Where != where {
			rows = append(rows, comparisonRow{name: l.Baseline, difference: "baseline",
				median: u.interval(false, l.BaselineMedian, l.BaselineLow, l.BaselineHigh)})
		}
		baseline, where = l.Baseline, l.Where
		row := comparisonRow{name: l.Group, median: u.interval(false, l.Median, l.Low, l.High)}
		switch {
		case l.P.Known():
			row.difference = u.interval(true, l.Difference, l.DifferenceLow, l.DifferenceHigh)
			row.rest = fmt.Sprintf("p %s, Holm %s", format.Probability(l.P), format.Probability(l.PHolm))
		case l.Difference.Known(): // there is no interval: the difference is exact, or the trials are too few
			row.difference = u.interval(true, l.Difference)
		}
		rows = append(rows, row)
		if l.Percent.Known() {
			percents := []figure.Figure{l.Percent, l.PercentLow, l.PercentHigh}
			if !l.P.Known() {
				percents = percents[:1]
			}
			rows = append(rows, comparisonRow{difference: unit{1, "%"}.interval(true, percents...), rest: l.Verdict})
		}
		if l.Reason != "" {
			rows = append(rows, comparisonRow{first: "    ~ ", text: l.Reason})
		}
	}
	return rows
}

// printRows prints the rows of a metric. Names have lines of their own if they do not fit.
func printRows(w io.Writer, rows []comparisonRow) {
	var name, median, difference, rest int // widths of the columns
	for _, r := range rows {
		name, median = max(name, len(r.name)), max(median, utf8.RuneCountInString(r.median))
		difference, rest = max(difference, utf8.RuneCountInString(r.difference)), max(rest, len(r.rest))
	}
	apart := name+median+difference+rest+8 > comparisonWidth
	if apart {
		name = 2
	}
	for _, r := range rows {
		if r.text != "" {
			printWrapped(w, r.first, r.text)
			continue
		}
		if apart && r.name != "" {
			fmt.Fprintf(w, "  %s\n", r.name)
			r.name = ""
		}
		line := fmt.Sprintf("  %-*s  %-*s  %-*s  %s", name, r.name, median, r.median, difference, r.difference,
			r.rest)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// A unit is a unit of printed figures: the number to divide them by, and the name of the unit.
type unit struct {
	of   float64
	name string
}

// unitOf returns the unit in which a metric is printed. Times have the unit that suits the baseline.
func unitOf(l *compare.Line) unit {
	in := results.TimeUnit(l.Metric)
	if in == 0 {
		return unit{1, ""}
	}
	median, known := l.BaselineMedian.Value()
	if !known {
		median, _ = l.Median.Value()
	}
	micros := float64(in) / float64(time.Microsecond)
	of, name := format.Unit(median * micros)
	return unit{of / micros, name}
}

// interval prints a figure, with its interval if both ends are given and known. signed: with a sign.
func (u unit) interval(signed bool, f ...figure.Figure) string {
	x, known := f[0].Value()
	if !known {
		return format.Missing
	}
	text := u.number(x, signed) + u.name
	if f[0].IsBound() {
		text = ">" + text
	}
	if len(f) < 3 || !f[1].Known() {
		return text
	}
	low, _ := f[1].Value()
	high, _ := f[2].Value()
	return fmt.Sprintf("%s (%s to %s)", text, u.number(low, signed), u.number(high, signed))
}

// number prints a number with three significant digits, or as a whole one if it is large.
func (u unit) number(x float64, signed bool) string {
	x /= u.of
	size := math.Abs(x)
	text := strings.TrimSuffix(fmt.Sprintf("%#.3g", size), ".")
	switch {
	case x == 0:
		return "0"
	case size >= 999.5:
		text = english.Thousands(size)
	case size < 1e-4:
		text = fmt.Sprintf("%.6f", size)
	}
	switch {
	case x < 0:
		return "-" + text
	case signed:
		return "+" + text
	}
	return text
}
