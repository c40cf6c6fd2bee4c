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

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/detector"
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
	seed             uint64
	csv              string // the file for the figures; -: standard output; empty: none
	json, noProgress bool
}

func (a *app) validateCommand() *cobra.Command {
	c := validateCall{seed: 1}
	var algorithm string
	cmd := &cobra.Command{
		Use:     "validate",
		Short:   "Reproduce the published figures of the algorithms",
		Long:    validateHelp,
		Example: validateExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err != nil {
				return err
			}
			rows := slices.Concat(catalog.All(), detector.Table)
			if s.given("algo") {
				row := detectorNamed(algorithm)
				if row == nil {
					if row, err = catalog.Find(algorithm); err != nil {
						return err
					}
				}
				rows = []*spec{row}
			}
			if c.json && c.csv != "" {
				return errors.New("--json and --csv ask for different outputs: leave out one of the two")
			}
			a.note(s)
			return a.validate(cmd.Context(), rows, &c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&algorithm, "algo", "", "only what is about this algorithm or detector, by `name` or alias")
	f.Uint64Var(&c.seed, "seed", c.seed, "of all that is drawn at random")
	f.StringVar(&c.csv, "csv", "", "write the figures to a `file` as well; - writes them here instead")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	addNoProgress(cmd, &c.noProgress)
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	return cmd
}

func (a *app) validate(ctx context.Context, rows []*spec, c *validateCall) error {
	if c.csv != "" && c.csv != "-" { // looked at before it takes its time
		if err := checkWritable(c.csv); err != nil {
			return fmt.Errorf("--csv: %w", err)
		}
	}
	bar, all := a.newBar(c.noProgress, 0), 0
	figures, err := bench.Reproduce(ctx, rows, c.seed, func(before, of int) {
		bar.show(float64(before)/float64(of), fmt.Sprintf("figure %d of %d", before+1, of))
		all = of
	})
	bar.clear()
	interrupted := ctx.Err() != nil
	switch {
	case err != nil && !interrupted:
		return failure{err, check.Violated.ExitCode()}
	case all == 0:
		return failure{fmt.Errorf("the row of %s lists no published figures", rows[0].Name),
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
func (a *app) writeCSV(path string, figures []*bench.Reproduced) error {
	switch path {
	case "":
		return nil
	case "-":
		return writeFigures(a.stdout, figures)
	}
	return results.WriteFile(path, func(w io.Writer) error { return writeFigures(w, figures) })
}

// sortFigures brings figures into the order in which they are printed, and counts those that are off.
func sortFigures(all []*bench.Reproduced) (off int) {
	for _, r := range all {
		if r.Judged() && !r.Holds {
			off++
		}
	}
	slices.SortStableFunc(all, func(r, s *bench.Reproduced) int {
		return cmp.Or(cmp.Compare(r.Figure, s.Figure), cmp.Compare(r.Spec.Name, s.Spec.Name),
			cmp.Compare(r.Config.N, s.Config.N), strings.Compare(variantOf(r), variantOf(s)))
	})
	return off
}

// A figureDocument is what --json prints of a figure.
type figureDocument struct {
	Figure    nodes.Figure `json:"figure"`
	Algorithm string       `json:"algorithm"`
	Variant   string       `json:"variant"`
	Nodes     int          `json:"nodes"`
	Source    string       `json:"source"`
	Min       float64      `json:"published_min"`
	Max       *float64     `json:"published_max"` // null: there is none
	Measured  float64      `json:"measured"`
	Error     float64      `json:"standard_error"`
	Holds     *bool        `json:"holds"` // null: there is no verdict
}

func (a *app) printFigureDocument(figures []*bench.Reproduced, all, off int) error {
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
	return printJSON(a.stdout, map[string]any{"figures": documents, "listed": all, "off": off})
}

func (a *app) printFigures(all []*bench.Reproduced, off int) {
	figure, about := nodes.Figure(""), 0
	colors := paletteFor(a.stdout)
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
			verdict = colors.paint(red, "  OFF")
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
func variantOf(r *bench.Reproduced) string {
	words := append([]string{string(r.Load)}, r.Config.Given()...)
	if r.Multicast {
		words = append(words, "multicast")
	}
	if r.Figure == nodes.Utilisation {
		words = append(words, fmt.Sprintf("W=%v", r.Hold))
	}
	return strings.Join(words, " ")
}

func publishedOf(r *bench.Reproduced) string {
	if r.Published.Exact() {
		return figureOf(r.Published.Min)
	}
	if r.Figure.Share() {
		return fmt.Sprintf("%v-%v", r.Published.Min, r.Published.Max)
	}
	return r.Published.String()
}

func figureOf(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }

func ratioOf(r *bench.Reproduced) string {
	if !r.Published.Exact() || r.Published.Min == 0 {
		return "-"
	}
	return strconv.FormatFloat(r.Ratio(), 'f', 3, 64)
}

func writeFigures(w io.Writer, all []*bench.Reproduced) error {
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
