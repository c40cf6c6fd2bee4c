package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/check"
	"turnstile/bench/splitbrain"
	"turnstile/internal/english"
	"turnstile/nodes/election"
	"turnstile/results"
)

const splitBrainHelp = `Cut a cluster in two under every scheme of election, heal it, and say who led:
on which side, for how long two did, whether a leader without a majority stepped down, and when all
agreed after the heal. Beside it is what the row of the scheme says, and why. Schemes that ask over a
second network, or a shared disk, are cut off from those too, in a run of its own.

The cut begins after a second. Unless --cut says otherwise, the nodes of the highest numbers are cut off,
fewer than half: where the highest is elected, the leader has no majority then. The runs are of processes,
one after the other, or with --simulated on virtual time. Each is stored; show draws who believed what.
The table is split-brain.csv in the folder of the set.

A run whose cut was too short for the scheme, by the time that its row allows, is inconclusive; without
--for and --duration it is made again with a longer cut. One of processes that differs is made again, up to
three times, since they share a machine with others.

Exit status: 0 all is as the rows say, 1 something differs, 2 a run could not be made, or was inconclusive,
or interrupted, 64 bad usage.`

const splitBrainExample = `  orchestrator split-brain
  orchestrator split-brain -n 5 --cut 0-1/2-4 --simulated
  orchestrator split-brain --scheme bully,bully-majority --for 3s`

// A splitBrainCall is one call of split-brain.
type splitBrainCall struct {
	splitbrain.Comparison
	schemes               []string
	simulated, noProgress bool
}

func (a *app) splitBrainCommand() *cobra.Command {
	var c splitBrainCall
	cmd := &cobra.Command{
		Use:     "split-brain",
		Short:   "Cut a cluster in two under every scheme of election, and compare who leads",
		Long:    splitBrainHelp,
		Example: splitBrainExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				c.Rows, err = schemesNamed(c.schemes)
			}
			if err == nil {
				err = c.Check()
			}
			if err == nil {
				err = results.CheckNames(c.Setup.Results, c.Setup.Set)
			}
			if err != nil {
				return s.blame(err)
			}
			if c.Real = !c.simulated; !s.given("seed") {
				c.Seed = uint64(rand.Uint32())
			}
			a.note(s)
			return a.splitBrain(cmd.Context(), &c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.SetNormalizeFunc(longN)
	f.StringSliceVar(&c.schemes, "scheme", nil,
		"only these schemes, by `names` or aliases, with commas between")
	f.IntVarP(&c.N, "nodes", "n", 5, "how many nodes elect a leader")
	f.Var(&c.Cut, "cut", "the `groups` that the cluster falls into, as in 0-1/2-4 (default the highest, "+
		"fewer than half, and the others)")
	f.DurationVar(&c.For, "for", 0, "how long the cut lasts (default "+splitbrain.Usual.String()+", and in "+
		"another run longer if that is too short for a scheme)")
	f.DurationVar(&c.Duration, "duration", 0, "how long each run lasts (default until the scheme has had the "+
		"time that its row asks for after the heal)")
	noZero(f, "for", "would be no time at all: leave it out for "+splitbrain.Usual.String())
	noZero(f, "duration", "would be no run at all: leave it out for as long as each scheme needs")
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time")
	f.Uint64Var(&c.Seed, "seed", 0, "of all that is drawn at random (default a fresh one)")
	f.StringVar(&c.Setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.Setup.Set, "set", "split-brain",
		"`name` of the result set that the table and the runs belong to")
	f.StringVar(&c.Setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	addNoProgress(cmd, &c.noProgress)
	completeWith(cmd, "scheme", namesOf(election.Table))
	return cmd
}

// schemesNamed returns the schemes that go by names; all without any.
func schemesNamed(names []string) (rows []*spec, err error) {
	for _, name := range names {
		row, err := election.Find(name)
		if err != nil {
			return nil, fmt.Errorf("--scheme: %w", err)
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return election.Table, nil
	}
	return rows, nil
}

// takes returns how long the runs of cases take at least, as far as that is known before.
func (c *splitBrainCall) takes(cases []*splitbrain.Case) (sum time.Duration) {
	for _, x := range cases {
		if c.Real {
			sum += c.Options(x).Duration
		}
	}
	return sum
}

// show returns the command line that shows a run of the comparison.
func (c *splitBrainCall) show(run string) string {
	return callOn("show", filepath.Join(c.Setup.Results, run))
}

func (a *app) splitBrain(ctx context.Context, c *splitBrainCall) error {
	if err := equip(&c.Setup, c.Real); err != nil {
		return err
	}
	cases := c.Cases()
	bar := a.newBar(c.noProgress, c.takes(cases))
	var rows []results.SplitBrainRow
	failed := ""
	for i, x := range cases {
		bar.show(float64(i)/float64(len(cases)), fmt.Sprintf("%d of %d: %s", i+1, len(cases), x.Spec.Name))
		row, err := c.Make(ctx, x)
		if ctx.Err() != nil {
			failed += "interrupted: some schemes have no run\n"
			break
		}
		if err != nil {
			a.checkDisk(err)
			failed += fmt.Sprintf("NO RUN   %v\n", err)
			continue
		}
		rows = append(rows, *row)
	}
	bar.clear()
	path, err := results.WriteSplitBrain(c.Setup.Results, c.Setup.Set, rows)
	a.printSplitBrain(c, rows, failed)
	if err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s; of each run, %s draws who believed what.\n",
		path, c.show("RUN"))
	return nil
}

// printSplitBrain prints the table, and what differs.
func (a *app) printSplitBrain(c *splitBrainCall, rows []results.SplitBrainRow, failed string) {
	fmt.Fprintf(a.stdout, "%s, cut %v at 1s for %v; seed %d\n\n", english.Count(c.N, "node", "nodes"), c.Cut,
		cmp.Or(c.For, splitbrain.Usual), c.Seed)
	writeSplitBrain(a.stdout, rows)
	differ, unknown := 0, 0
	for i := range rows {
		if r := &rows[i]; r.Differs != "" {
			differ++
			a.status = check.Violated.ExitCode()
			fmt.Fprintf(a.stdout, "DIFFERS  %s, %s cut: %s\n", r.Algorithm, r.Cuts, r.Differs)
			fmt.Fprintf(a.stdout, "         what came of it: %s\n", c.show(r.Run))
		}
	}
	for i := range rows {
		if r := &rows[i]; r.Differs == "" && r.Inconclusive != "" {
			unknown++
			fmt.Fprintf(a.stdout, "INCONCLUSIVE  %s, %s cut: %s\n", r.Algorithm, r.Cuts, r.Inconclusive)
			fmt.Fprintf(a.stdout, "         what came of it: %s\n", c.show(r.Run))
		}
	}
	fmt.Fprint(a.stdout, failed)
	if failed != "" || unknown > 0 {
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	says := ""
	if unknown > 0 {
		says = fmt.Sprintf(", and of %d it cannot be said", unknown)
	}
	fmt.Fprintf(a.stdout, "%s: %d differ from what the rows say%s.\n",
		english.Count(len(rows), "partition", "partitions"), differ, says)
}

// writeSplitBrain prints a line for each scheme and partition, and then why.
func writeSplitBrain(out io.Writer, rows []results.SplitBrainRow) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEME\tCUT\tITS ROW SAYS\tLED, BY SIDE\tTWO LED\tIN ONE TERM\tMINORITY LED\t"+
		"ALL AGREED\tMESSAGES\tRUN")
	for i := range rows {
		r := &rows[i]
		minority := seconds(r.MinorityLedS)
		switch {
		case !r.MinorityLedS.Known():
			minority = "never"
		case r.SteppedDown:
			minority += ", stepped down"
		default:
			minority += ", to the heal"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Algorithm, r.Cuts, cmp.Or(r.Says, missing),
			cmp.Or(r.Leaders, missing), seconds(r.TwoLeadersS), seconds(r.TwoLeadersInTermS), minority,
			seconds(r.AgreedS), whole(r.Messages), r.Run)
	}
	w.Flush()
	fmt.Fprintln(out)
	for i := range rows {
		if r := &rows[i]; r.Lengthened {
			fmt.Fprintf(w, "%s, %s cut\tcut at %s for %s: the usual time was too short\n", r.Algorithm, r.Cuts,
				seconds(r.CutAtS), seconds(r.CutS))
		}
		if r := &rows[i]; r.Why != "" {
			fmt.Fprintf(w, "%s, %s cut\t%s\n", r.Algorithm, r.Cuts, r.Why)
		}
	}
	w.Flush()
	fmt.Fprintln(out)
}
