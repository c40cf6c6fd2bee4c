package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/results"
)

// Numbers and names beyond all bounds are refused before anything is built from them.
func TestNumbersAndNamesAreBounded(t *testing.T) {
	name := strings.Repeat("a", 100_000)
	for _, test := range []struct{ args, says string }{
		{"simulate --algo ricart -n 9223372036854775807", "a run takes at most 1048576"},
		{"simulate --algo ricart -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo naimi -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo bully -n 2147483648", "a run takes at most 1048576"},
		{"bench --algo maekawa -n 2147483648", "a run takes at most 1048576"},
		{"sweep --algo ricart -n 2147483648", "a run takes at most 1048576"},
		{"explore --algo ricart -n 9223372036854775807", "a run takes at most 1048576"},
		{"list -n 9223372036854775807", "a run takes at most 1048576"},
		{"list ricart -n 2147483648", "a run takes at most 1048576"},
		{"simulate --algo ricart --trials 100000000", "at most 100000 trials"},
		{"simulate --algo ricart --duration 1s --trials 100000000", "take 2.78e+04 hours in all"},
		{"bench --algo ricart --trials 100000000", "at most 100000 trials"},
		{"list " + name, "unknown algorithm"},
		{"list columns " + name, "there is no table or column"},
		{"simulate --algo " + name, "unknown algorithm"},
		{"simulate --algo bully --detector " + name, "unknown failure detector"},
	} {
		var out bytes.Buffer
		status := run(t.Context(), program{}, strings.Fields(test.args), &out, &out)
		if says := out.String(); status != usage || !strings.Contains(says, test.says) {
			t.Errorf("%.60s: status %d, %.300s", test.args, status, says)
		}
	}
}

// A picture of too many nodes is refused by the number in run.yaml, before the history is read.
func TestTooManyNodesAreToldBeforeReading(t *testing.T) {
	dir := simulatedRun(t, "--algo ricart -n 61 --entries 61")
	if err := os.WriteFile(filepath.Join(dir, "history-1.zst"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"":              "61 nodes are too many for a readable picture, which has at most 60",
		"--nodes 0-60":  "61 nodes are too many",
		"--nodes 60-61": "--nodes: ",
		"--nodes 0-2":   "history-1.zst",
	} {
		var out bytes.Buffer
		call := append([]string{"runs", "diagram", dir}, strings.Fields(args)...)
		status := run(t.Context(), program{}, call, &out, &out)
		if status == 0 || !strings.Contains(out.String(), says) {
			t.Errorf("%s: status %d, %s", args, status, &out)
		}
	}
}

// That a run has too many messages is told by its counters, before it is simulated again: the run of this
// record would differ.
func TestTooManyMessagesAreToldBeforeSimulating(t *testing.T) {
	dir := simulatedRun(t, "--algo ricart -n 400 --entries 250 --latency exponential:1ms --seed 7")
	record := filepath.Join(dir, results.RunFile)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	sealed := strings.Index(string(text), "checksum: ")
	other := strings.ReplaceAll(string(text[:sealed]), "seed: 7\n", "seed: 8\n")
	if err := os.WriteFile(record, results.Sealed([]byte(other)), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"": "--to shiviz writes at most 167,772 messages and 1,000,000 requests, and there are 199,500 messages " +
			"and 250 requests: choose a shorter time by --from and --until",
		"--until 1ms": "this version simulates it differently",
	} {
		var out bytes.Buffer
		call := append([]string{"runs", "export", "--to", "shiviz", dir}, strings.Fields(args)...)
		if status := run(t.Context(), program{}, call, &out, &out); status == 0 ||
			!strings.Contains(out.String(), says) {
			t.Errorf("%s: status %d, %.300s", args, status, &out)
		}
	}
}

// Commands that make many runs refuse results that cannot be written before they make the first run.
func TestResultsAreWritableBeforeTheFirstRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	here := program{node: []string{os.Args[0]}}
	for _, call := range []string{"bench -n 2", "simulate -n 2", "sweep --algo ricart -n 2 --simulated",
		"matrix", "matrix --simulated", "matrix failover", "matrix failures", "split-brain",
		"split-brain --simulated", "chaos", "chaos services"} {
		var out bytes.Buffer
		status := run(t.Context(), here, append(strings.Fields(call), "--results", file), &out, &out)
		says := out.String()
		if status != usage || strings.Count(says, "results cannot be written to "+file) != 1 {
			t.Errorf("%s: status %d, %.300s", call, status, says)
		}
	}
}
