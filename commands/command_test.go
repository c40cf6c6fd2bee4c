package commands

import (
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/internal/chance"
	"turnstile/internal/terminal"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// The command that repeats a run asks for just that run.
func TestCommandOfRun(t *testing.T) {
	algo, err := mutex.Find("raymond")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []workload.Workload{
		{Load: workload.Saturated}, {Load: workload.Sequential},
		{Load: workload.Closed, Think: chance.Constant(time.Millisecond)},
		{Load: workload.Open, Rate: 20, Evenly: true}, {Load: workload.Saturated, Zipf: 1.1},
		{Load: workload.Saturated, Receive: workload.Receive{By: workload.Poll, Period: time.Millisecond}},
	} {
		o := option.Defaults()
		o.Algorithm, o.Config.N, o.Workload, o.Seed = algo.Name, 5, w, 77
		o.Latency, o.Duration, o.Warmup = chance.Constant(time.Millisecond), time.Second, time.Second/10
		if w.Zipf > 0 {
			o.Resources = 3
		}
		o.Config = algo.Explicit(o.Config)
		if len(algo.Options) > 0 && len(algo.Options[0].Values) > 1 {
			o.Config = o.Config.With(algo.Options[0].Name, algo.Options[0].Values[1])
		}
		o.Plan, o.Detector, o.Hosts, o.Place = "random:77", "heartbeat", 2, "blocks"
		j, err := bench.Resolve(catalog.Table{}, o, algo, false)
		if err != nil {
			t.Fatal(err)
		}
		o = j.Options
		words := strings.Fields(commandOf(algo, &o, true, o.Plan))
		var got bench.Options
		cmd := (&app{stdout: io.Discard, stderr: io.Discard}).root()
		cmd.SetArgs(words[1:])
		sub, rest, err := cmd.Find(words[1:])
		if err != nil {
			t.Fatal(err)
		}
		c := benchCall{runCommand: anyRuns(known{})}
		own := &cobra.Command{Use: sub.Name(), RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				err = c.resolve(s)
			}
			got = c.Options
			return err
		}}
		c.addFlags(own.Flags())
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

// The command that repeats a run about a service or a foreign program names it as the flags do, and not by
// the algorithm that was made of it.
func TestCommandOfPrograms(t *testing.T) {
	declared, err := foreign.Parse("token:token,ask", "safe=no-loss+timing,live=no-loss,fenced")
	if err != nil {
		t.Fatal(err)
	}
	leads, err := foreign.Parse("", "safe=timing,live=no-loss,elects,terms")
	if err != nil {
		t.Fatal(err)
	}
	three := nodes.Config{N: 3}
	kept := map[string]string{foreign.ServerVersionOption: "7.0.15", foreign.ClientVersionOption: "go-redis v9"}
	with := func(more ...string) map[string]string {
		all := maps.Clone(kept)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for want, c := range map[string]nodes.Config{
		"bench --nodes 3 --service redis --with fence=on,px=2s ": foreign.ServiceConfig(three, "redis",
			with("px", "2s", "fence", "on"), declared),
		"bench --nodes 3 --endpoint 10.0.0.1:1,10.0.0.2:1 ": foreign.ServiceConfig(three, "redis",
			with(foreign.EndpointOption, "10.0.0.1:1,10.0.0.2:1"), declared),
		"elect --nodes 3 --service etcd-election --with ttl=2s ": foreign.ServiceConfig(three,
			"etcd-election", with("ttl", "2s"), leads),
		"bench --nodes 3 --service redis --with px=2s --client 'python3 mylock.py' --promises " +
			"safe=no-loss+timing,live=no-loss,grace=2s,fenced ": foreign.ServiceConfig(three, "redis",
			with("px", "2s", foreign.ClientOption, "python3 mylock.py"), &foreign.Declaration{Safe: declared.Safe,
				Live: declared.Live, Grace: declared.Grace, Fenced: true}),
		"bench --nodes 3 --foreign 'python3 ra.py' --kinds token:token,ask --promises " +
			"safe=no-loss+timing,live=no-loss,grace=2s,fenced ": foreign.Config(three, "python3 ra.py", declared),
	} {
		algo, err := foreign.Algorithm(c)
		if err != nil {
			t.Fatal(err)
		}
		o := option.Defaults()
		o.Algorithm, o.Config = algo.Name, c
		command := strings.Replace(commandOf(algo, &o, true, ""), terminal.Invoked()+" ", "", 1)
		for _, part := range strings.SplitAfter(want, " --") {
			if !strings.Contains(command+" ", strings.TrimSuffix(part, "--")) {
				t.Errorf("%s\nlacks %q", command, part)
			}
		}
		for _, never := range []string{"--algo", "--scheme", "version"} {
			if strings.Contains(command, never) {
				t.Errorf("%s\nhas %s", command, never)
			}
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
