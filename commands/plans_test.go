package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// resolved returns the options that a call of a command asks for, with what its flags imply.
func resolved(t *testing.T, c *benchCall, args ...string) (*benchCall, error) {
	t.Helper()
	cmd := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
		s, err := settingsOf(cmd)
		if err == nil {
			err = c.resolve(s)
		}
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
		c := &benchCall{runCommand: anyRuns(known{}), Simulated: true}
		_, err := resolved(t, c, strings.Fields(test.args)...)
		if err != nil || c.Duration != test.duration || c.Warmup != test.warmup {
			t.Errorf("%s: %v after %v, %v", test.args, c.Duration, c.Warmup, err)
		}
	}
	simulated := benchCall{runCommand: anyRuns(known{}), Simulated: true}
	_, err := resolved(t, &simulated, "--algo", "bully", "--plan", "parted", "--duration", "3s")
	if err == nil || !strings.Contains(err.Error(), "or measure for longer, with --duration 4s") {
		t.Error(err)
	}
}

// The list says which plans fit an algorithm.
func TestListOfPlans(t *testing.T) {
	_, says := called(t, "plans", "--algo", "raft")
	if !strings.Contains(says, "\nparted ") || strings.Contains(says, "dead-coordinator") {
		t.Errorf("for raft: %s", says)
	}
	if status, says := called(t, "plans", "--algo", "raft", "parted"); status != usage {
		t.Errorf("status %d: %s", status, says)
	}
}
