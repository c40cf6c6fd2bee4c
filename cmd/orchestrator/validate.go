package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/experiment"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
	"turnstile/nodes/row"
	"turnstile/results"
)

const validateHelp = `Reproduce what was published of the algorithms: messages per entry, synchronization
and client delays in hops, utilisation and throughput; messages, times and split votes of elections; the load
of a failure detector, and how soon it probes a crashed node. Each figure comes from simulated runs in which
every link takes one millisecond, unless its source says otherwise, and only the critical section and the
algorithm's timeouts take time besides. It is printed beside the published one.

A figure that is exact must be met; a mean or a share of random draws must come within four standard errors;
what holds in the steady state within 1%, since the first entries differ; and a curve that was fitted to
simulations within 3%. A formula that its source calls about right, and what another simulator measured,
stand beside without a verdict ("about").

Exit status: 0 all hold, 1 one is off, 2 none is listed for the algorithm or it was interrupted, 64 bad usage,
74 if the output could not be written.`

const validateExample = `  orchestrator validate
  orchestrator validate --algo raymond
  orchestrator validate --csv figures.csv
  orchestrator validate --algo maekawa --json`

// A validateCall is one call of validate.
type validateCall struct {
	experiment.Experiment
	algorithm        string
	csv              string // the file for the figures; -: standard output; empty: none
	json, noProgress bool
}

func (a *app) validateCommand() *cobra.Command {
	var c validateCall
	c.Seed = 1
	cmd, f := a.many(&cobra.Command{
		Use:     "validate",
		Short:   "Reproduce the published figures of the algorithms",
		Long:    validateHelp,
		Example: validateExample,
	}, c.check, func(ctx context.Context) error { return a.validate(ctx, &c) })
	f.StringVar(&c.algorithm, "algo", "", "only what is about this algorithm or detector, by `name` or alias")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all that is drawn at random")
	f.StringVar(&c.csv, "csv", "", "write the figures to a `file` as well; - writes them here instead")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	addNoProgress(cmd, &c.noProgress)
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	return cmd
}

// check completes the call, and says what is wrong with it, if anything is.
func (c *validateCall) check(s settings) error {
	c.Rows = slices.Concat(catalog.All(), detector.Table)
	if s.given("algo") {
		row := detectorNamed(c.algorithm)
		if row == nil {
			var err error
			if row, err = catalog.Find(c.algorithm); err != nil {
				return err
			}
		}
		c.Rows = []*spec{row}
	}
	if c.json && c.csv != "" {
		return errors.New("--json and --csv ask for different outputs: leave out one of the two")
	}
	return nil
}

func (a *app) validate(ctx context.Context, c *validateCall) error {
	if c.csv != "" && c.csv != "-" { // looked at before it takes its time
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
		return failure{fmt.Errorf("the row of %s lists no published figures", c.Rows[0].Name),
			check.Inconclusive.ExitCode()}
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
		return a.printFigureDocument(figures, all, off)
	case c.csv != "-":
		a.printFigures(figures, off)
		if interrupted {
			fmt.Fprintf(a.stdout, "interrupted: %d more were not looked at\n", all-len(figures))
		}
	}
	if err := a.writeCSV(c.csv, figures); err != nil {
		return failure{fmt.Errorf("--csv: %w", err), unwritten}
	}
	return nil
}

// writeCSV writes figures to a file, or to standard output if that is -.
func (a *app) writeCSV(path string, figures []*experiment.Reproduced) error {
	switch path {
	case "":
		return nil
	case "-":
		return writeFigures(a.stdout, figures)
	}
	return results.WriteFile(path, func(w io.Writer) error { return writeFigures(w, figures) })
}

// sortFigures brings figures into the order in which they are printed, and counts those that are off.
func sortFigures(all []*experiment.Reproduced) (off int) {
	for _, r := range all {
		if r.Judged() && !r.Holds {
			off++
		}
	}
	slices.SortStableFunc(all, func(r, s *experiment.Reproduced) int {
		return cmp.Or(cmp.Compare(r.Figure, s.Figure), cmp.Compare(r.Spec.Name, s.Spec.Name),
			cmp.Compare(r.Config.N, s.Config.N), strings.Compare(variantOf(r), variantOf(s)))
	})
	return off
}

// A figureDocument is what --json prints of a figure.
type figureDocument struct {
	Figure    row.Figure `json:"figure"`
	Algorithm string     `json:"algorithm"`
	Variant   string     `json:"variant"`
	Nodes     int        `json:"nodes"`
	Source    string     `json:"source"`
	Min       float64    `json:"published_min"`
	Max       *float64   `json:"published_max"` // null: there is none
	Measured  float64    `json:"measured"`
	Error     float64    `json:"standard_error"`
	Holds     *bool      `json:"holds"` // null: there is no verdict
}

func (a *app) printFigureDocument(figures []*experiment.Reproduced, all, off int) error {
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
	return terminal.PrintJSON(a.stdout, map[string]any{"figures": documents, "listed": all, "off": off})
}

func (a *app) printFigures(all []*experiment.Reproduced, off int) {
	figure, about := row.Figure(""), 0
	colors := terminal.PaletteFor(a.stdout)
	for _, r := range all {
		if r.Figure != figure {
			figure = r.Figure
			fmt.Fprintf(a.stdout, "\n%-43s %4s %10s %10s %6s\n", figure, "N", "published", "measured", "ratio")
		}
		verdict := ""
		switch {
		case !r.Judged():
			verdict = "  about"
			about++
		case !r.Holds:
			verdict = colors.Paint(terminal.Red, "  OFF")
		}
		fmt.Fprintf(a.stdout, "  %-18s %-22s %4d %10s %10s %6s%s  %s\n", r.Spec.Name, variantOf(r), r.Config.N,
			publishedOf(r), figureOf(r.Measured), ratioOf(r), verdict, r.Source)
	}
	fmt.Fprintf(a.stdout, "\n%d figures, %d off", len(all), off)
	if about > 0 {
		fmt.Fprintf(a.stdout, "; %d have no verdict", about)
	}
	fmt.Fprintln(a.stdout)
}

// variantOf says under what load, and with what options, a figure was measured.
func variantOf(r *experiment.Reproduced) string {
	words := append([]string{string(r.Load)}, r.Config.Given()...)
	if r.Multicast {
		words = append(words, "multicast")
	}
	if r.Figure == row.Utilisation {
		words = append(words, fmt.Sprintf("W=%v", r.Hold))
	}
	return strings.Join(words, " ")
}

func publishedOf(r *experiment.Reproduced) string {
	if r.Published.Exact() {
		return figureOf(r.Published.Min)
	}
	if r.Figure.Share() {
		return fmt.Sprintf("%v-%v", r.Published.Min, r.Published.Max)
	}
	return r.Published.String()
}

func figureOf(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }

func ratioOf(r *experiment.Reproduced) string {
	if !r.Published.Exact() || r.Published.Min == 0 {
		return "-"
	}
	return strconv.FormatFloat(r.Ratio(), 'f', 3, 64)
}

func writeFigures(w io.Writer, all []*experiment.Reproduced) error {
	out := csv.NewWriter(w)
	out.Write([]string{"figure", "algorithm", "variant", "nodes", "source", "published_min", "published_max",
		"measured", "standard_error", "ratio", "holds"})
	for _, r := range all {
		holds := ""
		if r.Judged() {
			holds = strconv.FormatBool(r.Holds)
		}
		out.Write([]string{string(r.Figure), r.Spec.Name, variantOf(r), strconv.Itoa(r.Config.N), r.Source,
			figureOf(r.Published.Min), figureOf(r.Published.Max), figureOf(r.Measured), figureOf(r.Error),
			strings.TrimPrefix(ratioOf(r), "-"), holds})
	}
	out.Flush()
	return out.Error()
}
