package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/compare"
	"turnstile/judge/check"
	"turnstile/results"
)

const compareHelp = `Compare the trials of two runs or sets, A and B, or those of one, grouped --by a
column of runs.csv. Of each figure: the median of each group with its interval; by how much it differs
from the baseline, as the median of all differences of two trials (Hodges and Lehmann) with its
interval; and p, by Mann and Whitney: the probability that trials of one and the same experiment
differ as much. Of several comparisons with one baseline, Holm's correction makes a p of each, and
only one below 0.05 is called a difference. All intervals are of 95%. A ~ says that nothing can be
said, and why. docs/comparing.md explains all of it.

Trials that were asked for the same are repetitions. Only valid ones count; others are listed.
Experiments of A and B that agree in all but what A and B differ in are compared with each other.
Groups have to agree in all else. What does not is refused, and named.

A and B are the path of a folder, set/run, the name of a run or set, or latest.

Exit status: 0 compared, 1 --fail-above found a figure that is worse or a trial of another group than the
baseline that is violated, 2 no trials could be read or it could not be said whether a figure is worse, 64 bad
usage or groups that cannot be compared, 74 if the output could not be written.`

const compareExample = `  orchestrator compare lan --by algorithm --against ricart-agrawala
  orchestrator compare lan --by nodes --where algorithm=maekawa --metric messages_per_entry,wait_us_p99
  orchestrator compare before after --fail-above 5% --unlike
  orchestrator compare lan wan --csv >lan-wan.csv`

// A compareCall is one call of compare.
type compareCall struct {
	compare.Request
	root      string
	where     []string
	failAbove string
	above     float64 // a share; negative: nothing fails
	json, csv bool
}

func (a *app) compareCommand() *cobra.Command {
	var c compareCall
	cmd := &cobra.Command{
		Use:               "compare A [B]",
		Short:             "Compare the trials of runs or sets by their figures",
		Long:              compareHelp,
		Example:           compareExample,
		ValidArgsFunction: completeRunsOrSets,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				err = s.either(cmd, "json", "csv")
			}
			if err == nil {
				err = c.check(args)
			}
			if err != nil {
				return err
			}
			return a.compare(&c, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.By, "by", "", "group the trials of one set by this `column`, such as algorithm, nodes or run")
	f.StringVar(&c.Against, "against", "", "the `group` that the others are compared with (default the first)")
	f.StringArrayVar(&c.where, "where", nil,
		"only trials with `column=value`; several times for several columns")
	f.StringSliceVar(&c.Metrics, "metric", nil, "`figures` to compare, columns of runs.csv with commas between "+
		"(default throughput, messages and delays, or those of elections)")
	f.BoolVar(&c.Unlike, "unlike", false, "compare what differs in nodes, load, machine or version too")
	f.StringVar(&c.failAbove, "fail-above", "", "exit with status 1 if any figure is worse by more than this "+
		"`share`, such as 5%, of the baseline's, even at the best end of the interval")
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	f.BoolVar(&c.csv, "csv", false, "print CSV instead, a line per figure and pair of groups")
	forOneCall(cmd, "by", "against", "where", "metric", "unlike", "fail-above", "csv")
	completeWith(cmd, "by", compare.Columns())
	completeWith(cmd, "metric", results.FigureColumns())
	return cmd
}

// check says what is wrong with the call, if anything is.
func (c *compareCall) check(args []string) (err error) {
	switch {
	case len(args) == 0:
		return errors.New("name two runs or sets to compare, or one and --by and a column, such as algorithm")
	case len(args) == 1 && c.By == "":
		return fmt.Errorf("%s alone can be compared --by a column, such as algorithm; or name a second run or set",
			args[0])
	case len(args) == 2 && c.By != "":
		return errors.New("--by groups the trials of one set, and there are two: leave out one of the two, or --by")
	case len(args) == 2 && c.Against != "":
		return fmt.Errorf("--against names a group --by a column; of two, the first is the baseline, here %s",
			args[0])
	case len(args) > 2:
		return fmt.Errorf("two are compared, and there are %d; put runs into one set to compare them --by run",
			len(args))
	}
	for _, text := range c.where {
		condition, err := compare.ParseCondition(text)
		if err != nil {
			return fmt.Errorf("--where: %w", err)
		}
		if slices.ContainsFunc(c.Where, func(other compare.Condition) bool {
			return other.Column == condition.Column
		}) {
			return fmt.Errorf("--where: %s is given twice: leave out one of the two", condition.Column)
		}
		c.Where = append(c.Where, condition)
	}
	if err := compare.CheckMetrics(c.Metrics); err != nil {
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
		return 0, fmt.Errorf("--fail-above: %s is no share: did you mean %s%%?", c.failAbove, c.failAbove)
	case err != nil || !(percent >= 0 && percent <= 1e6):
		return 0, fmt.Errorf("--fail-above: %q is no share: write one such as 5%%", c.failAbove)
	}
	for _, m := range c.Metrics {
		if compare.BetterOf(m) == "" {
			return 0, fmt.Errorf("--fail-above: of %s neither more nor less is worse: leave it out of --metric", m)
		}
	}
	return percent / 100, nil
}

// compare compares what the arguments name, one set or two.
func (a *app) compare(c *compareCall, args []string) error {
	var sides []compare.Side
	var paths []string
	for _, ref := range args {
		side, path, err := a.side(c, ref)
		if err != nil {
			return err
		}
		if slices.Contains(paths, path) {
			return fmt.Errorf("%s and %s are the same: there is nothing to compare", args[0], args[1])
		}
		sides, paths = append(sides, side), append(paths, path)
	}
	var made *compare.Comparison
	var err error
	if len(sides) == 1 {
		made, err = compare.Groups(sides[0], c.Request)
	} else {
		nameSides(sides)
		made, err = compare.Sides(sides[0], sides[1], c.Request)
	}
	if err != nil {
		return err
	}
	return a.printComparison(c, args, made)
}

// longestName is how long the name of a side may be to be printed in each of its lines.
const longestName = 20

// nameSides gives two sides short names, if theirs are long.
func nameSides(sides []compare.Side) {
	if max(len(sides[0].Name), len(sides[1].Name)) > longestName {
		sides[0].Name, sides[1].Name = "A", "B"
	}
}

// side reads the trials of a run or a set. What cannot be read is named, and the rest is read all the same.
func (a *app) side(c *compareCall, ref string) (side compare.Side, path string, err error) {
	side.Name = ref
	v, err := openRunOrSet(c.root, ref)
	if table := results.OpenTable(c.root, ref); err != nil && table != nil {
		side.Trials, err = bench.TableTrials(table)
		return side, table.Path, err
	}
	if err != nil {
		return side, "", err
	}
	folders := []*results.Folder{v.run}
	if v.run == nil {
		folders, path = v.set.Runs, v.set.Path
	} else {
		path = v.run.Path
	}
	side.Trials = bench.StoredTrials(folders, func(folder *results.Folder, err error) {
		fmt.Fprintf(a.stderr, "%s: %s\n", folder.Ref(), strings.ReplaceAll(err.Error(), "\n", "; "))
	})
	if len(side.Trials) == 0 {
		return side, "", failure{fmt.Errorf("no trials of %s can be read", ref), check.Inconclusive.ExitCode()}
	}
	return side, path, nil
}

// judgeAbove says whether a group is worse than --fail-above allows, and sets the exit status.
func (a *app) judgeAbove(c *compareCall, made *compare.Comparison) string {
	if c.above < 0 {
		return ""
	}
	outcome, says := made.Above(c.above, c.failAbove)
	a.status = outcome.ExitCode()
	return says
}

// completeRunsOrSets completes both arguments as completeRunOrSet does one.
func completeRunsOrSets(cmd *cobra.Command, args []string, begun string) (refs []string,
	how cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeRunOrSet(cmd, nil, begun)
}
