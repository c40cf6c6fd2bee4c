package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"turnstile/nodes/mutex"
)

// Real processes and the simulator agree on what an entry costs, to the last message: one request at a time,
// from the same nodes in the same order, or, of what goes round for ever, under a saturated load.
func TestRealAndSimulatedRunsAgree(t *testing.T) {
	for _, row := range mutex.Table {
		t.Run(row.Name, func(t *testing.T) {
			load := "sequential"
			if row.Circulates {
				load = "saturated"
			}
			perEntry := func(command string) float64 {
				cmd := exec.Command(filepath.Join(programs, "orchestrator"), command, "--algo", row.Name,
					"-n", "5", "--load", load, "--entries", "60", "--seed", "11", "--latency", "0",
					"--json", "--results", t.TempDir())
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
				}
				var d struct {
					Trials []struct {
						Row struct {
							MessagesPerEntry *float64 `json:"messages_per_entry"`
						}
					}
				}
				if err := json.Unmarshal(out, &d); err != nil {
					t.Fatal(err)
				}
				if d.Trials[0].Row.MessagesPerEntry == nil {
					t.Fatalf("%s says nothing of messages per entry", command)
				}
				return *d.Trials[0].Row.MessagesPerEntry
			}
			if bench, simulate := perEntry("bench"), perEntry("simulate"); bench != simulate {
				t.Errorf("%v messages per entry in processes, and %v simulated", bench, simulate)
			}
		})
	}
}
