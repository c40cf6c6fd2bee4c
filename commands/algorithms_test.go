package commands

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// eachAlgorithm runs a test, which starts processes, as a subtest for each algorithm.
func eachAlgorithm(t *testing.T, test func(t *testing.T, algo *algorithm.Algorithm)) {
	t.Parallel()
	build(t)
	for _, algo := range soak.Few(mutex.Table) {
		t.Run(algo.Name, func(t *testing.T) { test(t, algo) })
	}
}

// A judged is the verdict on a run of one trial, and its row of runs.csv.
type judged struct {
	Verdict string
	Trials  []struct {
		Row struct {
			Entries  float64
			PerEntry *float64 `json:"messages_per_entry"`
		}
		Verdict struct {
			Findings []struct{ Check, Outcome, Says string }
		}
	}
}

// judge makes a run of an algorithm, by the command bench or simulate.
func judge(t *testing.T, command string, algo *algorithm.Algorithm, n int, more ...string) (j judged) {
	t.Helper()
	args := []string{command, "--algo", algo.Name, "-n", strconv.Itoa(n), "--entries", "60", "--json"}
	cmd := orchestrator(t, t.TempDir(), append(args, more...)...)
	out, err := cmd.Output()
	if err != nil {
		skipIfBusy(t, cmd.Dir)
	}
	if err == nil {
		err = json.Unmarshal(out, &j)
	}
	if err != nil || len(j.Trials) != 1 || j.Trials[0].Row.PerEntry == nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return j
}

// Every algorithm that is not known to be broken is valid in real processes, and costs what was published.
func TestAlgorithmsAreSoundInProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it: TestAlgorithmsCostTheSameSimulated makes a run of each algorithm")
	}
	eachAlgorithm(t, func(t *testing.T, one *algorithm.Algorithm) {
		if one.Flaw != nil {
			t.Skip("it is known to be broken")
		}
		for _, n := range soak.Pick(nil, []int{1, 2, 5}, []int{1, 2, 5, 9, 16, 32}) {
			j := judge(t, "bench", one, n)
			if entries := j.Trials[0].Row.Entries; j.Verdict != "valid" || entries != 60 {
				t.Errorf("n=%d: %s, %v entries", n, j.Verdict, entries)
			}
			if one.Exclusion().Cost(nodes.Config{N: n}).Saturated == algorithm.Unbounded(0) {
				continue // nothing is published
			}
			for _, f := range j.Trials[0].Verdict.Findings {
				if f.Check == "cost" && (f.Outcome != "valid" || !strings.Contains(f.Says, "published: ")) {
					t.Errorf("n=%d: %s: %s", n, f.Outcome, f.Says)
				}
			}
		}
	})
}

// Real processes and the simulator agree exactly on the messages per entry: with one request at a time, from
// the same nodes in the same order or, if messages circulate even without requests, under a saturated load.
// All timeouts are longer than a process may have to wait for a processor.
func TestAlgorithmsCostTheSameSimulated(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algo *algorithm.Algorithm) {
		if algo.Broken().Alone {
			t.Skip("it is known to stop even if requests come one at a time")
		}
		load := "sequential"
		if algo.Circulates {
			load = "saturated"
		}
		flags := []string{"--load", load, "--seed", "11", "--latency", "0"}
		for _, timeout := range []string{"retry", "loss-timeout"} {
			if algo.Option(timeout) != nil {
				flags = append(flags, "--"+timeout, "20s")
			}
		}
		if algo.Detects != "" {
			flags = append(flags, "--detector", "heartbeat:timeout=20s")
		}
		perEntry := func(command string) float64 {
			j := judge(t, command, algo, 5, flags...)
			return *j.Trials[0].Row.PerEntry
		}
		if bench, simulate := perEntry("bench"), perEntry("simulate"); bench != simulate {
			t.Errorf("%v messages per entry in processes, and %v simulated", bench, simulate)
		}
	})
}
