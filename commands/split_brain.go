package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/runs"
	"turnstile/bench/study"
	"turnstile/chaos/effect"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/option"
	"turnstile/report/text"
	"turnstile/results"
)

const splitBrainHelp = `Cut a cluster in two under every scheme of election, heal it, and print which nodes
led: on which side, for how long two led at once, whether a leader without a majority stepped down, and when
all agreed after the heal. Beside it is what is expected of the scheme, and why. Schemes that also use a
second network or a shared disk have one more run, in which the nodes are cut off from that too.

The cut begins after a second. Unless --cut says otherwise, it cuts off the nodes with the highest numbers,
fewer than half. Each scheme is cut twice: with its leader on the side without a majority, and on the other
side. For that, the leader and another node change places in the cut, unless the scheme may elect any node.
The runs are of processes, one after the other, or with --simulated on virtual time. Each run is stored;
show draws which leader each node believed in. The table is split-brain.csv in the folder of the set.

Exit status: 0 all tested partitions are as expected, 1 one differs, 2 a run could not be made or was
inconclusive, no run tested its scheme, or interrupted, 64 bad usage.`

const splitBrainMore = `A cut in one direction, or of some links, as in --cut '0>1-2' or --cut 0/2, makes no
sides: each scheme runs with its leader at each named node, and at one that is not named. If --cut is given
several times, all cuts are made at once.

A run is inconclusive if its cut was too short for the scheme, by the time that it may take; without
--for and --duration it is made again with a longer cut. A run of processes that differs is made again, up
to three times, since other load on the machine may be the cause. A run whose cut hit no message is
untested: it does not count as one that is as expected.`

const splitBrainExample = `  orchestrator split-brain
  orchestrator split-brain -n 5 --cut 0-1/2-4 --simulated
  orchestrator split-brain -n 3 --cut 0/2 --algo raft-election --simulated
  orchestrator split-brain --algo bully,bully-majority --for 3s`

// A splitBrainCall is one call of split-brain.
type splitBrainCall struct {
	known  known
	dryRun bool
	study.SplitBrain
	schemes, cuts         []string
	options               nodes.Config // only its Options are used, for the options of schemes
	simulated, noProgress bool
	json                  bool
	flags                 *pflag.FlagSet
}

func splitBrainCommand(k known) Command {
	c := &splitBrainCall{known: k}
	c.Known = k.Table
	c.Setup.Set = "split-brain"
	return Command{
		Name:    "split-brain",
		Short:   "Cut a cluster in two under every scheme of election, and compare the leaders",
		Help:    splitBrainHelp,
		More:    splitBrainMore,
		Example: splitBrainExample,
		Options: c.addTo,
		Check:   func(s settings) error { return s.blame(c.check(s)) },
		Notes:   true,
		Run:     c.run,
	}
}

func (c *splitBrainCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.flags = f
	f.StringSliceVar(&c.schemes, "algo", nil,
		"only these schemes, by `names` or aliases, with commas between")
	f.IntVarP(&c.N, "nodes", "n", 5, "how many nodes elect a leader")
	f.StringArrayVar(&c.cuts, "cut", nil, "`groups` between which links are cut, as in 0-1/2-4 or 0/2, or 0>2 "+
		"for one way; may be given several times (default the highest nodes, fewer than half, from the others)")
	f.DurationVar(&c.For, "for", 0, "how long the cut lasts (default "+study.Usual.String()+", or longer "+
		"if that is too short for a scheme)")
	f.DurationVar(&c.Duration, "duration", 0, "how long each run lasts (default as long after the heal as the "+
		"scheme asks for)")
	noZero(f, "for", "would cut nothing: leave it out for "+study.Usual.String())
	noZero(f, "duration", "would make no run: leave it out for as long as each scheme needs")
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time")
	addDryRun(f, &c.dryRun)
	f.Uint64Var(&c.Seed, "seed", 0, "of all random draws (default a fresh one)")
	addOption(f, option.Find("hosts"), &c.Hosts)
	addOption(f, option.Find("place"), &c.Place)
	addControl(f, &c.Setup.Control, &c.Setup.ControlKey)
	addSetup(f, &c.Setup, "the table and the runs")
	addMixed(f, &c.Mixed, "")
	addAlgorithmOptions(f, &c.options, c.known.Electors())
	c.known.completeOptions(cmd)
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	common(f, "algo", "nodes", "cut", "for", "simulated", "set", "json")
	completeWith(cmd, "algo", namesOf(c.known.Electors()))
}

// check completes the call from its flags. It returns an error for flags that contradict each other.
func (c *splitBrainCall) check(s settings) (err error) {
	if !s.typed("algo") { // a file or variable may name algorithms of mutual exclusion, for other runs
		c.schemes = slices.DeleteFunc(c.schemes, func(name string) bool {
			algo, err := c.known.Find(strings.TrimSpace(name))
			return err == nil && !check.ProblemOf(algo).Leads
		})
	}
	if c.Algorithms, err = algorithmsNamed(c.schemes, c.known.FindElector, c.known.Electors()); err != nil {
		return fmt.Errorf("--algo: %w", err)
	}
	for _, text := range c.cuts {
		cut, err := effect.ParseCut(text)
		if err != nil {
			return fmt.Errorf("--cut: %w", err)
		}
		c.Cuts = append(c.Cuts, cut)
	}
	c.Command = s.recorded(c.flags, runs.Program, "split-brain")
	if c.Given, c.Real = c.options.Options, !c.simulated; !s.given("seed") {
		c.Seed = uint64(rand.Uint32())
		c.Command += fmt.Sprintf(" --seed=%d", c.Seed)
	}
	if err := c.Check(); err != nil {
		return err
	}
	return checkSet(&c.Setup)
}

// show returns the command line that shows a run of the comparison.
func (c *splitBrainCall) show(run string) string {
	return terminal.CallOn("show", filepath.Join(c.Setup.Results, run))
}

func (c *splitBrainCall) run(ctx context.Context, a *app) error {
	if err := a.equipFor(&c.Setup, c.Real); err != nil {
		return err
	}
	a.onlyRows(c.json)
	if c.dryRun {
		return a.tellDryRun(c.Count(), c.Takes())
	}
	unlock, err := c.Continue(c.Count(), 1)
	if err != nil {
		return unreadable(err)
	}
	defer unlock()
	bar := a.follow(&c.Experiment, c.noProgress, c.Takes(), "run")
	all, interrupted := c.Run(ctx)
	bar.clear()
	if err := unstored(interrupted); err != nil {
		return err
	}
	var rows []results.SplitBrainRow
	failed := ""
	for _, r := range all {
		if r.Err != nil {
			failed += fmt.Sprintf("NO RUN   %v\n", r.Err)
		} else {
			rows = append(rows, *r.Row)
		}
	}
	if interrupted != nil {
		failed += "interrupted: some schemes were not run; the same command with the same seed goes on with them\n"
	}
	path, err := results.WriteSetTable(c.Setup.Results, c.Setup.Set, results.SplitBrainFile, rows)
	writeRows(a, rows)
	c.printSplitBrain(a, rows, failed)
	if err != nil {
		return failure{err, unwritten}
	}
	fmt.Fprintf(a.stdout, "The table is %s; %s draws which leader each node believed in.\n",
		path, c.show("RUN"))
	return nil
}

// printSplitBrain prints the table and the rows that differ, are inconclusive or untested, and sets the exit
// status.
func (c *splitBrainCall) printSplitBrain(a *app, rows []results.SplitBrainRow, failed string) {
	var cuts []string
	for _, cut := range c.Cuts {
		cuts = append(cuts, cut.String())
	}
	lasts := cmp.Or(c.For, study.Usual).String()
	if c.Links() && c.For == 0 {
		lasts += " longer than each scheme may take to elect"
	}
	fmt.Fprintf(a.stdout, "%s, cut %s at 1s for %s; seed %d\n\n", english.Count(c.N, "node", "nodes"),
		strings.Join(cuts, " and "), lasts, c.Seed)
	c.known.writeSplitBrain(a.stdout, rows)
	differ := c.list(a.stdout, "DIFFERS", rows, func(r *results.SplitBrainRow) string { return r.Differs })
	unknown := c.list(a.stdout, "INCONCLUSIVE", rows, func(r *results.SplitBrainRow) string {
		if r.Differs != "" {
			return ""
		}
		return r.Inconclusive
	})
	nothing := showsNothing(a.stdout, rows)
	fmt.Fprint(a.trouble(), failed)
	switch {
	case differ > 0:
		a.status = check.Violated.ExitCode()
	case failed != "" || unknown > 0 || nothing == len(rows):
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	fmt.Fprintf(a.stdout, "%s: %v.\n", english.Count(len(rows), "partition", "partitions"),
		expectations{met: len(rows) - differ - unknown - nothing, differ: differ, unknown: unknown,
			missed: nothing})
}

// list prints the rows for which the function says returns a text, and returns how many these are.
func (c *splitBrainCall) list(out io.Writer, word string, rows []results.SplitBrainRow,
	says func(*results.SplitBrainRow) string) (count int) {
	for i := range rows {
		r := &rows[i]
		if text := says(r); text != "" {
			count++
			fmt.Fprintf(out, "%s  %s, %s: %s\n", word, r.Algorithm, whichCut(r), text)
			fmt.Fprintf(out, "         see the run: %s\n", c.show(r.Run))
		}
	}
	return count
}

// whichCut describes what was cut, and where the leader was.
func whichCut(r *results.SplitBrainRow) string {
	where := "in the " + r.LeaderIn
	if r.Cuts == algorithm.SomeLinks.String() {
		where = "at " + r.LeaderIn
	}
	return fmt.Sprintf("%s cut, leader %s", r.Cuts, where)
}

// showsNothing prints the schemes whose runs are untested, by reason, and returns the number of such runs. If
// other runs of a scheme are tested, it also names the cut.
func showsNothing(out io.Writer, rows []results.SplitBrainRow) (count int) {
	var reasons []string
	schemes := map[string][]string{}
	for i := range rows {
		r := &rows[i]
		if r.ShowsNothing == "" {
			continue
		}
		count++
		if schemes[r.ShowsNothing] == nil {
			reasons = append(reasons, r.ShowsNothing)
		}
		scheme := r.Algorithm
		if slices.ContainsFunc(rows, func(other results.SplitBrainRow) bool {
			return other.Algorithm == r.Algorithm && other.ShowsNothing == ""
		}) {
			scheme += " (" + whichCut(r) + ")"
		}
		if !slices.Contains(schemes[r.ShowsNothing], scheme) {
			schemes[r.ShowsNothing] = append(schemes[r.ShowsNothing], scheme)
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(out, "UNTESTED  %s: %s\n", english.List(schemes[why]), why)
	}
	return count
}

// writeSplitBrain prints a line for each scheme and partition, and then why that outcome is expected of the
// scheme.
func (k known) writeSplitBrain(out io.Writer, rows []results.SplitBrainRow) {
	t := terminal.Table{
		Head: []string{"SCHEME", "CUT", "LEADER IN", "EXPECTED", "SIDES", "LED, BY SIDE", "TWO LED",
			"IN ONE TERM", "CHANGES", "MINORITY LED", "ALL AGREED", "MESSAGES", "RUN"},
		Drops: []string{"RUN", "MESSAGES", "CHANGES", "IN ONE TERM", "ALL AGREED", "SIDES", "MINORITY LED"}}
	longer := false
	for i := range rows {
		r := &rows[i]
		cuts := shortCuts.Replace(r.Cuts)
		if longer = longer || r.Lengthened; r.Lengthened {
			cuts += fmt.Sprintf(" (for %s)", format.Seconds(r.CutS))
		}
		says := cmp.Or(r.Says, "nothing")
		if r.ShowsNothing != "" {
			says += " (untested)"
		}
		t.Add(r.Algorithm, cuts, r.LeaderIn, says, r.Cut, cmp.Or(r.Leaders, "no cut"),
			format.Seconds(r.TwoLeadersS), format.Seconds(r.TwoLeadersInTermS), format.Whole(r.Changes),
			minorityLed(r), agreedAfter(r), k.messagesOf(r), r.Run)
	}
	t.Print(out)
	fmt.Fprintln(out)
	fmt.Fprint(out, "LED, BY SIDE has the number of the node that led on each side of the cut, at the heal.\n\n")
	if len(t.Left) > 0 {
		writeWrapped(out, "", fmt.Sprintf("Left out, since the table would be too wide: %s. %s has them.",
			strings.ToLower(strings.Join(t.Left, ", ")), results.SplitBrainFile))
		fmt.Fprintln(out)
	}
	if longer {
		fmt.Fprintf(out, "(for ...): a cut of %v was too short for the scheme, so the run was made again with a "+
			"longer one.\n\n", study.Usual)
	}
	var whys terminal.Table
	for i := range rows {
		r := &rows[i]
		line := []string{fmt.Sprintf("%s, %s cut", r.Algorithm, r.Cuts), r.Why}
		told := slices.ContainsFunc(whys.Rows, func(other []string) bool { return slices.Equal(line, other) })
		if r.Why != "" && !told {
			whys.Rows = append(whys.Rows, line)
		}
	}
	whys.Print(out)
	fmt.Fprintf(out, "\n%s\n\n", strings.Join(text.TermsMakeHarmless, "\n"))
}

// shortCuts shortens the names of cuts for the table.
var shortCuts = strings.NewReplacer("all between nodes", "nodes", "the first network", "first network",
	"servers as well", "nodes, servers")

// minorityLed describes how long a node led without a majority.
func minorityLed(r *results.SplitBrainRow) string {
	switch {
	case r.Cuts == algorithm.SomeLinks.String():
		return "no sides"
	case !r.MinorityLedS.Known():
		return "never"
	case r.SteppedDown:
		return format.Seconds(r.MinorityLedS) + ", stepped down"
	}
	return format.Seconds(r.MinorityLedS) + ", to the heal"
}

// agreedAfter describes when all agreed.
func agreedAfter(r *results.SplitBrainRow) string {
	if !r.AgreedS.Known() {
		return "not by the end"
	}
	return format.Seconds(r.AgreedS)
}

// messagesOf describes how many messages there were beside heartbeats.
func (k known) messagesOf(r *results.SplitBrainRow) string {
	algo, err := k.FindElector(r.Algorithm)
	if err == nil && !slices.ContainsFunc(algo.Messages,
		func(k nodes.MessageKind) bool { return !k.Heartbeat }) {
		return "heartbeats alone"
	}
	return format.Whole(r.Messages)
}
