package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/algorithm"
	"turnstile/results"
)

const validateHelp = `Reproduce the published figures of the algorithms: messages per entry, synchronization
and client delays in hops, utilisation and throughput; messages, times and split votes of elections; the load
of a failure detector, and how soon it probes a crashed node. Each figure is measured in simulated runs and
printed beside the published one. Every link takes one millisecond, unless the source of the figure differs;
apart from that, only the critical section and the algorithm's timeouts take time.

An exact figure must be met; a mean or a share of random draws must come within four standard errors; a
figure of the steady state within 1%, since the first entries differ; and a curve fitted to simulations
within 3%. A formula that its source calls approximate, and a figure from another simulator, are printed
without a verdict ("about").

Exit status: 0 all hold, 1 one is off, 2 the algorithm has no published figure or interrupted, 64 bad usage,
74 if the output could not be written.`

const validateExample = `  orchestrator validate
  orchestrator validate --algo raymond
  orchestrator validate --algo bakery,peterson
  orchestrator validate --csv figures.csv
  orchestrator validate --algo maekawa --json`

// A validateCall is one call of validate.
type validateCall struct {
	known known
	study.Experiment
	algorithms       []string
	csv              string // path of the file for the figures; -: standard output; empty: no file
	json, noProgress bool
}

func validateCommand(k known) Command {
	c := &validateCall{known: k}
	c.Known = k.Table
	c.Seed = 1
	return Command{
		Name:    "validate",
		Short:   "Reproduce the published figures of the algorithms",
		Help:    validateHelp,
		Example: validateExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Run:     c.run,
	}
}

func (c *validateCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&c.algorithms, "algo", nil,
		"only figures of these algorithms or detectors, by `names` or aliases, with commas between")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all random draws")
	f.StringVar(&c.csv, "csv", "", "write the figures to a `file` as well; - prints only them")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	cmd.RegisterFlagCompletionFunc("algo", c.known.completeAlgorithm)
}

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *validateCall) check(settings) (err error) {
	find := func(name string) (*spec, error) {
		if algo := c.known.detectorNamed(name); algo != nil {
			return algo, nil
		}
		return c.known.findAlgorithm(name)
	}
	c.Algorithms, err = algorithmsNamed(c.algorithms, find,
		slices.Concat(c.known.Table.Algorithms(), c.known.Detectors()))
	if err != nil {
		return err
	}
	if c.json && c.csv != "" {
		return errors.New("--json and --csv ask for different outputs: leave out one of the two")
	}
	return nil
}

func (c *validateCall) run(ctx context.Context, a *app) error {
	if c.csv != "" && c.csv != "-" { // checked before the figures, which take time
		if err := checkWritable(c.csv); err != nil {
			return fmt.Errorf("--csv: %w", err)
		}
	}
	bar := a.follow(&c.Experiment, c.noProgress, 0, "figure")
	figures, all, err := c.Reproduce(ctx)
	bar.clear()
	interrupted := ctx.Err() != nil
	switch {
	case err != nil && !interrupted:
		return failure{err, check.Violated.ExitCode()}
	case all == 0:
		return failure{unpublished(c.Algorithms), check.Inconclusive.ExitCode()}
	}
	off := sortFigures(figures)
	switch {
	case off > 0:
		a.status = check.Violated.ExitCode()
	case interrupted:
		a.status = check.Inconclusive.ExitCode()
	}
	switch {
	case c.json:
		return printFigureDocument(a.stdout, figures, all, off)
	case c.csv != "-":
		printFigures(a.stdout, figures, off)
		if interrupted {
			fmt.Fprintf(a.stdout, "interrupted: %d figures were not measured\n", all-len(figures))
		}
	}
	if err := writeCSV(a.stdout, c.csv, figures); err != nil {
		return failure{fmt.Errorf("--csv: %w", err), unwritten}
	}
	return nil
}

// unpublished is the error for algorithms without published figures.
func unpublished(algos []*spec) error {
	if len(algos) == 1 {
		return fmt.Errorf("%s lists no published figures", algos[0].Name)
	}
	var names []string
	for _, algo := range algos {
		names = append(names, algo.Name)
	}
	return fmt.Errorf("%s list no published figures", english.List(names))
}

// writeCSV writes figures to the file at path, or to standard output if path is -.
func writeCSV(w io.Writer, path string, figures []*study.Reproduced) error {
	switch path {
	case "":
		return nil
	case "-":
		return writeFigures(w, figures)
	}
	return results.WriteFile(path, func(file io.Writer) error { return writeFigures(file, figures) })
}

// sortFigures sorts figures for printing, and returns how many are off.
func sortFigures(all []*study.Reproduced) (off int) {
	for _, r := range all {
		if r.Judged() && !r.Holds {
			off++
		}
	}
	slices.SortStableFunc(all, func(r, s *study.Reproduced) int {
		return cmp.Or(cmp.Compare(r.Figure, s.Figure), cmp.Compare(r.Spec.Name, s.Spec.Name),
			cmp.Compare(r.Config.N, s.Config.N), strings.Compare(variantOf(r), variantOf(s)))
	})
	return off
}

// A figureDocument is what --json prints of a figure.
type figureDocument struct {
	Figure    algorithm.Figure `json:"figure"`
	Algorithm string           `json:"algorithm"`
	Variant   string           `json:"variant"`
	Nodes     int              `json:"nodes"`
	Source    string           `json:"source"`
	Min       float64          `json:"published_min"`
	Max       *float64         `json:"published_max"` // null: no upper limit
	Measured  float64          `json:"measured"`
	Error     float64          `json:"standard_error"`
	Holds     *bool            `json:"holds"` // null: no verdict
}

func printFigureDocument(w io.Writer, figures []*study.Reproduced, all, off int) error {
	documents := []figureDocument{}
	for _, r := range figures {
		d := figureDocument{r.Figure, r.Spec.Name, variantOf(r), r.Config.N, r.Source, r.Published.Min,
			&r.Published.Max, r.Measured, r.Error, &r.Holds}
		if math.IsInf(r.Published.Max, 1) {
			d.Max = nil
		}
		if !r.Judged() {
			d.Holds = nil
		}
		documents = append(documents, d)
	}
	return terminal.PrintJSON(w, map[string]any{"figures": documents, "listed": all, "off": off})
}

func printFigures(w io.Writer, all []*study.Reproduced, off int) {
	about := 0
	for rest := all; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(r *study.Reproduced) bool { return r.Figure != rest[0].Figure })
		if n < 0 {
			n = len(rest)
		}
		about += printFigureTable(w, rest[:n])
		rest = rest[n:]
	}
	fmt.Fprintf(w, "\n%d figures, %d off", len(all), off)
	if about > 0 {
		fmt.Fprintf(w, "; %d have no verdict", about)
	}
	fmt.Fprintln(w)
}

// printFigureTable prints all values that were published in one figure, each with the measured value. It
// returns how many of these have no verdict.
func printFigureTable(w io.Writer, all []*study.Reproduced) (about int) {
	colors := terminal.PaletteFor(w)
	names, variants, verdicts := 0, 0, 0
	for _, r := range all {
		names = max(names, utf8.RuneCountInString(r.Spec.Name))
		variants = max(variants, utf8.RuneCountInString(variantOf(r)))
		verdicts = max(verdicts, len(markOf(r)))
	}
	variants = max(variants, len(all[0].Figure)-names-3)
	fmt.Fprintf(w, "\n%-*s %4s %10s %10s %6s\n", names+variants+3, all[0].Figure,
		"N", "published", "measured", "ratio")
	for _, r := range all {
		verdict, source := fmt.Sprintf("%-*s", verdicts, markOf(r)), ""
		before := fmt.Sprintf("  %-*s %-*s %4d %10s %10s %6s", names, r.Spec.Name, variants, variantOf(r),
			r.Config.N, publishedOf(r), figureOf(r.Measured), ratioOf(r))
		indent := utf8.RuneCountInString(before+verdict) + terminal.Gap
		width := len(r.Source) // if the output is no terminal, the source stays on one line
		if terminal.Is(w) {
			width = max(terminal.Columns(w)-indent, helpWidth/4)
		}
		for i, part := range english.Wrap(r.Source, width) {
			if i > 0 {
				source += "\n" + strings.Repeat(" ", indent)
			}
			source += part
		}
		switch {
		case !r.Judged():
			about++
		case !r.Holds:
			verdict = colors.Paint(terminal.Red, verdict)
		}
		fmt.Fprintf(w, "%s%s  %s\n", before, verdict, source)
	}
	return about
}

// markOf returns the mark behind the ratio of a figure: "about", "OFF" or nothing.
func markOf(r *study.Reproduced) string {
	switch {
	case !r.Judged():
		return "  about"
	case !r.Holds:
		return "  OFF"
	}
	return ""
}

// variantOf describes the load and the options with which a figure was measured.
func variantOf(r *study.Reproduced) string {
	words := append([]string{string(r.Load)}, r.Config.Given()...)
	if r.Multicast {
		words = append(words, "multicast")
	}
	if r.Figure == algorithm.Utilisation {
		words = append(words, fmt.Sprintf("W=%v", r.Hold))
	}
	return strings.Join(words, " ")
}

func publishedOf(r *study.Reproduced) string {
	if r.Published.Exact() {
		return figureOf(r.Published.Min)
	}
	if r.Figure.Share() {
		return fmt.Sprintf("%v-%v", r.Published.Min, r.Published.Max)
	}
	return r.Published.String()
}

func figureOf(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }

func ratioOf(r *study.Reproduced) string {
	if !r.Published.Exact() || r.Published.Min == 0 {
		return "-"
	}
	return strconv.FormatFloat(r.Ratio(), 'f', 3, 64)
}

func writeFigures(w io.Writer, all []*study.Reproduced) error {
	t := terminal.Table{Head: []string{"figure", "algorithm", "variant", "nodes", "source", "published_min",
		"published_max", "measured", "standard_error", "ratio", "holds"}}
	for _, r := range all {
		holds := ""
		if r.Judged() {
			holds = strconv.FormatBool(r.Holds)
		}
		t.Add(r.Figure, r.Spec.Name, variantOf(r), r.Config.N, r.Source, figureOf(r.Published.Min),
			figureOf(r.Published.Max), figureOf(r.Measured), figureOf(r.Error),
			strings.TrimPrefix(ratioOf(r), "-"), holds)
	}
	return t.CSV(w)
}
