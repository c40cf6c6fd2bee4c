package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

const validateHelp = `Reproduce what was published of the algorithms: messages per entry, synchronization
and client delays in hops, utilisation and throughput. Each figure comes from a simulated run in which every
link takes one millisecond and only the critical section takes time besides. It is printed beside the
published one.

A figure that is exact must be met; a mean over requesters drawn at random must come within four standard
errors; what holds in the steady state within 1%, since the first entries differ; and a curve that was
fitted to simulations within 3%.

Exit status: 0 all hold, 1 one is off.`

const validateExample = `  orchestrator validate
  orchestrator validate --algo raymond
  orchestrator validate --csv figures.csv`

func (a *app) validateCommand() *cobra.Command {
	var algorithm, csvFile string
	seed := uint64(1)
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
			rows := mutex.Table
			if s.given("algo") {
				row, err := mutex.Find(algorithm)
				if err != nil {
					return err
				}
				rows = []*spec{row}
			}
			return a.validate(rows, csvFile, seed)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&algorithm, "algo", "", "only what is about this algorithm, by `name` or alias")
	f.Uint64Var(&seed, "seed", seed, "of the requesters that are drawn at random")
	f.StringVar(&csvFile, "csv", "", "write the figures to a `file` as well; - writes them here instead")
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	return cmd
}

func (a *app) validate(rows []*spec, csvFile string, seed uint64) error {
	all, err := bench.Reproduce(rows, seed)
	if err != nil {
		return failure{err, check.Violated.ExitCode()}
	}
	if len(all) == 0 {
		return failure{fmt.Errorf("the row of %s lists no published figures", rows[0].Name),
			check.Inconclusive.ExitCode()}
	}
	off := 0
	for _, r := range all {
		if !r.Holds {
			off++
		}
	}
	slices.SortStableFunc(all, func(r, s *bench.Reproduced) int {
		return cmp.Or(cmp.Compare(r.Figure, s.Figure), cmp.Compare(r.Spec.Name, s.Spec.Name),
			cmp.Compare(r.Config.N, s.Config.N), strings.Compare(variantOf(r), variantOf(s)))
	})
	if off > 0 {
		a.status = check.Violated.ExitCode()
	}
	if csvFile == "-" {
		return writeFigures(a.stdout, all)
	}
	a.printFigures(all, off)
	if csvFile == "" {
		return nil
	}
	file, err := os.Create(csvFile)
	if err != nil {
		return fmt.Errorf("--csv: %w", err)
	}
	defer file.Close()
	return writeFigures(file, all)
}

func (a *app) printFigures(all []*bench.Reproduced, off int) {
	figure := nodes.Figure("")
	colors := paletteFor(a.stdout)
	for _, r := range all {
		if r.Figure != figure {
			figure = r.Figure
			fmt.Fprintf(a.stdout, "\n%-43s %4s %10s %10s %6s\n", figure, "N", "published", "measured", "ratio")
		}
		verdict := ""
		if !r.Holds {
			verdict = colors.paint(red, "  OFF")
		}
		fmt.Fprintf(a.stdout, "  %-18s %-22s %4d %10s %10s %6s%s  %s\n", r.Spec.Name, variantOf(r), r.Config.N,
			publishedOf(r), figureOf(r.Measured), ratioOf(r), verdict, r.Source)
	}
	fmt.Fprintf(a.stdout, "\n%d figures, %d off\n", len(all), off)
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
		out.Write([]string{string(r.Figure), r.Spec.Name, variantOf(r), strconv.Itoa(r.Config.N), r.Source,
			figureOf(r.Published.Min), figureOf(r.Published.Max), figureOf(r.Measured), figureOf(r.Error),
			strings.TrimPrefix(ratioOf(r), "-"), strconv.FormatBool(r.Holds)})
	}
	out.Flush()
	return out.Error()
}
