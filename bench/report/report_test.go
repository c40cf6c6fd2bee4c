package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/results"
)

// threeTrials is the summary of three trials of real processes.
func threeTrials(t *testing.T) *bench.Summary {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	job, err := bench.Draft(bench.Options{Config: nodes.Config{N: 3}, Trials: 3}, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	s := &bench.Summary{Job: job, Folder: &results.Folder{Path: "run"}}
	s.Record.Options = job.Options
	waits := hdrhistogram.New(1, 1e9, 3)
	for i, rate := range []float64{100, 300, 200} {
		waits.RecordValue(int64(1000 * (i + 1)))
		s.Verdicts = append(s.Verdicts, check.Verdict{Reason: "well",
			Findings: []check.Finding{{Check: "cost"}}})
		s.Record.Trials = append(s.Record.Trials, bench.TrialRecord{})
		s.Rows = append(s.Rows, results.Row{Trial: i + 1, LatencyUS: figure.Number(0),
			Figures: measure.Figures{AcceptedInWindow: figure.Number(rate), EntriesPerS: figure.Number(rate),
				DurationS: figure.Number(1), PublishedMin: figure.Number(4), PublishedMax: figure.Number(4),
				MessagesPerEntry: figure.Number(4), OvertakenMax: figure.Number(float64(i)),
				CPUBusy: figure.Number(0.5)}})
	}
	s.Latencies = map[string]*hdrhistogram.Histogram{measure.WaitTag: waits}
	return s
}

// wantSummary checks which lines there are in what is printed of s.
func wantSummary(t *testing.T, s *bench.Summary, says ...string) {
	t.Helper()
	var b bytes.Buffer
	New(&b).Summary(s)
	for _, want := range says {
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("%q is no end of a line of\n%s", want, &b)
		}
	}
}

// If hosts have several clocks, the summary says how well times of different nodes can be compared.
func TestSummaryOfClocks(t *testing.T) {
	s := threeTrials(t)
	for i, micros := range []float64{3, 900, 400} {
		s.Rows[i].ClockErrorUS, s.Rows[i].SynchronizationDelayUSP50 = figure.Number(micros), figure.Number(8000)
	}
	wantSummary(t, s, "clocks      times of nodes on different hosts agree within 900 µs",
		"that is more than a tenth of the synchronization delay, which may be wrong by as much")
	s.Rows[1].ClockErrorUS, s.Rows[2].ClockErrorUS = figure.Number(1), figure.Number(1)
	var b bytes.Buffer
	if New(&b).Summary(s); strings.Contains(b.String(), "clocks  ") {
		t.Errorf("one clock is worth a word:\n%s", &b)
	}
}

// A warning about one trial names that trial.
func TestSummaryOfTrialsWarns(t *testing.T) {
	s := threeTrials(t)
	s.Rows[0].CPUBusy, s.Rows[2].CPUBusy = figure.Number(0.95), figure.Number(0.99)
	s.Rows[1].MessagesPerEntry = figure.Number(5)
	s.Verdicts[1].Findings[0].Outcome = check.Violated
	s.Rows[2].MessagesPerEntry = figure.Figure{}
	wantSummary(t, s, "VALID  in all 3 trials", "3 waits: 1.00 µs, 2.00 µs, 3.00 µs",
		"CPU-bound: in 2 of 3 trials these times rank CPU cost, not algorithms; add --latency",
		"published   4 per entry (2(N-1)): NOT CONFIRMED in 1 of 2 trials",
		"throughput  200 (100 to 300) entries/s: 600 in 3.00 s; somebody inside for - of it",
		"overtaken at most 2 times")
	s.Rows[1].MessagesPerEntry = figure.Figure{}
	wantSummary(t, s, "  together            4.000            - [in 1 of 3 trials]")
	s.Rows[0].OvertakenMax = figure.AtLeast(32863)
	wantSummary(t, s, "overtaken 32,863 times or more (some requests were not served)")
}

// The summary names the programs that used the processors, and blames them.
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
		s.Rows[0].CPUBusy, s.Rows[0].OwnCPU = figure.Number(test.busy), figure.Number(test.own)
		s.Rows[0].BrokerShare, s.Rows[0].OthersCPU = figure.Number(test.broker), figure.Number(test.others)
		var b bytes.Buffer
		New(&b).Summary(s)
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
			r.OvertakenMax = figure.AtLeast(0)
			r.EntriesNodeMin, r.EntriesNodeMax = figure.Number(limits[2*i]), figure.Number(limits[2*i+1])
		}
		wantSummary(t, s, "entries per node "+says+
			"; nobody was overtaken so far (some requests were not served)")
	}
	entries("552 to 869 by trial, of a trial all alike", 552, 552, 600, 600, 869, 869)
	entries("600 to 606 (in trial 2, where they differ most)", 552, 552, 600, 606, 869, 870)
	entries("5 to 7", 5, 7, 5, 7, 5, 7)
	entries("5", 5, 5, 5, 5, 5, 5)
	for i := range s.Rows {
		s.Rows[i].Clients, s.Rows[i].WithoutEntry = figure.Count(32), figure.Count(31)
	}
	entries("0 to 1,175, and 31 of 32 clients got nothing", 0, 1175, 0, 1175, 0, 1175)
}

// A valid run whose clients never wanted anything at once says so beside its verdict.
func TestSummaryOfARunThatIsNotContended(t *testing.T) {
	s := threeTrials(t)
	for i := range s.Verdicts {
		s.Verdicts[i].Uncontended = "not contended"
	}
	wantSummary(t, s, "VALID (not contended)  in all 3 trials")
	s.Verdicts[1].Uncontended = ""
	wantSummary(t, s, "VALID (not contended in 2 of 3 trials)  in all 3 trials")
	s.Verdicts[1].Outcome = check.Inconclusive
	wantSummary(t, s, "INCONCLUSIVE  in 1 of 3 trials")
}

// The machine may not say what other programs used.
func TestSummaryOfAMachineThatDoesNotSay(t *testing.T) {
	s := threeTrials(t)
	s.Rows = s.Rows[:1]
	s.Rows[0].CPUBusy, s.Rows[0].NodeRSSMB = figure.Figure{}, figure.Number(8)
	s.Rows[0].OwnCPU, s.Rows[0].BrokerShare = figure.Number(0.3), figure.Number(0.05)
	wantSummary(t, s, "machine     35% of the CPU time used: the run 30%, its broker 5%; "+
		"what others used is not known; largest node 8.0 MB; up in - ms")
}

// Which process stood still is said, and that it made the window longer.
func TestSummaryOfPauses(t *testing.T) {
	s := threeTrials(t)
	s.Verdicts[1].Pauses = "the orchestrator stood still for 2s, and there was 1 shorter pause"
	s.Rows[1].DurationS = figure.Number(3)
	s.Rows[1].Asked = s.Rows[1].With(option.DurationColumn, figure.Number(1))
	const pad = "            "
	wantSummary(t, s, pad+"trial 2: "+s.Verdicts[1].Pauses+"; "+
		"the window is 3.00 s long, and 1.00 s were asked for")
	s = threeTrials(t)
	s.Record.Options.Trials, s.Rows, s.Verdicts = 1, s.Rows[:1], s.Verdicts[:1]
	s.Verdicts[0].Pauses = "node 2 stood still for 2s"
	wantSummary(t, s, "            node 2 stood still for 2s")
}

// A number within what is published does not hide that messages were wasted, or that the run is violated.
func TestSummaryConfirmsNothingThatIsViolated(t *testing.T) {
	s := threeTrials(t)
	s.Record.Options.Trials, s.Rows, s.Verdicts = 1, s.Rows[:1], s.Verdicts[:1]
	s.Rows[0].PublishedMax = figure.Number(6)
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
	s.Rows[0].PublishedMax = figure.Number(4)
	findings[1].Outcome = check.Valid
	wantSummary(t, s, "published   4 per entry (2(N-1)): the run took as many, though it is violated")
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

func TestSpread(t *testing.T) {
	for want, figures := range map[string][]figure.Figure{
		"-":                        {{}, {}},
		"2.000":                    {figure.Number(2)},
		"2.000 (1.000 to >3.000)":  {figure.AtLeast(3), figure.Number(1), figure.Number(2)},
		"2.000 [in 1 of 2 trials]": {figure.Number(2), {}},
		"2.000 (1.000 to 3.000)":   {figure.Number(3), figure.Number(1)},
		"1.000":                    {figure.Number(1), figure.Number(1.0001)},
		"1.500 (1.000 to 2.000) [in 2 of 3 trials]": {figure.Number(2), {}, figure.Number(1)},
	} {
		if got := spreadOf(figures).text(format.Precise); got != want {
			t.Errorf("%v: %q, want %q", figures, got, want)
		}
	}
}
