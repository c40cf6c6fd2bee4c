package main

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/internal/terminal"
	"turnstile/nodes/mutex"
	"turnstile/nodes/workload"
)

// The command that repeats a run asks for just that run.
func TestCommandOfRun(t *testing.T) {
	row, err := mutex.Find("raymond")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []workload.Workload{
		{Load: workload.Saturated}, {Load: workload.Sequential},
		{Load: workload.Closed, Think: chance.Constant(time.Millisecond)},
		{Load: workload.Open, Rate: 20, Evenly: true},
	} {
		o := bench.Defaults()
		o.Algorithm, o.Config.N, o.Workload, o.Seed = row.Name, 5, w, 77
		o.Latency, o.Duration, o.Warmup = chance.Constant(time.Millisecond), time.Second, time.Second/10
		o.Config = row.Explicit(o.Config)
		if len(row.Options) > 0 && len(row.Options[0].Values) > 1 {
			o.Config = o.Config.With(row.Options[0].Name, row.Options[0].Values[1])
		}
		o.Plan, o.Detector, o.Hosts, o.Place = "random:77", "heartbeat", 2, "blocks"
		j, err := o.Resolve(row, false)
		if err != nil {
			t.Fatal(err)
		}
		o = j.Options
		words := strings.Fields(commandOf(row, &o, true, o.Plan))
		var got bench.Options
		cmd := (&app{stdout: io.Discard, stderr: io.Discard}).root()
		cmd.SetArgs(words[1:])
		sub, rest, err := cmd.Find(words[1:])
		if err != nil {
			t.Fatal(err)
		}
		c := benchCall{runCommand: benchRuns}
		own := &cobra.Command{Use: sub.Name(), RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := settle(cmd, c.resolve)
			got = c.Options
			return err
		}}
		c.addFlags(own)
		own.SetArgs(rest)
		if err := own.Execute(); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if got.Plan != o.Plan || len(got.Faults) == 0 {
			t.Errorf("%q has the plan %q", words, got.Plan)
		}
		got.Faults, got.Brokers, got.WarmupLimit, o.WarmupLimit = nil, o.Brokers, 0, 0
		if !reflect.DeepEqual(got, o) {
			t.Errorf("%q asks for\n%+v\nand not for\n%+v", words, got, o)
		}
	}
}

// A command in a hint can be pasted where the user stands.
func TestHintsWorkFromHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	run := filepath.Join(dir, "results", "bench", "a run")
	for folder, want := range map[string]string{
		run:                          "'results/bench/a run'",
		"results/bench/x":            "results/bench/x",
		"../there/bench/x":           "../there/bench/x",
		"/elsewhere/bench/x":         "/elsewhere/bench/x",
		filepath.Join(dir, "it's"):   `'./it'\''s'`,
		filepath.Join(dir, "mine"):   "./mine",
		filepath.Join(dir):           ".",
		filepath.Join(dir, "set/it"): "set/it",
	} {
		if got := terminal.CallOn("verify", folder); got != terminal.Invoked()+" verify "+want {
			t.Errorf("for %s: %s, not %s", folder, got, want)
		}
	}
}
