package text

import (
	"bytes"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/option"
	"turnstile/results"
)

// threeTrials is the summary of three trials of real processes.
func threeTrials(t *testing.T) *runs.Summary {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	draft, err := bench.NewDraft(catalog.Table{}, bench.Options{Config: nodes.Config{N: 3}, Trials: 3}, spec,
		false)
	if err != nil {
		t.Fatal(err)
	}
	s := &runs.Summary{Job: draft.Unchecked(), Folder: &results.Folder{Path: "run"}}
	s.Record.Options = *draft.Options
	waits := hdrhistogram.NewPacked(1, 1e9, 3)
	for i, rate := range []float64{100, 300, 200} {
		waits.RecordValue(int64(1000 * (i + 1)))
		s.Verdicts = append(s.Verdicts, check.Verdict{Reason: "well",
			Findings: []check.Finding{{Check: "cost"}}})
		s.Record.Trials = append(s.Record.Trials, runs.TrialRecord{})
		s.Rows = append(s.Rows, results.Row{Trial: i + 1, LatencyUS: figure.Number(0),
			Figures: measure.Figures{AcceptedInWindow: figure.Number(rate), EntriesPerS: figure.Number(rate),
				DurationS: figure.Number(1), PublishedMin: figure.Number(4), PublishedMax: figure.Number(4),
				MessagesPerEntry: figure.Number(4), OvertakenMax: figure.Number(float64(i)),
				CPUBusy: figure.Number(0.5)}})
	}
	s.Latencies = map[string]*measure.Histogram{measure.WaitTag: waits}
	return s
}

// summaryOf returns the printed summary of a run.
func summaryOf(s *runs.Summary) string {
	var b bytes.Buffer
	New(&b).Summary(s)
	return b.String()
}

// of sets a figure of each trial.
func of(s *runs.Summary, set func(r *results.Row, x float64), values ...float64) {
	for i, x := range values {
		set(&s.Rows[i], x)
	}
}

// first reduces a summary to its first trial.
func first(s *runs.Summary) {
	s.Record.Options.Trials, s.Rows, s.Verdicts = 1, s.Rows[:1], s.Verdicts[:1]
}

// used sets the CPU usage of a machine with four cores.
func used(s *runs.Summary, quota, busy, own, broker, others float64) {
	first(s)
	s.Record.Machine.CPUQuota, s.Record.Machine.Cores = quota, 4
	r := &s.Rows[0]
	r.CPUBusy, r.OwnCPU = figure.Number(busy), figure.Number(own)
	r.BrokerShare, r.OthersCPU = figure.Number(broker), figure.Number(others)
}

// published sets the findings of a run whose cost is within the published range.
func published(s *runs.Summary, cost check.Finding, of check.Outcome) {
	first(s)
	cost.Check = "cost"
	s.Rows[0].PublishedMax, s.Verdicts[0].Outcome = figure.Number(6), of
	s.Verdicts[0].Findings = []check.Finding{cost}
}

func clients(r *results.Row, least, most float64) {
	r.OvertakenMax = figure.AtLeast(0)
	r.EntriesNodeMin, r.EntriesNodeMax = figure.Number(least), figure.Number(most)
}

// summaries are printed summaries of runs whose figures and findings differ from threeTrials.
var summaries = []struct {
	name   string
	change func(s *runs.Summary)
	says   []string // ends of lines
	not    string   // is not said
}{
	{"nothing special", func(*runs.Summary) {},
		[]string{"VALID  in all 3 trials", "3 waits: 1.00 µs, 2.00 µs, 3.00 µs"}, "CPU-bound"},
	{"warnings name trials", func(s *runs.Summary) {
		s.Rows[0].CPUBusy, s.Rows[2].CPUBusy = figure.Number(0.95), figure.Number(0.99)
		s.Rows[1].MessagesPerEntry, s.Rows[2].MessagesPerEntry = figure.Number(5), figure.Figure{}
		s.Verdicts[1].Findings[0].Outcome = check.Violated
		s.Rows[0].OvertakenMax = figure.AtLeast(32863)
	}, []string{"CPU-bound: in 2 of 3 trials these times rank CPU cost, not algorithms; add --latency",
		"published   4 per entry (2(N-1)): NOT CONFIRMED in 1 of 2 trials",
		"overtaken 32,863 times or more (some requests were not served)"}, ""},
	{"clocks of hosts", func(s *runs.Summary) {
		of(s, func(r *results.Row, x float64) {
			r.ClockErrorUS, r.SynchronizationDelayUSP50 = figure.Number(x), figure.Number(8000)
		}, 3, 900, 400)
	}, []string{"clocks      times of nodes on different hosts agree within 900 µs",
		"that is more than a tenth of the synchronization delay, which may be wrong by as much"}, ""},
	{"one clock", func(s *runs.Summary) {
		of(s, func(r *results.Row, x float64) { r.ClockErrorUS = figure.Number(x) }, 1, 1, 1)
	}, nil, "clocks  "},
	{"others are busy", func(s *runs.Summary) { used(s, 0, 0.98, 0.28, 0.1, 0.6) },
		[]string{"CPU-bound: other programs used 60% of the machine, which lengthened these times: repeat the " +
			"run without them"}, ""},
	{"a limit is used up", func(s *runs.Summary) { used(s, 1.5, 1, 0.8, 0.2, 0.3) },
		[]string{"CPU-bound by its limit of 1.5 CPUs: these times rank CPU cost, not algorithms; " +
			"add --latency"}, "what others used is not known"},
	{"the machine, beside a limit", func(s *runs.Summary) { used(s, 3, 0.95, 0.4, 0.4, 0.4) },
		[]string{"CPU-bound by the machine: these times rank CPU cost, not algorithms; add --latency"}, ""},
	{"half used", func(s *runs.Summary) { used(s, 0, 0.5, 0.3, 0.1, 0.1) }, nil, "CPU-bound"},
	{"entries are alike within each trial", func(s *runs.Summary) {
		of(s, func(r *results.Row, x float64) { clients(r, x, x) }, 552, 600, 869)
	}, []string{"entries per node 552 to 869 by trial, equal within each trial; nobody was overtaken so far " +
		"(some requests were not served)"}, ""},
	{"clients without an entry", func(s *runs.Summary) {
		of(s, func(r *results.Row, x float64) {
			clients(r, 0, x)
			r.Clients, r.WithoutEntry = figure.Count(32), figure.Count(31)
		}, 1175, 1175, 1175)
	}, []string{"entries per node 0 to 1,175, and 31 of 32 clients got nothing; nobody was overtaken so far " +
		"(some requests were not served)"}, ""},
	{"not contended", func(s *runs.Summary) {
		s.Verdicts[0].Uncontended, s.Verdicts[2].Uncontended = "not contended", "not contended"
	}, []string{"VALID (not contended in 2 of 3 trials)  in all 3 trials"}, ""},
	{"pauses", func(s *runs.Summary) {
		s.Verdicts[1].Pauses, s.Rows[1].DurationS = "the orchestrator stood still for 2s", figure.Number(3)
		s.Rows[1].Asked = s.Rows[1].With(option.DurationColumn, figure.Number(1))
	}, []string{"trial 2: the orchestrator stood still for 2s; the window is 3.00 s long, and 1.00 s were " +
		"asked for"}, ""},
	{"as published", func(s *runs.Summary) { published(s, check.Finding{Says: "4"}, check.Valid) },
		[]string{"published   4-6 per entry (2(N-1)): the run is within"}, ""},
	{"published, and violated", func(s *runs.Summary) { published(s, check.Finding{}, check.Violated) },
		[]string{"published   4-6 per entry (2(N-1)): the measured figure lies in the range, though the run is " +
			"violated"}, ""},
	{"published, and not judged", func(s *runs.Summary) {
		published(s, check.Finding{NotJudged: true}, check.Violated)
	}, []string{"published   4-6 per entry (2(N-1))"}, ""},
	{"published, and messages are wasted", func(s *runs.Summary) {
		published(s, check.Finding{Outcome: check.Violated, Says: "12 messages too many"}, check.Violated)
	}, []string{"published   4-6 per entry (2(N-1)): within, but NOT CONFIRMED: 12 messages too many"}, ""},
	{"trials are missing", func(s *runs.Summary) {
		s.Record.Options.Trials, s.Verdicts[0].Outcome = 8, check.Violated
		s.Record.Trials[0].Trouble = "node 2 ended on its own"
	}, []string{"VIOLATED  in 1 of 3 trials; 8 were asked for",
		"  the trial ended early: node 2 ended on its own"}, ""},
	{"a client is passed over", func(s *runs.Summary) { passedOver(s, "maekawa", 0) },
		[]string{"node 2 was passed over 898 times; this algorithm promises no bound"}, ""},
	{"more often than promised, after a fault", func(s *runs.Summary) { passedOver(s, "central-queued", 1) },
		[]string{"node 2 was passed over 898 times; the algorithm promises at most 2, as long as nothing goes " +
			"wrong"}, ""},
	{"no more often than promised", func(s *runs.Summary) { passedOver(s, "central-queued", 0) }, nil,
		"passed over"},
	{"a minority, and refused entries", func(s *runs.Summary) {
		of(s, func(r *results.Row, x float64) {
			r.Entries, r.EntriesRefused = figure.Number(1000), figure.Number(x)
		}, 0, 10, 20)
		s.Rows[1].EntriesInMinority = figure.Number(7)
	}, []string{"minority    7 of 3,000 entries by clients that could reach no majority",
		"refused     30 of 3,000 entries in the whole run had their write refused; no rate counts them"}, ""},
	{"lost locks", func(s *runs.Summary) { lostLocks(s, figure.AtLeast(2)) }, []string{
		"lost locks  in 3 entries the client went on for up to 812 ms after it was told that the lock was lost",
		"            in 2 entries the client left as soon as it was told that the lock was lost",
		"tries       the lock refused 1,200 tries, 7 of them while no client was inside",
		"fences      4 entries overlapped; a resource that checks fence numbers would still accept the writes of " +
			"at least 2 of them"}, ""},
	{"told late", func(s *runs.Summary) { lostLocks(s, figure.Figure{}) }, []string{
		"            in 2 entries another client entered up to 1.90 s before the client was told that the lock " +
			"was lost, if it was told at all"}, ""},
	{"wrong suspicions", func(s *runs.Summary) {
		s.Record.Options.Detector = "heartbeat"
		of(s, func(r *results.Row, x float64) {
			r.Suspicions, r.SuspicionsWrong = figure.Number(9), figure.Number(x)
			r.WrongStill, r.WrongPerHour = figure.Number(5), figure.Number(60)
		}, 7, 7, 7)
	}, []string{"suspicions 9, wrong 7 (60 per hour); " +
		"of the wrong ones 5 of nodes that stood still, 2 of others"}, ""},
	{"fences that are not known", func(s *runs.Summary) { lostLocks(s, figure.Figure{}) }, nil, "fences "},
	{"an open load without requests", func(s *runs.Summary) {
		of(s, func(r *results.Row, _ float64) { r.Asked = r.With(option.LoadColumn, "open") }, 0, 0, 0)
	}, []string{"issued      no request fell due while it was measured"}, ""},
}

// The summary of a run depends on its figures and findings.
func TestSummary(t *testing.T) {
	for _, x := range summaries {
		s := threeTrials(t)
		x.change(s)
		got := summaryOf(s)
		for _, want := range x.says {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("%s: %q is no end of a line of\n%s", x.name, want, got)
			}
		}
		if x.not != "" && strings.Contains(got, x.not) {
			t.Errorf("%s: it says %q:\n%s", x.name, x.not, got)
		}
	}
}

// passedOver sets a client to be passed over in each of two trials, under an algorithm.
func passedOver(s *runs.Summary, algorithm string, faults int) {
	spec, err := mutex.Find(algorithm)
	if err != nil {
		panic(err)
	}
	for i := range s.Verdicts {
		s.Verdicts[i].Findings = append(s.Verdicts[i].Findings, check.Finding{Check: "fairness"})
	}
	s.Verdicts[1].PassedOver = &check.PassedOver{Node: 2, Request: 7, Times: 898}
	s.Verdicts[2].PassedOver = &check.PassedOver{Node: 1, Request: 7, Times: 5}
	s.Spec, s.Faults = spec, make([]results.FaultRow, faults)
}

// lostLocks sets clients of the second trial to be told that they have lost their lock.
func lostLocks(s *runs.Summary, fenced figure.Figure) {
	r := &s.Rows[1]
	r.EntriesTold, r.ToldStayed, r.ToldInsideUSMax = figure.Count(5), figure.Count(3), figure.Number(812_000)
	r.OverlappedUntold, r.ToldForNothing = figure.Count(2), figure.Count(1)
	r.ToldAfterUSMax = figure.Number(1_900_000)
	r.RefusedTries, r.RefusedFree = figure.Count(1200), figure.Count(7)
	r.Violations, r.ViolationsFenced = figure.Count(4), fenced
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

func TestHistogramShowsAll(t *testing.T) {
	for _, values := range [][]int64{{5}, {0, 0}, {0, 1e6, 2e6}, {1000, 1001}, {1, 1e3, 1e6, 1e9},
		{7, 7, 7, 8000},
		{1_000_000, 1_000_600, 1_001_200, 1_001_800, 1_002_400, 1_003_000, 1_003_500, 1_004_000, 1_004_500}} {
		h := hdrhistogram.NewPacked(1, 1e12, 3)
		for _, v := range values {
			h.RecordValues(v, fewValues)
		}
		var b bytes.Buffer
		writeHistogram(&b, h)
		rows := strings.Count(b.String(), "\n")
		longest := strings.Repeat("█", histogramWidth)
		if rows < 1 || rows > histogramRows || !strings.Contains(b.String(), longest) {
			t.Errorf("of %v:\n%s", values, b.String())
		}
		if first, _, _ := strings.Cut(b.String(), "\n"); strings.Contains(first, " 0.0%") {
			t.Errorf("of %v, it begins with what is empty:\n%s", values, b.String())
		}
		if zeros := strings.HasPrefix(b.String(), "       0 µs  "); zeros != (values[0] == 0) ||
			zeros && strings.Contains(b.String(), "0.00 µs") {
			t.Errorf("of %v, zeros have no row of their own:\n%s", values, b.String())
		}
	}
}
