package main

import (
	"encoding/json"
	"strconv"
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// eachRow has a test start processes for each row, in its name.
func eachRow(t *testing.T, test func(t *testing.T, row *nodes.Spec)) {
	t.Parallel()
	build(t)
	for _, row := range mutex.Table {
		t.Run(row.Name, func(t *testing.T) { test(t, row) })
	}
}

// A judged is the verdict on a run of one trial, and its row of runs.csv.
type judged struct {
	Verdict string
	Trials  []struct {
		Row struct {
			Entries  float64
			PerEntry *float64 `json:"messages_per_entry"`
			Min      *float64 `json:"published_min"`
			Max      *float64 `json:"published_max"`
		}
	}
}

// judge makes a run of a row, by the command bench or simulate.
func judge(t *testing.T, command string, row *nodes.Spec, n int, more ...string) (j judged) {
	t.Helper()
	args := []string{command, "--algo", row.Name, "-n", strconv.Itoa(n), "--entries", "60", "--json"}
	cmd := orchestrator(t, t.TempDir(), append(args, more...)...)
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &j)
	}
	if err != nil || len(j.Trials) != 1 || j.Trials[0].Row.PerEntry == nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return j
}

// Every row that is not known to be broken is valid in real processes, and costs what was published.
func TestRowsAreSoundInProcesses(t *testing.T) {
	eachRow(t, func(t *testing.T, row *nodes.Spec) {
		if row.Broken != "" {
			t.Skip("it is known to be broken")
		}
		for _, n := range soak.Pick(nil, []int{1, 2, 5}, []int{1, 2, 5, 9, 16, 32}) {
			j := judge(t, "bench", row, n)
			r := j.Trials[0].Row
			switch {
			case j.Verdict != "valid" || r.Entries != 60:
				t.Errorf("n=%d: %s, %v entries", n, j.Verdict, r.Entries)
			case r.Min == nil && row.Cost(nodes.Config{N: n}).Saturated != nodes.Unbounded(0):
				t.Errorf("n=%d: it is not known what was published", n)
			case r.Min == nil: // nothing is
			case *r.PerEntry < *r.Min-1e-9 || r.Max != nil && *r.PerEntry > *r.Max+1e-9:
				t.Errorf("n=%d: %v messages per entry, published: %v to %v", n, *r.PerEntry, *r.Min, r.Max)
			}
		}
	})
}

// Real processes and the simulator agree on what an entry costs, to the last message: one request at a time,
// from the same nodes in the same order, or, of what goes round for ever, under a saturated load.
func TestRowsCostTheSameSimulated(t *testing.T) {
	eachRow(t, func(t *testing.T, row *nodes.Spec) {
		load := "sequential"
		if row.Circulates {
			load = "saturated"
		}
		perEntry := func(command string) float64 {
			j := judge(t, command, row, 5, "--load", load, "--seed", "11", "--latency", "0")
			return *j.Trials[0].Row.PerEntry
		}
		if bench, simulate := perEntry("bench"), perEntry("simulate"); bench != simulate {
			t.Errorf("%v messages per entry in processes, and %v simulated", bench, simulate)
		}
	})
}
