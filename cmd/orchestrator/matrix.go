package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/bench/matrix"
	"turnstile/chaos"
	"turnstile/internal/english"
	"turnstile/nodes/catalog"
	"turnstile/results"
)

const matrixHelp = `Run every algorithm under every plan of ours, and compare what becomes of it with what its
row says: of five clients that think and request, or of five nodes that elect a leader,
on real processes or, with --simulated, on virtual time.

What becomes of it is a letter. Of mutual exclusion: L it recovers, so that every client
that is up and waits enters once all is healed; P some clients wait for ever while others
go on; B all wait for ever; X two are inside together (where fence numbers are demanded:
the resource accepts what it should refuse). Of an election: L all that are up agree on
one of them at the end; P one leads, and some that are up never know of it; B nobody that
is up leads at the end, nor ever will; X two lead in one term or, without terms, for
longer than a take-over takes, or for ever. Of both: - the fault hits nothing. The row of
an algorithm has for each plan those that may be, and why. The table is matrix.csv in the
folder of the set.

Exit status: 0 all is as the rows say, 1 something differs, 2 some run shows nothing, or
interrupted, 64 bad usage.`

const matrixExample = `  orchestrator matrix
  orchestrator matrix --simulated --runs 20
  orchestrator matrix --algo central,raymond --faults dead-holder,lost-token
  orchestrator matrix --algo bully,raft-election --faults split-brain,stopped-leader`

// A matrixCall is one call of matrix.
type matrixCall struct {
	matrix.Matrix
	simulated, noProgress bool
}

func (a *app) matrixCommand() *cobra.Command {
	c := matrixCall{Matrix: matrix.Matrix{Seed: 1}}
	var algorithms []string
	cmd := &cobra.Command{
		Use:     "matrix",
		Short:   "Run every algorithm under every plan, and compare what becomes of it with what its row says",
		Long:    matrixHelp,
		Example: matrixExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err != nil {
				return err
			}
			c.Rows, err = rowsNamed(algorithms)
			if err == nil {
				err = checkPlans(c.Faults)
			}
			if err == nil {
				err = results.CheckNames(c.Setup.Results, c.Setup.Set)
			}
			if err == nil && c.Runs < 0 {
				err = fmt.Errorf("--runs: %d: write a number from 1", c.Runs)
			}
			if err != nil {
				return err
			}
			if c.Real = !c.simulated; c.Runs == 0 {
				c.Runs = 1
				if c.simulated {
					c.Runs = runsSimulated
				}
			}
			if len(c.Cells()) == 0 {
				return errors.New("no plan of these is for one of these algorithms, which have no such node or " +
					"message, or are of the other kind: docs/plans.md has the plans of each, and see list NAME")
			}
			a.note(s)
			return a.matrix(cmd.Context(), &c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&algorithms, "algo", nil,
		"only these algorithms, by `names` or aliases, with commas between")
	f.StringSliceVar(&c.Faults, "faults", nil, "only these plans of ours, by `names`, with commas between")
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time")
	f.IntVar(&c.Runs, "runs", 0, fmt.Sprintf("how many runs each cell has, each of the next seed (default 1, "+
		"simulated %d)", runsSimulated))
	noZero(f, "runs", "would make no run: write a number from 1, or leave it out")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of the first run of each cell")
	f.StringVar(&c.Setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.Setup.Set, "set", "matrix",
		"`name` of the result set that the table and the real runs belong to")
	f.StringVar(&c.Setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	addNoProgress(cmd, &c.noProgress)
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
	completeWith(cmd, "faults", planNames())
	return cmd
}

// runsSimulated is how many simulated runs a cell has unless the user says otherwise.
const runsSimulated = 10

// rowsNamed returns the algorithms that go by names; all without any.
func rowsNamed(names []string) (rows []*spec, err error) {
	for _, name := range names {
		row, err := catalog.Find(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return catalog.All(), nil
	}
	return rows, nil
}

// planNames returns the names of the plans of ours.
func planNames() (names []string) {
	for _, p := range chaos.Plans() {
		names = append(names, p.Name)
	}
	return names
}

// checkPlans says which of some names are none of plans of ours.
func checkPlans(names []string) error {
	known := planNames()
	for _, name := range names {
		switch {
		case strings.ContainsAny(name, "/."):
			return fmt.Errorf("--faults: %s is a file: write names of plans of ours, as in dead-holder,lost-token; "+
				"see plans", name)
		case !slices.Contains(known, name):
			return fmt.Errorf("--faults: there is no plan %s%s", name, chaos.HintAtPlan(name))
		}
	}
	return nil
}

// equip completes the setup of many runs by the programs that serve them. Real ones need the program of a
// node.
func equip(s *bench.Setup, real bool) error {
	s.Versions = versions()
	s.Broker = append([]string{ownPath()}, brokerArgs...)
	s.Proxy = append([]string{ownPath()}, proxyArgs...)
	s.Node = cmp.Or(s.Node, ownSibling("node"))
	if err := s.CheckNode(); real && err != nil {
		return err
	}
	return nil
}

func (a *app) matrix(ctx context.Context, c *matrixCall) error {
	if err := equip(&c.Setup, c.Real); err != nil {
		return err
	}
	bar, wrong := a.newBar(c.noProgress, c.Takes()), 0
	c.Progress = func(done, all int, r *matrix.Run) {
		if a.checkDisk(r.Err); r.Wrong() != "" {
			wrong++
		}
		if bar.due() || c.Real {
			bar.show(float64(done)/float64(all), fmt.Sprintf("run %d of %d, %d wrong", done, all, wrong))
		}
	}
	cells, interrupted := c.Make(ctx)
	bar.clear()
	var rows []results.MatrixRow
	for _, cell := range cells {
		rows = append(rows, cell.Row(c.Real))
	}
	path, err := results.WriteMatrix(c.Setup.Results, c.Setup.Set, rows)
	printMatrix(a.stdout, cells, rows)
	a.printWrong(c, cells)
	if err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	if interrupted != nil {
		fmt.Fprintln(a.stdout, "interrupted: some cells have no run")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// printWrong prints which cells are wrong, and how to repeat a run of each.
func (a *app) printWrong(c *matrixCall, cells []*matrix.Cell) {
	differ, show := 0, 0
	for _, cell := range cells {
		r := cell.Wrong()
		switch {
		case r == nil:
			continue
		case cell.Differs():
			differ++
			a.status = check.Violated.ExitCode()
		default:
			show++
			a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
		}
		o := cell.Options(r.Seed)
		fmt.Fprintf(a.stdout, "WRONG  %s under %s: %s\n", cell.Spec.Name, cell.Plan.Name, r.Wrong())
		fmt.Fprintf(a.stdout, "       repeat it: %s\n", commandOf(cell.Spec, &o, c.Real, o.Plan))
		if r.Folder != "" {
			fmt.Fprintf(a.stdout, "       what came of it: %s\n",
				callOn("show", filepath.Join(c.Setup.Results, r.Folder)))
		}
	}
	fmt.Fprintf(a.stdout, "%s: %d differ from what the rows say, %d show nothing.\n",
		english.Count(len(cells), "cell", "cells"), differ, show)
}
