package commands

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/bench/site"
	"turnstile/internal/terminal"
	"turnstile/nodes/explore"
	"turnstile/option"
	"turnstile/report/text"
	"turnstile/results"
)

// said runs a command in this process, and returns what it prints.
func said(t *testing.T, wantStatus int, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if got := run(t.Context(), program{}, args, &out, &errors); got != wantStatus {
		t.Fatalf("%v: exit status %d, want %d\n%s%s", args, got, wantStatus, &out, &errors)
	}
	return out.String()
}

// What a run prints, what is printed of its stored files, and what is printed when it is judged again is the
// same to the last digit.
func TestSummaryIsTheSameWhereverItComesFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	for flags, status := range map[string]int{
		"--algo ricart -n 4 --entries 200 --trials 3":                                   0,
		"--algo ring -n 4 --duration 100ms --latency exponential:1ms":                   0,
		"--algo ring -n 4 --duration 100ms --latency exponential:1ms --trials 2":        0,
		"--algo raymond -n 5 --load sequential --entries 60 --trials 2":                 0,
		"--algo lamport -n 3 --rate 5000 --duration 100ms --trials 2":                   3,
		"--algo central -n 4 --entries 300 --loss 0.05 --trials 3":                      2,
		"--algo naive -n 3 --entries 300 --latency exponential:1ms --trials 2 --seed 7": 1,
	} {
		made := said(t, status, append([]string{"simulate"}, strings.Fields(flags)...)...)
		folder, err := results.Open("results", results.LatestLink)
		if err != nil {
			t.Fatal(err)
		}
		s, err := runs.ReadSummary(catalog.Table{}, folder)
		if err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		text.New(&stored).Stored(s)
		if stored.String() != made {
			t.Errorf("%s: the run prints\n%s\nand its files\n%s", flags, made, &stored)
		}
		if again := said(t, status, "verify"); !strings.HasPrefix(again, made) {
			t.Errorf("%s: the run prints\n%s\nand verify\n%s", flags, made, again)
		}
	}
}

// Ctrl-C while a run is judged ends that at once. What was recorded is stored, and can be judged later.
func TestJudgingIsInterrupted(t *testing.T) {
	build(t)
	t.Chdir(t.TempDir())
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Entries, o.Duration, o.Warmup = 2, 60, 0, 0
	job, err := bench.Resolve(catalog.Table{}, o, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	program := filepath.Join(programs, "orchestrator")
	r, err := runs.Make(ctx, job, runs.Setup{Results: "results", Set: "set",
		Setup: site.Setup{Node: filepath.Join(programs, "node"),
			Broker: append([]string{program}, brokerArgs...)},
		Progress: func(p runs.Progress) {
			if p.Phase == "judging" {
				interrupt()
			}
		}})
	if !errors.Is(err, runs.ErrNotJudged) || exitStatus(r, err) != 2 {
		t.Fatalf("the run ends with %v", err)
	}
	var summary bytes.Buffer
	text.New(&summary).Summary(r.Summary())
	if want := "  1 trial was not judged; to judge what was recorded: " + terminal.CallOn("verify",
		r.Folder.Path) + "\n"; !strings.Contains(summary.String(), "INCONCLUSIVE  nothing was judged\n"+want) {
		t.Errorf("%q is not in\n%s", want, &summary)
	}
	if _, err := runs.Reopen(ctx, catalog.Table{}, r.Folder); !errors.Is(err, runs.ErrNotJudged) {
		t.Errorf("judged again and interrupted, it ends with %v", err)
	}
	if again := said(t, 0, "verify"); !strings.Contains(again, "the trial had not been judged to its end") {
		t.Errorf("verify prints\n%s", again)
	}
}

// verify prints the same about a run that was interrupted between two trials as the run itself.
func TestInterruptedBetweenTrials(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	var out, errors bytes.Buffer
	args := strings.Fields("simulate --algo ring -n 2 --entries 50 --trials 3")
	status := run(ctx, program{}, args, writeFunc(func(b []byte) (int, error) {
		if bytes.HasPrefix(b, []byte("    1  valid")) {
			interrupt()
		}
		return out.Write(b)
	}), &errors)
	const says = "\nINCONCLUSIVE  only 1 of the 3 trials that were asked for were made\n"
	if status != 2 || !strings.Contains(out.String(), says) {
		t.Errorf("exit status %d and\n%s%s", status, &out, &errors)
	}
	if again := said(t, 2, "verify"); !strings.HasPrefix(again, out.String()) {
		t.Errorf("the run prints\n%s\nand verify\n%s", &out, again)
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(b []byte) (int, error) { return f(b) }

// A valid run of what is known to be broken says so, with a command that does show it.
func TestKnownBrokenIsSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	how := map[string]string{"exclusion": "exclusion:", "progress": "deadlock:"}
	for _, algo := range mutex.Table {
		if algo.Flaw == nil {
			continue
		}
		command := explore.FlawCommand(algo)
		if !algo.Flaw.Alone {
			text := said(t, 0, "simulate", "--algo", algo.Name, "-n", "3", "--load", "sequential", "--entries", "20")
			says := "  " + algo.Name + " is known to be broken (" + algo.Flaw.Check + "), which this run did not " +
				"show; this does: " + terminal.Invoked() + " " + strings.Join(command, " ") + "\n"
			if !strings.Contains(text, says) {
				t.Errorf("%q is not in\n%s", says, text)
			}
		}
		if text := said(t, 1, command...); !strings.Contains(text, "BROKEN  "+how[algo.Broken().Check]) {
			t.Errorf("%v shows no lack of %s:\n%s", command, algo.Broken().Check, text)
		}
	}
}

// A scheme that is known to be broken has a command that shows it.
func TestKnownBrokenSchemesAreShown(t *testing.T) {
	for _, algo := range election.Table {
		if algo.Flaw == nil {
			continue
		}
		command := append(explore.FlawCommand(algo), "--no-progress")
		text := said(t, 1, command...)
		if !strings.Contains(text, "BROKEN  agreement:") && !strings.Contains(text, "BROKEN  leaders:") &&
			!strings.Contains(text, "BROKEN  terms:") {
			t.Errorf("%v does not show it:\n%s", command, text)
		}
	}
}
