package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/bare"
	"turnstile/bench/option"
	"turnstile/bench/service"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/results"
)

const overheadHelp = `Find out what the testbed itself costs: run the same algorithm, saturated and with no
hold, in the testbed with all its records and checks, and in a bare loop that has none of them, in turn,
and compare the entries per second. The ratio of the two is what counts: each figure alone depends on the
machine.

--service redis,etcd measures the price of the pipe instead: one client of a lock service through a node
process, its lines and its records, against the same client called directly. --into services writes it into
pipe.csv of the set services as well, from where report services has it in its leaderboards.

A pair of which a run fails, or is not valid, is made again, and counted; after as many of them as there are
to be pairs, the command gives up.

The ratio of a row is that of the two figures beside it, but in the last row it is the median of the
ratios. The interval behind it holds the median of all possible pairs, with the probability beside it.

Exit status: 0 measured, 2 given up or interrupted, 64 bad usage, 74 if the output could not be written.`

const overheadExample = `  orchestrator overhead
  orchestrator overhead --service redis,nats-kv
  orchestrator overhead --service redis,etcd --into services
  orchestrator overhead -n 8 --pairs 15 --duration 1s`

// fewestPairs is how many pairs it takes for an interval of 95% (of 98%, to be precise).
const fewestPairs = 7

// quiet is the share of the machine that others may use without a remark.
const quiet = 0.1

// An overheadCall is one call of overhead.
type overheadCall struct {
	bench.OverheadOptions
	setup    bench.Setup
	json     bool
	into     string                   // a set whose pipe.csv is written; empty: none is
	names    []string                 // of services
	services []*bench.OverheadService // of these names
}

func (a *app) overheadCommand() *cobra.Command {
	c := overheadCall{OverheadOptions: bench.OverheadOptions{Seed: 1}}
	cmd, f := a.many(&cobra.Command{
		Use:     "overhead",
		Short:   "Measure what the testbed costs, against a bare loop",
		Long:    overheadHelp,
		Example: overheadExample,
	}, c.check, func(ctx context.Context) error { return a.overhead(ctx, &c) })
	f.IntVarP(&c.Nodes, "nodes", "n", 32, "how many nodes")
	f.IntVar(&c.Pairs, "pairs", fewestPairs, "how many pairs of runs for each algorithm, 7 at least")
	f.DurationVar(&c.Duration, "duration", 2*time.Second, "how long to measure each")
	f.DurationVar(&c.Warmup, "warmup", 500*time.Millisecond,
		"how long to run before measuring (by default also until each node has entered twice, at most 10s)")
	f.StringSliceVar(&c.names, "service", nil, "measure one client of each of these lock `services` instead, "+
		"against the\nsame client called directly")
	f.StringVar(&c.into, "into", "", "with --service: write "+results.PipeFile+" of this `set`, for its report")
	addSetup(f, &c.setup, "")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	return cmd
}

// check completes the call, and says what is wrong with it, if anything is.
func (c *overheadCall) check(s settings) error {
	if !s.given("warmup") {
		c.WarmupLimit = option.WarmupLimit
	}
	switch {
	case c.names != nil && s.given("nodes"):
		return fmt.Errorf("--nodes: the price of the pipe is that of one client: leave out --nodes, or --service")
	case c.into != "" && c.names == nil:
		return fmt.Errorf("--into: pipe.csv has the price of the pipe to services: add --service redis")
	case c.Nodes < 2:
		return fmt.Errorf("--nodes: %d: it takes at least 2 to send a message", c.Nodes)
	case c.Pairs < fewestPairs:
		return fmt.Errorf("--pairs: %d: it takes at least %d to tell a ratio from noise", c.Pairs, fewestPairs)
	case c.Duration <= 0:
		return fmt.Errorf("--duration %v: it takes a time to measure for, such as 2s", c.Duration)
	case c.Warmup < 0:
		return fmt.Errorf("--warmup %v: time does not run backwards", c.Warmup)
	}
	equip(&c.setup)
	if err := c.Validate(c.setup); err != nil {
		return err
	}
	return c.describeServices()
}

// describeServices asks the services that are named what a run has to know of them.
func (c *overheadCall) describeServices() error {
	for _, name := range c.names {
		command, err := serviceProgram(name)
		if err != nil {
			return err
		}
		program := service.Program{Command: command, Name: name, Server: c.setup.ServerProgram}
		config := option.Defaults().Config
		config.N = 1
		of, d, err := subjectOf(context.Background(), &program, config)
		switch {
		case err != nil:
			return fmt.Errorf("%w%s", err, alsoHere(err))
		case d.Elects:
			return fmt.Errorf("--service: %s elects leaders, and has no entries to be counted", name)
		}
		c.services = append(c.services, &bench.OverheadService{Row: of.Spec, Config: of.Config,
			Servers: of.Servers})
	}
	return nil
}

// An overheadSubject is what is measured in pairs.
type overheadSubject struct {
	name, head string // head is printed above the pairs
	bare       string // what the testbed is compared with
	measure    func(ctx context.Context, onPair func(int, bench.Pair)) (*bench.OverheadResult, error)
}

// subjects returns what is to be measured.
func (c *overheadCall) subjects() (all []overheadSubject) {
	for _, of := range c.services {
		all = append(all, overheadSubject{of.Row.Name, of.Row.Name + ", one client, saturated, hold 0", "direct",
			func(ctx context.Context, onPair func(int, bench.Pair)) (*bench.OverheadResult, error) {
				return bench.ServiceOverhead(ctx, c.OverheadOptions, of, c.setup, onPair)
			}})
	}
	if len(all) > 0 {
		return all
	}
	for _, algorithm := range []string{bare.Ring, bare.Ricart} {
		o := c.OverheadOptions
		o.Algorithm = algorithm
		all = append(all, overheadSubject{algorithm,
			fmt.Sprintf("%s, %d nodes, saturated, hold 0", algorithm, c.Nodes), "bare",
			func(ctx context.Context, onPair func(int, bench.Pair)) (*bench.OverheadResult, error) {
				return bench.Overhead(ctx, o, c.setup, onPair)
			}})
	}
	return all
}

func (a *app) overhead(ctx context.Context, c *overheadCall) error {
	c.setup.Set = "overhead"
	var all []*bench.OverheadResult
	subjects := c.subjects()
	each := 2 * time.Duration(c.Pairs) * (c.Warmup + c.Duration) // a pair is two measurements
	bar := a.newBar(false, time.Duration(len(subjects))*each)
	defer bar.clear()
	for at, of := range subjects {
		if !c.json {
			fmt.Fprintf(a.stdout, "%s: entries per second\n", of.head)
			fmt.Fprintf(a.stdout, "  %4s %10s %10s %8s\n", "pair", "testbed", of.bare, "ratio")
		}
		r, err := of.measure(ctx, func(i int, p bench.Pair) {
			if c.json {
				bar.show((float64(at)+float64(i)/float64(c.Pairs))/float64(len(subjects)),
					fmt.Sprintf("%s, pair %d of %d", of.name, i, c.Pairs))
			} else {
				fmt.Fprintf(a.stdout, "  %4d %10.0f %10.0f %8.3f\n", i, p.Testbed, p.Bare, p.Ratio())
			}
		})
		if err != nil {
			return failure{err, check.Inconclusive.ExitCode()}
		}
		all = append(all, r)
		if r.Unlucky > 0 {
			fmt.Fprintf(a.stderr, "orchestrator: %s of %s made again, since a run failed; the last: %s\n",
				english.Count(r.Unlucky, "pair", "pairs"), of.name, r.LastFailure)
		}
		if !c.json {
			fmt.Fprintf(a.stdout, "%6s %10.0f %10.0f %8.3f  (%.3f to %.3f, %.0f%%)\n", "median",
				r.Testbed, r.Bare, r.Ratio, r.Low, r.High, 100*r.Coverage)
			if r.Others > quiet {
				fmt.Fprintf(a.stdout, "%6s others used %.0f%% of the machine: repeat it when they are done\n", "",
					100*r.Others)
			}
			fmt.Fprintln(a.stdout)
		}
	}
	if c.into != "" {
		if err := a.storePipes(c, all); err != nil {
			return failure{err, unwritten}
		}
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, all)
	}
	return nil
}

// storePipes writes what was measured of services into a set, beside what that has of others.
func (a *app) storePipes(c *overheadCall, all []*bench.OverheadResult) error {
	rows, err := (&results.Set{Path: filepath.Join(c.setup.Results, c.into)}).Pipe()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, r := range all {
		rows = slices.DeleteFunc(rows, func(old results.PipeRow) bool { return old.Service == r.Algorithm })
		rows = append(rows, results.PipeRow{Service: r.Algorithm, Pairs: len(r.Pairs),
			Testbed: figure.Number(r.Testbed), Direct: figure.Number(r.Bare), Ratio: figure.Number(r.Ratio),
			Low: figure.Number(r.Low), High: figure.Number(r.High), Coverage: figure.Number(r.Coverage),
			Others: figure.Number(r.Others)})
	}
	slices.SortFunc(rows, func(a, b results.PipeRow) int { return strings.Compare(a.Service, b.Service) })
	path, err := results.WriteSetTable(c.setup.Results, c.into, results.PipeFile, rows)
	if err == nil && !c.json {
		fmt.Fprintf(a.stdout, "The table is %s.\n", path)
	}
	return err
}
