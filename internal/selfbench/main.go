// Selfbench compares the cost of this tree with an earlier commit: it runs the same commands with the
// programs and benchmarks of both, in turn, and prints the least cost of each. The cost is instructions in
// user space, if perf can count them, since these repeat within 1% even on shared cores; otherwise CPU time.
//
//	selfbench -base COMMIT [-rounds 3] [-only TEXT]
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"turnstile/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (exitStatus int) {
	flags := flag.NewFlagSet("selfbench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	base := flags.String("base", "", "the commit to compare with")
	rounds := flags.Int("rounds", 3, "how often each command is run with either")
	only := flags.String("only", "", "measure what has this in its name")
	if err := flags.Parse(args); err != nil || *base == "" {
		fmt.Fprintln(stderr, "usage: selfbench -base COMMIT [-rounds 3] [-only TEXT]")
		return 64
	}
	if err := compare(ctx, *base, *rounds, *only, stdout); err != nil {
		fmt.Fprintf(stderr, "selfbench: %v\n", err)
		return 1
	}
	return 0
}

// A subject is something whose cost is measured, per unit of work: an entry, an operation of a benchmark.
type subject struct {
	name    string
	measure func(m *meter, t *tree) (float64, error)
}

var subjects = []subject{
	benchmark("Delivery, 1ms", "nodes/sim", "Delivery/1ms$", 2),
	benchmark("Delivery, exponential:1ms", "nodes/sim", "Delivery/exponential:1ms$", 2),
	benchmark("Explore", "nodes/explore", "Explore/ricart-agrawala-n3-e4/workers=1$", 1),
	benchmark("Judging, 100,000 clients", "bench", "Judging/plain/checks/100000$", 1),
	benchmark("Judging, one of them is cut off", "bench", "Judging/cut/checks/100000$", 1),
	simulation("simulate ricart, N=32", "--algo=ricart", "-n=32", "--entries=50000"),
	simulation("simulate naimi-trehel, N=16,000", "--algo=naimi-trehel", "-n=16000", "--entries=200000"),
	realEntry("an entry of ricart, N=32", "--algo=ricart", "-n=32"),
	realEntry("an entry of token-ring, N=32", "--algo=token-ring", "-n=32"),
}

// benchmark measures one iteration of a benchmark.
func benchmark(name, pkg, pattern string, iterations int) subject {
	return subject{name, func(m *meter, t *tree) (float64, error) {
		binary := filepath.Join(t.bin, filepath.Base(pkg)+".test")
		cost, out, err := m.cost(filepath.Join(t.folder, pkg), binary, "-test.run=^$", "-test.bench="+pattern,
			fmt.Sprintf("-test.benchtime=%dx", iterations))
		if err == nil && !strings.Contains(out, "Benchmark") {
			return 0, errAbsent
		}
		return cost / float64(iterations), err
	}}
}

// simulation measures a simulated run, from its options to its stored verdict.
func simulation(name string, options ...string) subject {
	return subject{name, func(m *meter, t *tree) (float64, error) {
		cost, _, err := t.trial(m, append([]string{"simulate", "--seed=1"}, options...))
		return cost, err
	}}
}

// realEntry measures an entry in all processes of a run: the slope between a short run and a long one.
func realEntry(name string, options ...string) subject {
	return subject{name, func(m *meter, t *tree) (float64, error) {
		var cost, entries [2]float64
		for i, duration := range []string{"--duration=2s", "--duration=8s"} {
			var err error
			if cost[i], entries[i], err = t.trial(m, append([]string{"bench", duration}, options...)); err != nil {
				return 0, err
			}
		}
		return (cost[1] - cost[0]) / (entries[1] - entries[0]), nil
	}}
}

// trial makes a run, and returns its cost and how many entries it had.
func (t *tree) trial(m *meter, args []string) (cost, entries float64, err error) {
	results, err := os.MkdirTemp("", "selfbench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(results)
	cost, _, err = m.cost(t.folder, filepath.Join(t.bin, "orchestrator"), append(args, "--results="+results)...)
	if err != nil {
		return 0, 0, err
	}
	tables, err := filepath.Glob(filepath.Join(results, "*", "*", "runs.csv"))
	if err != nil || len(tables) != 1 {
		return 0, 0, fmt.Errorf("%v left %d tables: %v", args, len(tables), err)
	}
	entries, err = entriesIn(tables[0])
	return cost, entries, err
}

// entriesIn returns how many entries the one trial of a table had.
func entriesIn(table string) (float64, error) {
	file, err := os.Open(table)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 2 {
		return 0, fmt.Errorf("%s has %d lines: %v", table, len(rows), err)
	}
	at := slices.Index(rows[0], "entries")
	if at < 0 {
		return 0, fmt.Errorf("%s has no column entries", table)
	}
	return strconv.ParseFloat(rows[1][at], 64)
}

// compare prints a table of the costs of both trees.
func compare(ctx context.Context, base string, rounds int, only string, stdout io.Writer) error {
	trees, remove, err := buildBoth(ctx, base)
	if err != nil {
		return err
	}
	defer remove()
	m := newMeter(ctx)
	table := terminal.Table{Head: []string{m.unit, base[:min(12, len(base))], "now", "change"}}
	for _, s := range subjects {
		if !strings.Contains(s.name, only) {
			continue
		}
		least, err := leastOf(m, s, trees, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		table.Add(s.name, figure(least[0]), figure(least[1]), change(least))
	}
	return table.Print(stdout)
}

// leastOf measures a subject in both trees, in turn, and returns the least cost in each; 0: no such subject.
func leastOf(m *meter, s subject, trees [2]*tree, rounds int) (least [2]float64, err error) {
	for round := range rounds {
		for i, t := range trees {
			cost, err := s.measure(m, t)
			if err == errAbsent {
				continue
			}
			if err != nil {
				return least, err
			}
			if round == 0 || cost < least[i] {
				least[i] = cost
			}
		}
	}
	return least, nil
}

func figure(cost float64) string {
	switch {
	case cost == 0:
		return "-"
	case cost >= 1e6:
		return fmt.Sprintf("%.2f M", cost/1e6)
	}
	return fmt.Sprintf("%.0f", cost)
}

func change(of [2]float64) string {
	if of[0] == 0 || of[1] == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*(of[1]/of[0]-1))
}
