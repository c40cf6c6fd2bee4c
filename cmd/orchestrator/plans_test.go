package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
)

// resolved returns the options that a call of a command asks for, with what its flags imply.
func resolved(t *testing.T, c *benchCall, args ...string) (*benchCall, error) {
	t.Helper()
	cmd := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
		_, err := settle(cmd, c.resolve)
		return err
	}}
	c.addRunFlags(cmd.Flags())
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return c, cmd.Execute()
}

// A flag overrides how long a plan has a run measured.
func TestDurationOfPlan(t *testing.T) {
	for _, test := range []struct {
		args             string
		duration, warmup time.Duration
	}{
		{"--algo bully --plan parted", 6 * time.Second, 0},
		{"--algo bully --plan parted --duration 9s", 9 * time.Second, 0},
		{"--algo ricart --plan flapping-links", 6 * time.Second, 600 * time.Millisecond},
		{"--algo ricart --plan flapping-links --entries 100", 0, 0},
		{"--algo ricart --plan one-way", 3 * time.Second, 300 * time.Millisecond},
	} {
		c := &benchCall{runCommand: simulateRuns, Job: bench.Job{Simulated: true}}
		_, err := resolved(t, c, strings.Fields(test.args)...)
		if err != nil || c.Duration != test.duration || c.Warmup != test.warmup {
			t.Errorf("%s: %v after %v, %v", test.args, c.Duration, c.Warmup, err)
		}
	}
	simulated := benchCall{runCommand: simulateRuns, Job: bench.Job{Simulated: true}}
	_, err := resolved(t, &simulated, "--algo", "bully", "--plan", "parted", "--duration", "3s")
	if err == nil || !strings.Contains(err.Error(), "or measure for longer, with --duration 4s") {
		t.Error(err)
	}
}

// The list says which plans are for elections, and which fit an algorithm.
func TestListOfPlans(t *testing.T) {
	listed := func(args ...string) []string {
		var out bytes.Buffer
		if status := run(t.Context(), append([]string{"plans"}, args...), &out, io.Discard); status != 0 {
			t.Errorf("plans %v: status %d", args, status)
		}
		return strings.Split(out.String(), "\n")
	}
	at := func(lines []string, name string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") })
	}
	all := listed()
	elections := slices.IndexFunc(all, func(l string) bool { return strings.HasSuffix(l, "for elections)") })
	both := slices.IndexFunc(all, func(l string) bool { return strings.HasSuffix(l, "for both)") })
	if a, b, c := at(all, "lost-token"), at(all, "parted"), at(all, "restarts"); a < 0 || a > elections ||
		b < elections || b > both || c < both {
		t.Errorf("lines %d, %d below %d, %d below %d", a, b, elections, c, both)
	}
	raft := listed("--algo", "raft")
	if at(raft, "parted") < 0 || at(raft, "dead-coordinator") >= 0 || at(raft, "lost-token") >= 0 {
		t.Errorf("for raft: %q", raft)
	}
	twice := []string{"plans", "--algo", "raft", "parted"}
	if status := run(t.Context(), twice, io.Discard, io.Discard); status != usage {
		t.Errorf("%v: status %d", twice, status)
	}
}
