// Selfbench compares the cost of this tree with an earlier commit: it runs the same commands with the
// programs and benchmarks of both, in turn, and prints the least cost of each. The cost is instructions in
// user space, if perf or QEMU can count them, since these repeat even on shared cores; otherwise CPU time.
//
//	selfbench -base COMMIT [-rounds 3] [-only TEXT]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
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
	if err := flags.Parse(args); err != nil || *base == "" || *rounds < 1 || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "usage: selfbench -base COMMIT [-rounds 3] [-only TEXT]")
		return 64
	}
	measured, err := named(*only)
	commit := ""
	if err == nil {
		commit, err = commitOf(ctx, *base)
	}
	if err != nil {
		fmt.Fprintf(stderr, "selfbench: %v\n", err)
		return 64
	}
	if err := compare(ctx, commit, *rounds, measured, stdout, stderr); err != nil {
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
	realEntry("an entry of ricart, N=8", "ricart", 2000),
	realEntry("an entry of token-ring, N=8", "token-ring", 10000),
}

// named returns the subjects with a text in their names.
func named(text string) (found []subject, err error) {
	all := ""
	for _, s := range subjects {
		if strings.Contains(s.name, text) {
			found = append(found, s)
		}
		all += "\n  " + s.name
	}
	if found == nil {
		return nil, fmt.Errorf("nothing that is measured has %q in its name:%s", text, all)
	}
	return found, nil
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
		return t.trial(m, append([]string{"simulate"}, options...))
	}}
}

// realEntry measures an entry of 8 nodes, in all processes: the slope between a short run and one that has so
// many entries more. QEMU makes it slow to start many nodes.
func realEntry(name, algorithm string, entries int) subject {
	return subject{name, func(m *meter, t *tree) (float64, error) {
		var cost [2]float64
		for i, n := range []int{entries / 10, entries/10 + entries} {
			var err error
			if cost[i], err = t.trial(m, []string{"bench", "--algo=" + algorithm, "-n=8",
				fmt.Sprintf("--entries=%d", n)}); err != nil {
				return 0, err
			}
		}
		return (cost[1] - cost[0]) / float64(entries), nil
	}}
}

// trial makes a run, and returns its cost.
func (t *tree) trial(m *meter, args []string) (cost float64, err error) {
	results, err := os.MkdirTemp(m.folder, "results-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(results)
	args = append(args, "--seed=1", "--results="+results)
	if m.single && args[0] == "bench" {
		return m.countNodes(t, args)
	}
	cost, _, err = m.cost(t.folder, filepath.Join(t.bin, "orchestrator"), args...)
	return cost, err
}

// compare prints a table of the costs of both trees, and tells log what the costs are.
func compare(ctx context.Context, commit string, rounds int, measured []subject, out, log io.Writer) error {
	temp, err := os.MkdirTemp("", "selfbench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	m := newMeter(ctx, temp, log)
	trees, remove, err := buildBoth(ctx, temp, commit)
	if err != nil {
		return err
	}
	defer remove()
	table := terminal.Table{Head: []string{m.unit, commit[:12], "now", "change"}}
	for _, s := range measured {
		least, err := leastOf(m, s, trees, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		table.Add(s.name, figure(least[0]), figure(least[1]), change(least))
	}
	return table.Print(out)
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
