package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/algorithms/election"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// The net has results of the simulator, the explorer and the studies for each algorithm, recorded before the
// code was restructured. A refactoring must not change them; a commit that changes some says why.
var rewriteNet = flag.Bool("rewrite-net", false, "write the whole of testdata/net anew: not with -short")

// agrees compares results of algorithms, a list of lines for each, with a file of the net. Algorithms that
// were not tried are ignored.
func agrees(t *testing.T, file string, says map[string][]string) {
	t.Helper()
	path := filepath.Join("testdata", "net", file)
	text, err := os.ReadFile(path)
	if err != nil && !(*rewriteNet && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	if *rewriteNet {
		var b bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(says)) {
			for _, line := range says[name] {
				fmt.Fprintf(&b, "%s: %s\n", name, line)
			}
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		want[name] = append(want[name], rest)
	}
	for name, lines := range says {
		for i, line := range lines {
			if i >= len(want[name]) || want[name][i] != line {
				t.Errorf("%s: %s\n%s\nand %s has\n%s", name, file, line, path, lineAt(want[name], i))
			}
		}
		if len(lines) < len(want[name]) {
			t.Errorf("%s: %s has %d lines, and %d are said", name, path, len(want[name]), len(lines))
		}
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// A digest is a fold that digests the events of a history.
type digest struct {
	bytes.Buffer
	events int
}

// Add implements history.Fold.
func (d *digest) Add(e history.Event) {
	d.events++
	if err := binary.Write(d, binary.LittleEndian, e); err != nil {
		panic(err) // impossible: all fields of an event have a fixed size
	}
}

// Close implements history.Fold.
func (*digest) Close([]*history.NodeLog) {}

// netOptions returns the options of a run of the net.
func netOptions(spec *algorithm.Algorithm, seed uint64) bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Seed = spec.Name, 5, seed
	o.Duration, o.Warmup, o.WarmupLimit = time.Second, 0, 0
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
	if spec.Kind == nodes.Election {
		o.Workload = workload.Workload{Load: workload.Campaign}
	}
	return o
}

// The history of each algorithm, for a seed without faults and for one under a drawn plan.
func TestNetOfHistories(t *testing.T) {
	t.Parallel()
	says := map[string][]string{}
	for _, spec := range (catalog.Table{}).Algorithms() {
		for seed := range uint64(2) {
			o := netOptions(spec, seed+1)
			if seed == 1 {
				draft, err := bench.NewDraft(catalog.Table{}, o, spec, true)
				if err != nil {
					t.Fatal(err)
				}
				plan, _, err := chaos.FindPlan("random:1", draft.Scene())
				if err != nil {
					t.Fatal(err)
				}
				o.Plan, o.Faults = plan.Name, plan.Faults
			}
			j, err := bench.Resolve(catalog.Table{}, o, spec, true)
			if err != nil {
				t.Fatalf("%s: %v", spec.Name, err)
			}
			var d digest
			tried, err := bench.Simulate(t.Context(), j, &d)
			if err != nil {
				t.Fatalf("%s: %v", spec.Name, err)
			}
			says[spec.Name] = append(says[spec.Name], fmt.Sprintf("seed %d, %d events, %x, %v", seed+1, d.events,
				sha256.Sum256(d.Bytes()), tried.Verdict.Outcome))
		}
	}
	agrees(t, "histories.txt", says)
}

// The outcome of each algorithm under each plan.
func TestNetOfTheMatrix(t *testing.T) {
	t.Parallel()
	says := map[string][]string{}
	for _, spec := range soak.Few(catalog.Table{}.Algorithms()) {
		m := some(spec)
		m.Runs = 2
		cells, err := m.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			r := c.Row(false)
			says[spec.Name] = append(says[spec.Name], fmt.Sprint(r.Fault, " ", r.May, " ", r.Shown, " ", r.Differs))
		}
	}
	agrees(t, "matrix.txt", says)
}

// The leaders on each side of a cut, for each scheme.
func TestNetOfSplitBrains(t *testing.T) {
	t.Parallel()
	says := map[string][]string{}
	for _, r := range rowsOf(t, &SplitBrain{Experiment: of(soak.Few(election.Table)...), N: 5}) {
		var cells []string
		for column, value := range results.Cells(*r) {
			if text := fmt.Sprint(value); column != "run" && column != "version" && text != "" {
				cells = append(cells, column+"="+text)
			}
		}
		says[r.Algorithm] = append(says[r.Algorithm], strings.Join(cells, " "))
	}
	agrees(t, "split-brain.txt", says)
}

// Each published figure as it is reproduced.
func TestNetOfPublishedFigures(t *testing.T) {
	t.Parallel()
	says := map[string][]string{}
	algos := soak.Few(slices.Concat(catalog.Table{}.Algorithms(), detector.Table))
	figures, _, err := (&Experiment{Algorithms: algos, Seed: 1}).Reproduce(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		says[f.Spec.Name] = append(says[f.Spec.Name], fmt.Sprintf("%s, %d nodes: %.4f of %.4f to %.4f, %v",
			f.Figure, f.Config.N, f.Measured, f.Published.Min, f.Published.Max, f.Holds))
	}
	agrees(t, "published.txt", says)
}

// The states of each algorithm with two nodes and two entries each: at most 20,000 states per algorithm.
func TestNetOfExplorations(t *testing.T) {
	t.Parallel()
	says := map[string][]string{}
	for _, spec := range soak.Few(catalog.Table{}.Algorithms()) {
		config := spec.Explicit(nodes.Config{N: 2})
		x, err := explore.Run(explore.Space{Spec: spec, Config: config, Entries: 2, States: 20_000,
			Reordering: (spec.SafeIn(config)|spec.LiveIn(config))&nodes.FIFO == 0})
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		line := fmt.Sprintf("exhausted %v %s, %d states, %d transitions, %d entries, depth %d",
			x.Exhausted, x.Bound, x.States, x.Transitions, x.Entries, x.Depth)
		if v := x.Violation; v != nil {
			line += fmt.Sprintf(", %s after %d steps", v.Check, len(v.Schedule.Steps))
		}
		says[spec.Name] = append(says[spec.Name], line)
	}
	agrees(t, "explored.txt", says)
}
