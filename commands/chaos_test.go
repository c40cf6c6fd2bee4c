package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// called makes a call, and returns its status and all that it prints.
func called(t *testing.T, args ...string) (status int, says string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	status = run(t.Context(), program{}, args, &out, &out)
	return status, out.String()
}

// The plan of a campaign can be repeated by its name, even if messages of the detector have the same names as
// messages of the algorithm. Faults may also hit only messages of the detector.
func TestPlansOfElectorsAreRepeatedByName(t *testing.T) {
	for seed := range 20 {
		if status, says := called(t, "simulate", "--algo", "bully-shared-disk", "-n", "3", "--duration", "5s",
			"--plan", fmt.Sprintf("random:%d", seed)); status == usage {
			t.Errorf("seed %d: %s", seed, says)
		}
	}
	if status, says := called(t, "simulate", "--algo", "bully", "-n", "3", "--duration", "2s", "--fault",
		"delay: 10ms, kind: beat, at: 1s, for: 100ms"); status == usage {
		t.Errorf("a message of the detector: %s", says)
	}
}

// A campaign of which no run shows anything says so in its last line, and is not taken for a success.
func TestCampaignsThatShowNothing(t *testing.T) {
	status, says := called(t, "chaos", "--algo", "bully-no-timeout", "--simulated", "1", "--real", "0", "--seed",
		"2")
	lines := strings.Split(strings.TrimSpace(says), "\n")
	last := lines[len(lines)-1]
	if status != 2 || !strings.HasPrefix(last, "No run is conclusive. 0 of 1 plan valid") ||
		!strings.Contains(last, "not caught: bully-no-timeout") {
		t.Errorf("%d: %s", status, says)
	}
	status, says = called(t, "chaos", "--algo", "bully", "--simulated", "40", "--real", "0")
	lines = strings.Split(strings.TrimSpace(says), "\n")
	if last = lines[len(lines)-1]; status != 0 || !strings.HasPrefix(last, "Nothing is wrong. ") {
		t.Errorf("%d: %s", status, says)
	}
}

// Flags of chaos and of chaos services are checked.
func TestFlagsOfHunts(t *testing.T) {
	for args, says := range map[string]string{
		"--algo bully --compare 3":                      "leave out --compare",
		"services --plans 0":                            "--plans: 0: write a number from 1",
		"services --workers 0":                          "--workers: 0: write a number from 1 to 64",
		"services --only consul":                        `no plans are drawn for "consul": write one of `,
		"services --known --client true --only nats-kv": "leave out --known",
		"services --client true":                        "add --only NAME",
		"services --limit -1s":                          "--limit: -1s: write a length of time",
		"services --shrink -1":                          "--shrink: -1: write a number from 0",
		"services --set ../elsewhere":                   "elsewhere",
	} {
		status, out := called(t, append([]string{"chaos"}, strings.Fields(args)...)...)
		if status != usage || !strings.Contains(out, says) {
			t.Errorf("chaos %s: %d: %s", args, status, out)
		}
	}
}
