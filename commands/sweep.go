package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/internal/input"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/internal/yamlfile"
	"turnstile/judge/check"
	"turnstile/option"
	"turnstile/results"
)

const sweepHelp = `Make a set of runs over many configurations, each several times, with one table of all.

Every flag of bench, elect and, with --simulated, simulate may be a list: --nodes 4,8,16. A flag
whose values may hold commas, such as --fault, --detector or --latency uniform:1ms,3ms, is given
several times instead. FILE has the same settings as lists, and may have named parts and exclude:

  trials: 6                             # for the sweep itself: trials, seed, set
  latency: [0s, 1ms]                    # for all parts
  parts:
    permission: {algo: [ricart, lamport, maekawa], nodes: [4, 9, 16]}
    token: {algo: [suzuki, token-ring], nodes: [4, 16, 64]}
  exclude:
    - {algo: lamport, nodes: 16}

Exit status: 0 all runs of the set valid, 1 some violated, 2 some inconclusive, under- or overloaded,
interrupted, or a file of the set cannot be read, 64 bad usage.`

const sweepMore = `Runs are made in rounds: one trial of each configuration, in an order that the seed draws.
A machine that changes its speed then favours no configuration. Given again, the same command goes on with
the first run that is missing; with more values, it makes the new runs. The table is runs.csv in the folder
of the set.

To see which open load an algorithm serves, sweep over --rate: the report of the set shows throughput and
waits against the load.`

const sweepExample = `  orchestrator sweep --algo ricart,suzuki,maekawa -n 4,8,16 --latency 0s,1ms --trials 6
  orchestrator sweep --algo bully,raft-election -n 5,9 --plan leader-crashes,split-brain --set leaders
  orchestrator sweep --simulated --algo ricart,suzuki -n 8,16 --rate 5,10,20,40 --hold 1ms --set rates
  orchestrator sweep lan.yaml`

// A sweepCall is one call of sweep.
type sweepCall struct {
	study.Sweep
	dryRun     bool
	known      known
	lists      map[string]*listFlag
	simulated  bool
	anyLength  bool
	noProgress bool
	json       bool
	flags      *pflag.FlagSet
	settings   settings

	refused map[string][]string // configurations that cannot be run, by the reason
}

// longSweep is how long a sweep may take without --any-length.
const longSweep = 24 * time.Hour

// newSweep returns a call of sweep with the default settings.
func newSweep(k known) *sweepCall {
	c := &sweepCall{known: k}
	c.Known = k.Table
	c.Seed, c.Trials, c.Setup.Set = 1, 5, "sweep"
	return c
}

func sweepCommand(k known) Command {
	c := newSweep(k)
	return Command{
		Name:    "sweep [FILE]",
		Short:   "Make a set of runs over lists of algorithms, sizes, loads and faults",
		Help:    sweepHelp,
		More:    sweepMore,
		Example: sweepExample,
		Options: c.addTo,
		Args:    atMostOne,
		Check:   c.settings.keep,
		Run:     c.run,
	}
}

func (c *sweepCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.flags = f
	f.BoolVar(&c.simulated, "simulated", false, "on virtual time, as simulate")
	f.IntVar(&c.Trials, "trials", c.Trials, "runs of each configuration, each with a seed of its own")
	noZero(f, "trials", "would make no run: write a number from 1, or leave it out")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of all random draws")
	addMixed(f, &c.Mixed, "")
	addDryRun(f, &c.dryRun)
	f.BoolVar(&c.anyLength, "any-length", false, "start even if it takes more than a day")
	f.BoolVar(&c.json, "json", false, "with --dry-run: print one JSON document instead")
	forOneCall(cmd, "json", "simulated", "trials", "seed", "mixed", "any-length", "dry-run")
	addSetup(f, &c.Setup, "the runs")
	addNoProgress(f, &c.noProgress)
	c.addLists(cmd)
	common(f, "simulated", "trials", "seed", "set", "rate", "json")
	cmd.RegisterFlagCompletionFunc("algo", c.known.completeAlgorithm)
}

// resolve works out the configurations of a sweep. A value that no configuration can have is an error. A
// configuration that one algorithm refuses is left out, and stored in refused with the reason.
func (c *sweepCall) resolve(args []string) error {
	g := &grid{parts: []part{{lists: map[string][]string{}}}}
	given := map[string][]string{}
	for name, l := range c.lists {
		if len(l.values) > 0 {
			given[name] = l.values
		}
	}
	if len(args) == 0 && len(given) == 0 {
		return fmt.Errorf("nothing to sweep over: give a file, or lists of values, as in %s",
			"orchestrator sweep --algo ricart,suzuki -n 4,8 --trials 6")
	}
	if len(args) > 0 {
		text, err := []byte(c.Grid), error(nil)
		if c.Grid == "" { // otherwise it is that of a recorded command
			text, err = input.Read(args[0])
		}
		if err == nil {
			g, err = readGrid(input.Name(args[0]), text, c.listNames(), c.own)
		}
		if err != nil {
			return err
		}
		c.Grid = string(text)
	}
	g.override(given)
	if err := c.checkOwn(); err != nil {
		return err
	}
	if count := g.count() * float64(c.Trials); count > option.MostTrials {
		return fmt.Errorf("these lists and trials make %.0f runs, more than the %d of a sweep: give fewer values, "+
			"fewer trials, or several sweeps of one --set", count, option.MostTrials)
	}
	cells, err := g.cells()
	if err == nil {
		err = checkSet(&c.Setup)
	}
	if err != nil {
		return err
	}
	c.refused = map[string][]string{}
	made := map[string]bool{}
	for _, cell := range cells {
		values := maps.Clone(cell)
		values["seed"] = fmt.Sprint(c.Seed)
		j, err := jobOf(c.known, values, nil, c.simulated)
		switch {
		case errors.As(err, new(valueProblem)):
			return err
		case err != nil:
			c.refused[err.Error()] = append(c.refused[err.Error()], cmp.Or(flagText(cell), "the defaults"))
		case !made[jobText(j)]:
			made[jobText(j)] = true
			c.Cells = append(c.Cells, j)
		}
	}
	if len(c.Cells) == 0 {
		return fmt.Errorf("no configuration can be run: %s",
			strings.Join(slices.Sorted(maps.Keys(c.refused)), "; "))
	}
	c.Command = sweepCommandOf(c, args)
	return nil
}

// run makes the runs.
func (c *sweepCall) run(ctx context.Context, a *app) error {
	if err := c.resolve(a.args); err != nil {
		return err
	}
	if err := a.equipFor(&c.Setup, !c.simulated); err != nil {
		return err
	}
	a.onlyRows(c.json)
	before, left, err := c.Prepare()
	if err != nil {
		return unreadable(err)
	}
	takes := c.Takes()
	c.printPlan(a, before, left, takes)
	if c.dryRun {
		return a.tellDryRun(left, takes)
	}
	a.warnOfNoCommit()
	if takes > longSweep && !c.anyLength {
		return fmt.Errorf("it takes more than a day: give fewer values or trials, or say --any-length")
	}
	if left > 0 {
		unlock, err := c.Lock()
		if err != nil {
			return err
		}
		defer unlock()
		if before, left, err = c.Prepare(); err != nil { // another process may have made some of the runs
			return unreadable(err)
		}
	}
	bar := a.newBarFrom(c.noProgress, firstLine(takes))
	began := time.Now()
	c.Progress = func(done, all int, r *study.Result) {
		if bar.due() || !r.Simulated {
			bar.show(float64(done)/float64(all), c.progressText(done, all, before, began, r))
		}
	}
	runs, err := c.Make(ctx)
	bar.clear()
	if err := unstored(err); err != nil {
		return err
	}
	c.printChanged(a)
	return c.tellSweep(a, runs, left-len(runs), err)
}

// progressText describes in one line how far the sweep has come, and the verdict of the last run.
func (c *sweepCall) progressText(done, all, before int, began time.Time, r *study.Result) string {
	rest := time.Since(began) / time.Duration(max(1, done-before)) * time.Duration(all-done)
	text := fmt.Sprintf("run %d of %d, %s left", done, all, format.Duration(rest.Round(time.Second)))
	if r.Err == nil {
		text += fmt.Sprintf(": %s n=%d %s", r.Spec.Name, r.Config.N, r.Verdict.Outcome)
	}
	return text
}

// tellSweep prints how many runs had each verdict, and why runs could not be made. It sets the exit status,
// which counts all runs of the set. left is how many runs are missing, and err why.
func (c *sweepCall) tellSweep(a *app, runs []*study.Result, left int, err error) error {
	outcomes := map[string]int{}
	for _, r := range runs {
		if r.Err == nil {
			outcomes[r.Verdict.Outcome.String()]++
			continue
		}
		outcomes["could not be made"]++
		fmt.Fprintf(a.stderr, "orchestrator: a run of %s with -n %d could not be made, and the same command makes "+
			"it again: %v\n", r.Spec.Name, r.Config.N, r.Err)
	}
	all := c.Outcomes()
	for outcome, count := range all {
		a.status = max(a.status, min(outcome.ExitCode(), check.Inconclusive.ExitCode()))
		if len(runs) == 0 && outcome != check.Valid {
			outcomes[outcome.String()] = count
		}
	}
	if outcomes["could not be made"] > 0 || len(c.Changed()) > 0 {
		a.status = check.Inconclusive.ExitCode()
	}
	if all[check.Violated] > 0 {
		a.status = check.Violated.ExitCode()
	}
	var counts []string
	if len(runs) == 0 && err == nil {
		counts = []string{"the set has them all"}
	}
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		counts = append(counts, fmt.Sprintf("%d %s", outcomes[outcome], outcome))
	}
	if len(counts) > 0 {
		fmt.Fprintf(a.stdout, "%s: %s.\n", english.Count(len(runs), "run", "runs"), strings.Join(counts, ", "))
	}
	if n := c.Disturbed(); n > 0 {
		fmt.Fprintf(a.stdout, "In %s of the set, other programs took more than %.0f%% of the machine: see "+
			"others_cpu.\n", english.Count(n, "run", "runs"), results.OthersAbove*100)
	}
	fmt.Fprintf(a.stdout, "The table is %s.\n", filepath.Join(c.Setup.Results, c.Setup.Set, results.RowsFile))
	if err != nil {
		fmt.Fprintf(a.trouble(), "interrupted: %s left; the same command goes on with them\n",
			english.Count(left, "run is", "runs are"))
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// A listFlag is a flag of runs that may have several values in a sweep.
type listFlag struct {
	of     *pflag.Flag // the flag as bench or simulate has it
	values []string
}

func (l *listFlag) String() string     { return strings.Join(l.values, " ") }
func (l *listFlag) Type() string       { return "list" }
func (l *listFlag) GetSlice() []string { return l.values }

// Set adds one value. If the text is not a value as a whole, it adds the values between the commas.
func (l *listFlag) Set(text string) error { return l.Append(text) }

// Append implements pflag.SliceValue.
func (l *listFlag) Append(text string) error {
	values := []string{text}
	if strings.Contains(text, ",") && l.splits(text) {
		values = strings.Split(text, ",")
	}
	for _, value := range values {
		switch value = strings.TrimSpace(value); {
		case value == "":
			return errors.New("a value of the list is empty")
		case slices.Contains(l.values, value):
			return fmt.Errorf("%s is there twice", value)
		}
		l.values = append(l.values, value)
	}
	return nil
}

// Replace implements pflag.SliceValue.
func (l *listFlag) Replace(values []string) error {
	l.values = nil
	for _, value := range values {
		if err := l.Append(value); err != nil {
			return err
		}
	}
	return nil
}

// namesOnly are the flags whose values are single words, so that commas separate values.
var namesOnly = []string{"algo", "service", "load", "arrivals", "plan"}

// splits reports whether commas in a text separate values.
func (l *listFlag) splits(text string) bool {
	switch l.of.Value.Type() {
	case "string", "func":
		return slices.Contains(namesOnly, l.of.Name) || isOption(l.of) && !strings.Contains(text, ":")
	case "bool", "int", "uint64", "float64", "duration":
		return true
	}
	fresh := *l.of
	return fresh.Value.Set(text) != nil
}

// notOfSweeps are the flags of runs that cannot be lists in a sweep. Either a sweep has a flag of that name
// itself, or a list makes no sense.
var notOfSweeps = []string{"trials", "seed", "set", "results", "json", "no-progress", "node-program",
	"explain", "replay", "shrink", "require", "junit", "help"}

// addLists adds the flags of runs, as lists.
func (c *sweepCall) addLists(cmd *cobra.Command) {
	c.lists = map[string]*listFlag{}
	of := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&benchCall{runCommand: anyRuns(c.known)}).addFlags(of)
	of.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || slices.Contains(notOfSweeps, f.Name) {
			return
		}
		l := &listFlag{of: f}
		c.lists[f.Name] = l
		added := cmd.Flags().VarPF(l, f.Name, f.Shorthand, f.Usage)
		added.Annotations = maps.Clone(f.Annotations)
		added.NoOptDefVal = f.NoOptDefVal
		forOneCall(cmd, f.Name)
	})
}

// listNames returns the names of the flags that may be lists.
func (c *sweepCall) listNames() []string { return slices.Sorted(maps.Keys(c.lists)) }

// own sets a flag of the sweep itself from the file, unless the command line gives it. It returns false for
// any other flag.
func (c *sweepCall) own(flag string, value *yaml.Node) (is bool, err error) {
	if !slices.Contains([]string{"trials", "seed", "set", "simulated"}, flag) {
		return false, nil
	}
	if !isValue(value) {
		return true, fmt.Errorf("line %d: %s takes one value", value.Line, flag)
	}
	f := *c.flags.Lookup(flag)
	f.Value = f.Value.(*once).Value // without once, which would refuse a second value
	counts := f.Value.String()
	where := fmt.Sprintf("line %d: %s", value.Line, flag)
	if err := f.Value.Set(value.Value); err != nil {
		return true, valueError(where, &f, value.Value, err)
	}
	switch {
	case flag == "trials" && c.Trials < 1:
		return true, fmt.Errorf("%s: %d: write a number from 1", where, c.Trials)
	case flag == "set":
		err = checkSet(&c.Setup)
	}
	if err == nil && c.settings.given(flag) { // the value on the command line wins
		err = f.Value.Set(counts)
	}
	return true, err
}

// jobText is different for jobs with different options.
func jobText(j *bench.Job) string { return fmt.Sprintf("%+v", j.Options) }

// sweepCommandOf returns the command that makes the sweep again, for its record: without the path of the
// program and without credentials, which must not be published.
func sweepCommandOf(c *sweepCall, args []string) string {
	words := []string{runs.Program, "sweep"}
	for _, arg := range args {
		words = append(words, terminal.ShellQuoted(arg))
	}
	if c.simulated {
		words = append(words, "--simulated")
	}
	words = append(words, "--trials", fmt.Sprint(c.Trials), "--seed", fmt.Sprint(c.Seed), "--set",
		terminal.ShellQuoted(c.Setup.Set))
	for _, name := range c.listNames() {
		for _, value := range c.lists[name].values {
			if name == "nats" {
				value = bench.WithoutCredential(value)
			}
			words = append(words, "--"+name+"="+terminal.ShellQuoted(value))
		}
	}
	return strings.Join(words, " ")
}

// A grid lists configurations: every combination of the values of its flags, except the excluded ones.
type grid struct {
	parts   []part
	exclude []map[string]string // each map excludes the configurations that have all its values
}

// A part has flags of a grid, each with its values.
type part struct {
	name  string // name of the part; empty: the file has no parts
	lists map[string][]string
}

// readGrid parses the file of a sweep. known are the flags that may be lists; own sets a flag of the sweep
// itself.
func readGrid(path string, b []byte, known []string, own func(string, *yaml.Node) (bool, error)) (*grid,
	error) {
	var err error
	var file map[string]yaml.Node
	if err := yaml.Unmarshal(b, &file); err != nil {
		return nil, configError(path, cmp.Or(yamlfile.TabError(b), err))
	}
	g := &grid{}
	all := part{lists: map[string][]string{}}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		node := file[key]
		switch key {
		case "parts":
			err = g.readParts(&node, known)
		case "exclude":
			err = g.readExclude(&node, known)
		default:
			var taken bool
			if taken, err = own(key, &node); !taken && err == nil {
				err = all.add(key, &node, known)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if g.parts == nil {
		g.parts = []part{{}}
	}
	for i, p := range g.parts {
		lists := maps.Clone(all.lists)
		maps.Copy(lists, p.lists)
		g.parts[i].lists = lists
	}
	return g, nil
}

// add adds the values of a flag.
func (p *part) add(flag string, values *yaml.Node, known []string) error {
	if flag = oneName(flag); !slices.Contains(known, flag) {
		return fmt.Errorf("line %d: there is no setting %s of runs%s", values.Line, flag,
			suggest.Hint(flag, known))
	}
	switch {
	case isValue(values):
		p.lists[flag] = []string{values.Value}
	case isList(values) && len(values.Content) > 0:
		p.lists[flag] = nil
		for _, item := range values.Content {
			p.lists[flag] = append(p.lists[flag], item.Value)
		}
	default:
		return fmt.Errorf("line %d: %s takes a value or a list of values, in quotes if need be", values.Line, flag)
	}
	return nil
}

// readParts reads the named parts. Each is a grid that takes the settings it lacks from the whole file.
func (g *grid) readParts(node *yaml.Node, known []string) error {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return fmt.Errorf("line %d: parts takes names, each with settings below it", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		p := part{name: node.Content[i].Value, lists: map[string][]string{}}
		if slices.ContainsFunc(g.parts, func(other part) bool { return other.name == p.name }) {
			return fmt.Errorf("line %d: there are two parts %s", node.Content[i].Line, p.name)
		}
		below := node.Content[i+1]
		if below.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: the part %s takes settings, as in nodes: [4, 8]", below.Line, p.name)
		}
		for k := 0; k+1 < len(below.Content); k += 2 {
			if err := p.add(below.Content[k].Value, below.Content[k+1], known); err != nil {
				return err
			}
		}
		g.parts = append(g.parts, p)
	}
	return nil
}

// readExclude reads the configurations to leave out.
func (g *grid) readExclude(node *yaml.Node, known []string) error {
	if node.Kind != yaml.SequenceNode {
		return fmt.Errorf("line %d: exclude takes a list, as in - {algo: lamport, nodes: 64}", node.Line)
	}
	for _, item := range node.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) == 0 {
			return fmt.Errorf("line %d: an element of exclude has settings, as in {algo: lamport, nodes: 64}",
				item.Line)
		}
		p := part{lists: map[string][]string{}}
		for k := 0; k+1 < len(item.Content); k += 2 {
			if err := p.add(item.Content[k].Value, item.Content[k+1], known); err != nil {
				return err
			}
		}
		g.exclude = append(g.exclude, product(p.lists)...)
	}
	return nil
}

// override replaces values of the file by values of the command line.
func (g *grid) override(lists map[string][]string) {
	for i := range g.parts {
		maps.Copy(g.parts[i].lists, lists)
	}
}

// count returns how many configurations the grid has, without regard to exclusions and repetitions.
func (g *grid) count() float64 {
	sum := 0.0
	for _, p := range g.parts {
		cells := 1.0
		for _, values := range p.lists {
			cells *= float64(len(values))
		}
		sum += cells
	}
	return sum
}

// cells returns the configurations, each once.
func (g *grid) cells() (all []map[string]string, err error) {
	used := make([]bool, len(g.exclude))
	seen := map[string]bool{}
	for _, p := range g.parts {
		for _, cell := range product(p.lists) {
			out := false
			for i, x := range g.exclude {
				if has(cell, x) {
					out, used[i] = true, true
				}
			}
			if text := flagText(cell); !out && !seen[text] {
				seen[text] = true
				all = append(all, cell)
			}
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("exclude: no configuration has %s", flagText(g.exclude[i]))
	}
	if len(all) == 0 {
		return nil, errors.New("no configuration is left: exclude leaves out all")
	}
	return all, nil
}

// has reports whether a configuration has all values of another.
func has(cell, of map[string]string) bool {
	for flag, value := range of {
		if cell[flag] != value {
			return false
		}
	}
	return true
}

// product returns every combination of the values of flags.
func product(lists map[string][]string) []map[string]string {
	all := []map[string]string{{}}
	for _, flag := range slices.Sorted(maps.Keys(lists)) {
		var longer []map[string]string
		for _, cell := range all {
			for _, value := range lists[flag] {
				more := maps.Clone(cell)
				more[flag] = value
				longer = append(longer, more)
			}
		}
		all = longer
	}
	return all
}

// flagText writes a configuration as flags.
func flagText(cell map[string]string) string {
	var words []string
	for _, flag := range slices.Sorted(maps.Keys(cell)) {
		words = append(words, "--"+flag+" "+cell[flag])
	}
	return strings.Join(words, " ")
}

// printPlan prints how many runs a sweep will make, about how long runs of processes take, and what is left
// out.
func (c *sweepCall) printPlan(a *app, before, left int, takes time.Duration) {
	fmt.Fprintf(a.stdout, "%s, %s each: %s", english.Count(len(c.Cells), "configuration", "configurations"),
		english.Count(c.Trials, "trial", "trials"), english.Count(before+left, "run", "runs"))
	if before > 0 {
		fmt.Fprintf(a.stdout, "; the set %s has %d of them", c.Setup.Set, before)
	}
	fmt.Fprintln(a.stdout)
	if left > 0 {
		if takes > 0 {
			fmt.Fprintf(a.stdout, "It takes about %s, or longer if others use the machine.\n",
				format.Duration(takes.Round(time.Second)))
		}
		fmt.Fprintf(a.stdout, "At most %d MB of disk while a run goes on.\n", c.DiskSpace()>>20)
	}
	c.printRefused(a)
}

// printRefused prints which configurations are left out, and why.
func (c *sweepCall) printRefused(a *app) {
	const few = 3
	for _, why := range slices.Sorted(maps.Keys(c.refused)) {
		cells := c.refused[why]
		fmt.Fprintf(a.stdout, "Left out, %s: %s\n",
			english.Count(len(cells), "configuration", "configurations"), why)
		for _, cell := range cells[:min(few, len(cells))] {
			fmt.Fprintf(a.stdout, "  %s\n", cell)
		}
		if len(cells) > few {
			fmt.Fprintf(a.stdout, "  and %d more\n", len(cells)-few)
		}
	}
}

// printChanged names the runs whose tables were changed after the run, which the tables of the set leave out.
func (c *sweepCall) printChanged(a *app) {
	for _, err := range c.Changed() {
		fmt.Fprintf(a.stderr, "orchestrator: %v\n", err)
	}
}

// checkOwn checks the settings of the sweep itself.
func (c *sweepCall) checkOwn() error {
	switch {
	case c.json && !c.dryRun:
		return fmt.Errorf("--json is for --dry-run: leave it out; `orchestrator runs %s --json` prints the runs",
			c.Setup.Set)
	case c.Trials < 1:
		return fmt.Errorf("--trials: %d: write a number from 1", c.Trials)
	}
	return nil
}
