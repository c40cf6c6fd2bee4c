package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
	"turnstile/results"
)

// said runs a command in this process, and returns what it prints.
func said(t *testing.T, wantStatus int, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if got := run(t.Context(), args, &out, &errors); got != wantStatus {
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
		s, err := bench.ReadSummary(folder)
		if err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		newReport(&stored).stored(s)
		if stored.String() != made {
			t.Errorf("%s: the run prints\n%s\nand its files\n%s", flags, made, &stored)
		}
		if again := said(t, status, "verify"); !strings.HasPrefix(again, made) {
			t.Errorf("%s: the run prints\n%s\nand verify\n%s", flags, made, again)
		}
	}
}

// threeTrials is the summary of three trials of real processes.
func threeTrials(t *testing.T) *bench.Summary {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	s := &bench.Summary{Folder: &results.Folder{Path: "run"}, Spec: spec, Stalls: make([]string, 3)}
	s.Record.Options = bench.Options{Config: nodes.Config{N: 3}, Trials: 3}
	waits := hdrhistogram.New(1, 1e9, 3)
	for i, rate := range []float64{100, 300, 200} {
		waits.RecordValue(int64(1000 * (i + 1)))
		s.Verdicts = append(s.Verdicts, check.Verdict{Reason: "well",
			Findings: []check.Finding{{Check: "cost"}}})
		s.Record.Trials = append(s.Record.Trials, bench.TrialRecord{})
		s.Rows = append(s.Rows, results.Row{Trial: i + 1, EntriesInWindow: results.Number(rate),
			EntriesPerS: results.Number(rate), DurationS: results.Number(1), LatencyUS: results.Number(0),
			PublishedMin: results.Number(4), PublishedMax: results.Number(4), MessagesPerEntry: results.Number(4),
			OvertakenMax: results.Number(float64(i)), CPUBusy: results.Number(0.5)})
	}
	s.Latencies = map[string]*hdrhistogram.Histogram{results.WaitTag: waits}
	return s
}

// wantSummary checks which lines there are in what is printed of s.
func wantSummary(t *testing.T, s *bench.Summary, says ...string) {
	t.Helper()
	var b bytes.Buffer
	newReport(&b).summary(s)
	for _, want := range says {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("%q is no end of a line of\n%s", want, &b)
		}
	}
}

// What is wrong with one trial is said of that one.
func TestSummaryOfTrialsWarns(t *testing.T) {
	s := threeTrials(t)
	s.Rows[0].CPUBusy, s.Rows[2].CPUBusy = results.Number(0.95), results.Number(0.99)
	s.Rows[1].MessagesPerEntry = results.Number(5)
	s.Verdicts[1].Findings[0].Outcome = check.Violated
	s.Rows[2].MessagesPerEntry = results.Figure{}
	wantSummary(t, s, "VALID  in all 3 trials", "3 waits: 1.00 µs, 2.00 µs, 3.00 µs",
		"CPU-bound: in 2 of 3 trials these times rank CPU cost, not algorithms; add --latency",
		"published   4 per entry (2(N-1)): NOT CONFIRMED in 1 of 2 trials",
		"throughput  200 (100 to 300) entries/s: 600 in 3.00 s; somebody inside for - of it",
		"overtaken at most 2 times")
	s.Rows[1].MessagesPerEntry = results.Figure{}
	wantSummary(t, s, "  together            4.000            - [in 1 of 3 trials]")
	s.Rows[0].OvertakenMax = results.AtLeast(32863)
	wantSummary(t, s, "overtaken 32,863 times or more (some requests were not served)")
}

// Who has used the processors is said, and blamed.
func TestSummaryOfABusyMachine(t *testing.T) {
	for _, test := range []struct {
		busy, own, broker, others float64
		quota                     float64
		line, warning             string
	}{
		{0.97, 0.72, 0.2, 0.05, 0, "97% of the CPU time used: the run 72%, its broker 20%, others 5%; largest node",
			"CPU-bound: these times rank CPU cost, not algorithms; add --latency"},
		{0.98, 0.28, 0.1, 0.6, 0, "98% of the CPU time used: the run 28%, its broker 10%, others 60%; largest node",
			"CPU-bound: others used 60% of the machine: these times are theirs as well; repeat it when they are done"},
		{1, 0.8, 0.2, 0.3, 1.5, "100% of the limit of 1.5 CPUs used: the run 80%, its broker 20%; " +
			"others used 30% of the 4 cores; largest node",
			"CPU-bound by its limit of 1.5 CPUs: these times rank CPU cost, not algorithms; " +
				"add --latency"},
		{0.95, 0.5, 0.3, 0.75, 1, "80% of the limit of 1 CPU used: the run 50%, its broker 30%; " +
			"others used 75% of the 4 cores; largest node",
			"CPU-bound: others used 75% of the machine: these times are theirs as well; " +
				"repeat it when they are done"},
		{0.95, 0.4, 0.4, 0.4, 3, "80% of the limit of 3 CPUs used: the run 40%, its broker 40%; " +
			"others used 40% of the 4 cores; largest node",
			"CPU-bound by the machine: these times rank CPU cost, not algorithms; add --latency"},
		{0.5, 0.3, 0.1, 0.1, 0, "50% of the CPU time used: the run 30%, its broker 10%, others 10%; largest node",
			""},
	} {
		s := threeTrials(t)
		s.Record.Machine.CPUQuota, s.Record.Machine.Cores = test.quota, 4
		s.Rows = s.Rows[:1]
		s.Rows[0].CPUBusy, s.Rows[0].OwnCPU = results.Number(test.busy), results.Number(test.own)
		s.Rows[0].BrokerShare, s.Rows[0].OthersCPU = results.Number(test.broker), results.Number(test.others)
		var b bytes.Buffer
		newReport(&b).summary(s)
		if !strings.Contains(b.String(), "machine     "+test.line) ||
			!strings.Contains(b.String(), test.warning+"\n") ||
			strings.Contains(b.String(), "CPU-bound") != (test.warning != "") {
			t.Errorf("%+v: it says\n%s", test, &b)
		}
	}
}

// How many entries nodes had is compared within a trial.
func TestSummaryOfEntriesPerNode(t *testing.T) {
	s := threeTrials(t)
	entries := func(says string, limits ...float64) {
		t.Helper()
		for i := range s.Rows {
			r := &s.Rows[i]
			r.OvertakenMax = results.AtLeast(0)
			r.EntriesNodeMin, r.EntriesNodeMax = results.Number(limits[2*i]), results.Number(limits[2*i+1])
		}
		wantSummary(t, s, "entries per node "+says+
			"; nobody was overtaken so far (some requests were not served)")
	}
	entries("552 to 869 by trial, of a trial all alike", 552, 552, 600, 600, 869, 869)
	entries("600 to 606 (in trial 2, where they differ most)", 552, 552, 600, 606, 869, 870)
	entries("5 to 7", 5, 7, 5, 7, 5, 7)
	entries("5", 5, 5, 5, 5, 5, 5)
}

// What others used is not always known.
func TestSummaryOfAMachineThatDoesNotSay(t *testing.T) {
	s := threeTrials(t)
	s.Rows = s.Rows[:1]
	s.Rows[0].CPUBusy, s.Rows[0].NodeRSSMB = results.Figure{}, results.Number(8)
	s.Rows[0].OwnCPU, s.Rows[0].BrokerShare = results.Number(0.3), results.Number(0.05)
	wantSummary(t, s, "machine     35% of the CPU time used: the run 30%, its broker 5%; "+
		"what others used is not known; largest node 8.0 MB; up in - ms")
}

// Which process stood still is said, and that it made the window longer.
func TestSummaryOfPauses(t *testing.T) {
	s := threeTrials(t)
	s.Verdicts[1].Pauses = "the orchestrator stood still for 2s, and there was 1 shorter pause"
	s.Rows[1].DurationS, s.Rows[1].DurationAskedS = results.Number(3), results.Number(1)
	s.Rows[2].PauseSMax = results.Number(2) // as of an older Turnstile
	const pad = "            "
	wantSummary(t, s, pad+"trial 2: "+s.Verdicts[1].Pauses+"; "+
		"the window is 3.00 s long, and 1.00 s were asked for",
		pad+"trial 3: a process stood still for 2.00 s; verify says which")
	s = threeTrials(t)
	s.Record.Options.Trials, s.Rows, s.Verdicts = 1, s.Rows[:1], s.Verdicts[:1]
	s.Verdicts[0].Pauses = "node 2 stood still for 2s"
	wantSummary(t, s, "            node 2 stood still for 2s")
}

// A number within what is published does not hide that messages were wasted, or that the run is violated.
func TestSummaryConfirmsNothingThatIsViolated(t *testing.T) {
	s := threeTrials(t)
	s.Record.Options.Trials, s.Rows, s.Verdicts = 1, s.Rows[:1], s.Verdicts[:1]
	s.Rows[0].PublishedMax = results.Number(6)
	findings := []check.Finding{{Check: "cost", Says: "4 messages per entry"}, {Check: "identities"}}
	s.Verdicts[0].Findings = findings
	wantSummary(t, s, "published   4-6 per entry (2(N-1)): the run is within")
	s.Verdicts[0].Outcome = check.Violated
	wantSummary(t, s, "published   4-6 per entry (2(N-1)): the run is within, though it is violated")
	findings[0].NotJudged = true
	wantSummary(t, s, "published   4-6 per entry (2(N-1))")
	findings[0] = check.Finding{Check: "cost", Outcome: check.Violated, Says: "12 messages too many"}
	wantSummary(t, s, "published   4-6 per entry (2(N-1)): within, but NOT CONFIRMED: 12 messages too many")
	findings[0].Outcome = check.Valid
	findings[1].Outcome, findings[1].Says = check.Violated, "A = B does not hold"
	wantSummary(t, s, "published   4-6 per entry (2(N-1)): within, but NOT CONFIRMED: A = B does not hold")
	s.Rows[0].PublishedMax = results.Number(4)
	findings[1].Outcome = check.Valid
	wantSummary(t, s, "published   4 per entry (2(N-1)): the run took as many, though it is violated")
}

// What is published is confirmed where the check of costs says so, and nowhere else.
func TestSummaryConfirmsWhatIsJudged(t *testing.T) {
	t.Chdir(t.TempDir())
	for flags, says := range map[string]string{
		"--algo ring -n 16 --entries 4 --seed 1": ", unbounded idle)\n",
		"--algo ricart -n 4 --entries 50":        "published   6 per entry (2(N-1)): confirmed\n",
		"--algo maekawa -n 4 --entries 50":       ": the run is within\n",
	} {
		var out, errors bytes.Buffer
		run(t.Context(), append([]string{"simulate"}, strings.Fields(flags)...), &out, &errors)
		if !strings.Contains(out.String(), says) {
			t.Errorf("%s: %q is not in\n%s%s", flags, says, &out, &errors)
		}
	}
}

// An outcome counts the trials that have it, and not those that were never made.
func TestSummaryOfAnIncompleteRun(t *testing.T) {
	s := threeTrials(t)
	s.Record.Options.Trials = 8
	wantSummary(t, s, "INCONCLUSIVE  only 3 of the 8 trials that were asked for were made")
	s.Verdicts[2] = check.Verdict{Outcome: check.Inconclusive, Reason: "interrupted"}
	wantSummary(t, s, "INCONCLUSIVE  in 1 of 3 trials; 8 were asked for", "  trial 3: INCONCLUSIVE: interrupted")
	s.Verdicts[0].Outcome = check.Violated
	wantSummary(t, s, "VIOLATED  in 1 of 3 trials; 8 were asked for")
	s.Record.Options.Trials = 3
	s.Record.Trials[0].Trouble = "node 2 ended on its own"
	wantSummary(t, s, "VIOLATED  in 1 of 3 trials", "  the trial ended early: node 2 ended on its own")
}

// Ctrl-C while a run is judged ends that at once. What was recorded is stored, and can be judged later.
func TestJudgingIsInterrupted(t *testing.T) {
	build(t)
	t.Chdir(t.TempDir())
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := bench.Defaults()
	o.Config.N, o.Entries, o.Duration, o.Warmup = 2, 60, 0, 0
	ctx, interrupt := context.WithCancel(t.Context())
	program := filepath.Join(programs, "orchestrator")
	r, err := bench.Make(ctx, spec, o, bench.Setup{Results: "results", Set: "set",
		Node: filepath.Join(programs, "node"), Broker: append([]string{program}, brokerArgs...),
		Progress: func(p bench.Progress) {
			if p.Phase == "judging" {
				interrupt()
			}
		}})
	if !errors.Is(err, bench.ErrNotJudged) || exitStatus(r, err) != 2 {
		t.Fatalf("the run ends with %v", err)
	}
	wantSummary(t, r.Summary(), "INCONCLUSIVE  nothing was judged",
		"  1 trial was not judged; to judge what was recorded: "+callOn("verify", r.Folder.Path))
	if _, err := bench.Reopen(ctx, r.Folder); !errors.Is(err, bench.ErrNotJudged) {
		t.Errorf("judged again and interrupted, it ends with %v", err)
	}
	if again := said(t, 0, "verify"); !strings.Contains(again, "nobody had judged the trial to its end") {
		t.Errorf("verify prints\n%s", again)
	}
}

// A run that is interrupted between two trials is the same to those who verify it.
func TestInterruptedBetweenTrials(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, interrupt := context.WithCancel(t.Context())
	var out, errors bytes.Buffer
	args := strings.Fields("simulate --algo ring -n 2 --entries 50 --trials 3")
	status := run(ctx, args, writeFunc(func(b []byte) (int, error) {
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
	for _, row := range mutex.Table {
		if row.Broken == "" {
			continue
		}
		command := howBroken(row)
		text := said(t, 0, "simulate", "--algo", row.Name, "-n", "3", "--load", "sequential", "--entries", "20")
		says := "  " + row.Name + " is known to be broken (" + row.Broken + "), which this run did not show; " +
			"this does: " + invoked() + " " + strings.Join(command, " ") + "\n"
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in\n%s", says, text)
		}
		if text := said(t, 1, command...); !strings.Contains(text, "BROKEN  "+how[row.Broken]) {
			t.Errorf("%v shows no lack of %s:\n%s", command, row.Broken, text)
		}
	}
}

// A scheme that is known to be broken has a command that shows it.
func TestKnownBrokenSchemesAreShown(t *testing.T) {
	for _, row := range election.Table {
		if row.Broken == "" {
			continue
		}
		command := append(howBroken(row), "--no-progress")
		text := said(t, 1, command...)
		if !strings.Contains(text, "BROKEN  agreement:") && !strings.Contains(text, "BROKEN  leaders:") &&
			!strings.Contains(text, "BROKEN  terms:") {
			t.Errorf("%v does not show it:\n%s", command, text)
		}
	}
}

func TestSpread(t *testing.T) {
	for want, figures := range map[string][]results.Figure{
		"-":                        {{}, {}},
		"2.000":                    {results.Number(2)},
		"2.000 (1.000 to >3.000)":  {results.AtLeast(3), results.Number(1), results.Number(2)},
		"2.000 [in 1 of 2 trials]": {results.Number(2), {}},
		"2.000 (1.000 to 3.000)":   {results.Number(3), results.Number(1)},
		"1.000":                    {results.Number(1), results.Number(1.0001)},
		"1.500 (1.000 to 2.000) [in 2 of 3 trials]": {results.Number(2), {}, results.Number(1)},
	} {
		if got := spreadOf(figures).text(precise); got != want {
			t.Errorf("%v: %q, want %q", figures, got, want)
		}
	}
}
