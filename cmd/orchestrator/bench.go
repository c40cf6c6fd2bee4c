package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/catalog"
	"turnstile/nodes/foreign"
)

const benchHelp = `Run one algorithm under one load, in a process per node, and judge what happened.

Loads:
  saturated   every node requests again as soon as it has left (the default)
  closed      every node thinks, asks, holds and releases (what --think implies)
  open        requests fall due at each node at --rate, whether or not the last has ended
  one         node 0 alone requests, again and again
  sequential  one request at a time, from a node drawn at random, when all is at rest

--hold, --think and --latency take a length of time or a distribution of them: 2ms,
uniform:1ms,3ms (from, to), exponential:2ms (mean), normal:2ms,500us (mean, deviation),
log-normal:2ms,9ms (median, 99th percentile), pareto:1ms,20ms (least, 99th percentile) or
measured:1ms,1ms,4ms (draws, each as likely).

Without --latency, times show what the messages cost this machine's processors, not what they would
cost on a network. Ctrl-C ends a run at once and keeps what was recorded.

Exit status: 0 valid, 1 violated or not as --require has it, 2 inconclusive, 3 under- or overloaded,
64 bad usage.`

const benchExample = `  orchestrator bench --algo ricart -n 32
  orchestrator bench --algo token-ring -n 16 --latency 1ms --hold 0
  orchestrator bench --algo maekawa -n 9 --load sequential --entries 500
  orchestrator bench --algo suzuki -n 8 --rate 50 --latency uniform:1ms,3ms --duration 10s
  orchestrator bench --algo lamport -n 8 --think exponential:20ms --trials 5 --set lamport
  orchestrator bench --algo naive -n 3 --duration 1s --json`

// A benchCall is one call of bench.
type benchCall struct {
	runCommand
	bench.Job
	regions    string // the file of them
	faults     faultFlags
	foreign    foreignFlags
	service    serviceFlags
	setup      bench.Setup
	required   required
	control    controlFlags
	json       bool
	noProgress bool
}

func (a *app) benchCommand() *cobra.Command {
	c := benchCall{runCommand: benchRuns}
	cmd := checked(&cobra.Command{
		Use:     "bench",
		Short:   "Run an algorithm under a load, measure it and judge it",
		Long:    benchHelp,
		Example: benchExample,
	}, c.resolve, func(ctx context.Context, _ settings) error {
		_, err := a.bench(ctx, &c)
		return err
	})
	c.addFlags(cmd.Flags())
	forOneCall(cmd, "require")
	completeFlags(cmd)
	return cmd
}

// addFlags adds the flags of real runs.
func (c *benchCall) addFlags(f *pflag.FlagSet) {
	c.addRunFlags(f)
	c.foreign.add(f)
	c.service.add(f, &c.setup)
	group(f, option.System)
	c.addOptions(f, true)
	c.control.add(f)
	f.BoolVar(&c.setup.PlainData, "plain-data", false,
		"have the brokers on hosts speak no TLS, though the control plane does")
	group(f, option.Network)
	f.StringVar(&c.setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	group(f, option.Running)
}

// addRunFlags adds the flags of real and simulated runs. A flag whose variable has a value already has that
// as its default.
func (c *benchCall) addRunFlags(f *pflag.FlagSet) {
	c.Patience, c.Config.N, c.Resources, c.Brokers, c.Trials = 3*time.Second, c.nodes, 1, 1, 1
	c.Duration, c.Workload.Hold = 3*time.Second, chance.Constant(100*time.Microsecond)
	f.SortFlags = false
	f.SetNormalizeFunc(longN)
	f.StringVar(&c.Algorithm, c.naming, c.algorithm, "the "+c.one+", by `name` or alias (see list)")
	group(f, option.System)
	c.addOptions(f, false)
	addAlgorithmOptions(f, &c.Config, c.table())
	f.StringVar(&c.setup.Results, "results", "results", "`folder` of all result sets")
	f.StringVar(&c.setup.Set, "set", cmp.Or(c.setup.Set, "bench"),
		"`name` of the result set that the run belongs to")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead of the summary")
	c.required.add(f)
	addNoProgress(f, &c.noProgress)
	group(f, outputFlags)
}

// addOptions adds the flags of the options that the runs of the command may have: those for real runs alone,
// or all others.
func (c *benchCall) addOptions(f *pflag.FlagSet, real bool) {
	for _, o := range option.Table {
		switch {
		case o.Real != real || !c.mayHave(o):
		case o.Name == "plan":
			c.faults.add(f)
			group(f, faultGroup)
		case o.Name == "regions":
			addOption(f, o, &c.regions)
		case !o.Elsewhere:
			addOption(f, o, o.Of(&c.Options))
		}
	}
}

// mayHave reports whether some run of the command may have an option.
func (c *runCommand) mayHave(o *option.Option) bool {
	return slices.ContainsFunc(c.problems, func(p *check.Problem) bool { return o.Is(p.Load) })
}

// addNoProgress adds the flag of all commands that show progress.
func addNoProgress(f *pflag.FlagSet, off *bool) {
	f.BoolVar(off, "no-progress", false, "show no progress, even on a terminal")
}

// longN lets --n stand for --nodes, as -n does.
func longN(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "n" {
		name = "nodes"
	}
	return pflag.NormalizedName(name)
}

// resolve works out what the flags imply, and whether they contradict each other. Of two that do, the one of
// the higher rank counts: the command line overrides the file.
func (c *benchCall) resolve(s settings) error {
	if err := cmp.Or(c.required.parse(), checkSet(&c.setup, nil)); err != nil {
		return err
	}
	row, err := c.row(s)
	if err != nil {
		return err
	}
	c.Spec, c.Problem = row, check.ProblemOf(row)
	if !slices.Contains(c.problems, c.Problem) {
		return s.blame(fmt.Errorf("%s %s: %s", row.Name, c.Problem.Misplaced, c.Problem.Instead), c.naming)
	}
	if err := c.resolveDemand(s); err != nil {
		return s.blame(err, "load", "think", "rate", "arrivals")
	}
	c.resolveEnd(s)
	if err := c.checkControl(s); err != nil {
		return err
	}
	if err := c.resolveRegions(s); err != nil {
		return err
	}
	if !s.given("seed") {
		c.Seed = uint64(rand.Uint32()) // short enough to read out
	}
	if c.Config, err = s.checkOptions(c.Spec, c.Config, s.rank(c.naming)); err != nil {
		return err
	}
	if c.Hosts > 0 && c.NATS == "" && !s.given("brokers") {
		c.Brokers = c.Hosts // one on each
	}
	job, _ := bench.Draft(c.Options, c.Spec, c.Simulated) // Check returns the error
	c.Job = *job
	scene := c.Scene()
	if c.Plan, c.Faults, err = c.faults.resolve(s, scene); err != nil {
		return err
	}
	if scene.Measured != c.Duration { // by the plan
		c.Duration = scene.Measured
		c.resolveEnd(s)
	}
	c.Brokers = scene.Brokers
	if !c.Spec.Broadcasts(c.Config) && s.rank("multicast") < s.rank(c.naming) { // it is for other algorithms
		c.Multicast = false
	}
	return s.blame(hinted(c.Check()))
}

// checkControl says what is missing beside the flags of the control plane of a command line, which would do
// nothing without.
func (c *benchCall) checkControl(s settings) error {
	switch {
	case s.rank("control") == byFlag && c.Hosts == 0:
		return errors.New("--control says by what hosts are reached, and the run has none: add how many it " +
			"takes, as in --hosts 4, or leave it out for this machine alone")
	case s.rank("key") == byFlag && c.control.url == "":
		return errors.New("--key is for the control plane, and the run is given none: add its URL, as in " +
			"--control tls://control:4222")
	}
	return nil
}

// row returns the row of what the run is about.
func (c *benchCall) row(s settings) (*spec, error) {
	if used, err := c.useService(s); used || err != nil {
		return c.Spec, s.blame(err, foreign.ServiceOption)
	}
	if used, err := c.useForeign(s); used || err != nil {
		return c.Spec, s.blame(err, foreignNames...)
	}
	row, err := catalog.Find(c.Algorithm)
	if err != nil {
		_, err = c.find(c.Algorithm)
	}
	return row, s.blame(err, c.naming)
}

// resolveRegions reads the file of regions, if there is one.
func (c *benchCall) resolveRegions(s settings) error {
	if c.regions == "" || s.rank("latency") > s.rank("regions") {
		return nil
	}
	if s.rank("latency") < s.rank("regions") {
		c.Latency = chance.Distribution{}
	}
	text, err := input.Read(c.regions)
	if err != nil {
		return fmt.Errorf("--regions: %w", err)
	}
	if c.Regions, err = chaos.ReadRegions(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("--regions: %s: %w", input.Name(c.regions), err)
	}
	return nil
}

// resolveEnd finds out whether time or entries end the run.
func (c *benchCall) resolveEnd(s settings) {
	switch byTime, byEntries := s.rank("duration"), s.rank("entries"); {
	case byEntries > byTime:
		c.Duration = 0
	case byTime > byEntries:
		c.Entries = 0
	}
	if c.Entries > 0 && s.rank("warmup") < s.rank("entries") {
		c.Warmup = 0
	}
	if c.Entries == 0 && !s.given("warmup") && option.Find("warmup").Is(c.Problem.Load) {
		c.Warmup, c.WarmupLimit = min(c.Duration/10, time.Second), option.WarmupLimit
	}
}

// ownSibling returns the path of a program in the folder of this one.
func ownSibling(name string) string { return filepath.Join(filepath.Dir(terminal.OwnPath()), name) }

// exitStatus returns the exit status of a run that ended with err, which may be nil.
func exitStatus(r *bench.Run, err error) int {
	outcome := r.Outcome()
	if err != nil {
		outcome = max(outcome, check.Inconclusive)
	}
	return outcome.ExitCode()
}
