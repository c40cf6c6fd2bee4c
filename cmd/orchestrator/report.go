package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A report prints the results of a run for people.
type report struct {
	w       io.Writer
	palette palette
	trials  int // printed so far
}

func newReport(w io.Writer) *report { return &report{w: w, palette: paletteFor(w)} }

func (p *report) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// line prints a line that begins with a name.
func (p *report) line(name, format string, args ...any) {
	p.printf("%-11s %s\n", name, fmt.Sprintf(format, args...))
}

// header says what is run, before it is.
func (p *report) header(o bench.Options) {
	words := []string{p.palette.paint(bold, o.Algorithm), english.Count(o.Config.N, "node", "nodes")}
	words = append(words, o.Config.Given()...)
	words = append(words, loadText(&o.Workload), "hold "+o.Workload.Hold.String(), "no injected latency")
	if !o.Regions.None() {
		words[len(words)-1] = o.Regions.String()
	}
	if !o.Latency.Zero() {
		words[len(words)-1] = "latency " + o.Latency.String()
	}
	if o.Multicast {
		words = append(words, "multicast")
	}
	if o.Entries > 0 {
		words = append(words, english.Count(o.Entries, "entry", "entries"))
	} else {
		words = append(words, fmt.Sprintf("%s after %s of warm-up", duration(o.Duration), duration(o.Warmup)))
	}
	p.printf("%s\n", strings.Join(words, ", "))
	m := results.ThisMachine()
	machine := fmt.Sprintf("%d cores", m.Cores)
	if m.CPU != "" {
		machine += " of " + m.CPU
	}
	p.printf("seed %d; %s\n\n", o.Seed, machine)
}

func loadText(w *workload.Workload) string {
	text := string(w.Load) + " load"
	switch w.Load {
	case workload.Closed:
		text += fmt.Sprintf(", think %v", w.Think)
	case workload.Open:
		text += fmt.Sprintf(", %v requests/s and node", w.Rate)
		if w.Evenly {
			text += " evenly"
		}
	}
	return text
}

const trialFormat = "%5s  %-12s %12s %12s %12s %15s\n"

// trial prints a line about one of several trials.
func (p *report) trial(t *bench.Trial) {
	if p.trials == 0 {
		p.printf(trialFormat, "trial", "verdict", "entries/s", "wait p50", "wait p99", "messages/entry")
	}
	p.trials++
	m := t.Measures
	p.printf(trialFormat, fmt.Sprint(t.Number), t.Verdict.Outcome, rate(m.EntriesPerS),
		micros(m.Wait.MicrosAt(0.5)), micros(m.Wait.MicrosAt(0.99)), plain(m.Messages.PerEntry, 2))
}

// summary prints the results of a run.
func (p *report) summary(r *bench.Run) {
	if p.trials > 1 {
		p.medians(r.Trials)
	}
	p.verdict(r)
	switch rows := r.Rows(); len(rows) {
	case 0:
	case 1:
		p.figures(r, &rows[0])
	default:
		var waits measure.Latency
		for _, t := range r.Trials {
			waits.Merge(&t.Measures.Wait)
		}
		p.histogram(&waits)
	}
	p.line("files", "%s", r.Folder.Path)
}

// medians prints the medians of the trials that ran to their end.
func (p *report) medians(trials []*bench.Trial) {
	of := func(f func(*measure.Measures) results.Figure) results.Figure {
		var figures []results.Figure
		for _, t := range trials {
			if t.Trouble == "" {
				figures = append(figures, f(t.Measures))
			}
		}
		return results.MedianFigure(figures)
	}
	p.printf(trialFormat+"\n", "", "median",
		rate(of(func(m *measure.Measures) results.Figure { return m.EntriesPerS })),
		micros(of(func(m *measure.Measures) results.Figure { return m.Wait.MicrosAt(0.5) })),
		micros(of(func(m *measure.Measures) results.Figure { return m.Wait.MicrosAt(0.99) })),
		plain(of(func(m *measure.Measures) results.Figure { return m.Messages.PerEntry }), 2))
}

// verdict prints the verdict, and of each trial that is not valid why.
func (p *report) verdict(r *bench.Run) {
	word := p.palette.outcome(r.Outcome())
	switch {
	case len(r.Trials) == 0:
		p.printf("%s  the run ended before its first trial was over\n", word)
	case len(r.Trials) == 1 && !r.Short():
		p.printf("%s  %s\n", word, indent(r.Trials[0].Verdict.Reason))
		p.witness(r.Trials[0])
	default:
		p.printf("%s  in %s trials\n", word, outOf(len(r.Trials), r.Record.Options.Trials))
		for _, t := range r.Trials {
			if t.Verdict.Outcome != check.Valid {
				p.printf("  trial %d: %s: %s\n", t.Number, p.palette.outcome(t.Verdict.Outcome), indent(t.Verdict.Reason))
				p.witness(t)
			}
		}
	}
	p.printf("\n")
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// witness prints what a verdict that is not valid rests on.
func (p *report) witness(t *bench.Trial) {
	for _, f := range t.Verdict.Findings {
		if f.Outcome == check.Valid || f.Outcome != check.Violated && f.Says != t.Verdict.Reason {
			continue // of a run that ended early many checks are inconclusive; verify shows them
		}
		if f.Says != t.Verdict.Reason {
			p.printf("  also %s: %s\n", f.Outcome, indent(f.Says))
		}
		for _, line := range f.Witness {
			p.printf("    %s\n", line)
		}
	}
	if t.Stall != "" {
		p.printf("\n%s", t.Stall)
	}
}

// figures prints what was measured in a run of one trial.
func (p *report) figures(r *bench.Run, row *results.Row) {
	t := r.Trials[0]
	if !row.EntriesInWindow.Known() {
		return // it ended before it was measured
	}
	p.throughput(row)
	p.latencies(t.Measures, row)
	p.printf("\n")
	p.histogram(&t.Measures.Wait)
	p.messages(t, row, r.Spec)
	p.line("fairness", "Jain index %s; entries per node %s; overtaken by at most %s",
		plain(row.JainIndex, 3), rangeOf(row.EntriesNodeMin, row.EntriesNodeMax), whole(row.OvertakenMax))
	if !row.NodeRSSMB.Known() && !row.CPUBusy.Known() {
		return // a simulated run has no timers, and no machine
	}
	p.line("timers", "late by %s (p50), %s (p99), %s (max)",
		micros(row.TimerLateUSP50), micros(row.TimerLateUSP99), micros(row.TimerLateUSMax))
	p.line("machine", "%s of the CPU time busy; broker %s of one core; largest node %s MB; up in %s ms",
		percent(row.CPUBusy), percent(row.BrokerCPU), plain(row.NodeRSSMB, 1), whole(row.ReadyMS))
	if busy, known := row.CPUBusy.Value(); known && busy > 0.9 {
		remark := "these times rank CPU cost, not algorithms"
		if zero, known := row.LatencyUS.Value(); known && zero == 0 {
			remark += "; add --latency"
		}
		p.line("", "%s", p.palette.paint(yellow, "CPU-bound: "+remark))
	}
}

func (p *report) throughput(row *results.Row) {
	text := fmt.Sprintf("%s entries/s: %s in %s; somebody inside for %s of it", rate(row.EntriesPerS),
		whole(row.EntriesInWindow), seconds(row.DurationS), percent(row.Utilisation))
	if row.UtilisationPredicted.Known() {
		text += fmt.Sprintf("; theory says %s entries/s, %s", rate(row.EntriesPerSPredicted),
			percent(row.UtilisationPredicted))
	}
	p.line("throughput", "%s", text)
	if issued, known := row.IssuedShare.Value(); known {
		p.line("issued", "%.1f%% of the requests due", 100*issued)
	}
}

func (p *report) latencies(m *measure.Measures, row *results.Row) {
	p.line("wait", "p50 %s, p90 %s, p99 %s, p99.9 %s, max %s", micros(row.WaitUSP50), micros(row.WaitUSP90),
		micros(row.WaitUSP99), micros(row.WaitUSP999), micros(row.WaitUSMax))
	if n := m.Wait.Censored(); n > 0 {
		p.line("", "%d of these waits never ended; they count with the age they had", n)
	}
	pair := func(name, about string, p50, p99 results.Figure) {
		if p50.Known() {
			p.line(name, "p50 %s, p99 %s%s", micros(p50), micros(p99), about)
		}
	}
	if row.IssuedShare.Known() {
		pair("  queue", "  (due to requested)", row.QueueUSP50, row.QueueUSP99)
		pair("  protocol", "  (requested to entered)", row.ProtocolUSP50, row.ProtocolUSP99)
	}
	pair("sync delay", "  (exit to the next enter, if that was asked for before)",
		row.SynchronizationDelayUSP50, row.SynchronizationDelayUSP99)
	pair("hold", "", row.HoldUSP50, row.HoldUSP99)
	if row.ClientDelayP50.Known() {
		p.line("client", "delay p50 %s  (the wait with all else at rest)", micros(row.ClientDelayP50))
	}
}

func (p *report) histogram(waits *measure.Latency) {
	if waits.Hist == nil {
		return
	}
	p.printf("%s waits:\n", english.Thousands(float64(waits.Count())))
	writeHistogram(p.w, waits.Hist)
	p.printf("\n")
}

// messages prints the messages of an entry, beside the published number.
func (p *report) messages(t *bench.Trial, row *results.Row, spec *spec) {
	const format = "  %-12s %12s %12s\n"
	p.printf("per entry   %15s %12s\n", "deliveries", "publishes")
	phase := results.WholeRun
	if t.Measures.Messages.Circulates {
		phase = results.Steady
	}
	for _, m := range t.Measures.MessageRows(spec.Codec()) {
		if m.Phase == phase {
			p.printf(format, m.Kind, plain(m.PerEntry, 3), plain(m.PublishesPerEntry, 3))
		}
	}
	p.printf(format, "together", plain(row.MessagesPerEntry, 3), plain(row.PublishesPerEntry, 3))
	p.line("published", "%s", p.published(t, row, spec))
	if row.OneEntryMean.Known() {
		p.line("one entry", "%s deliveries, on average %s", rangeOf(row.OneEntryMin, row.OneEntryMax),
			plain(row.OneEntryMean, 2))
	}
}

// published says what the algorithm was published to cost, and whether this run confirms it.
func (p *report) published(t *bench.Trial, row *results.Row, spec *spec) string {
	low, known := row.PublishedMin.Value()
	if !known {
		return "nothing under this load"
	}
	high, limited := row.PublishedMax.Value()
	if !limited {
		high = math.Inf(1)
	}
	r := nodes.Between(low, high)
	c := nodes.Config{N: row.Nodes}
	text := fmt.Sprintf("%s per entry (%s)", r, spec.Cost(c).Formula)
	got, measured := row.MessagesPerEntry.Value()
	switch {
	case !measured:
		return text
	case r.Has(got):
		return text + ": " + p.palette.paint(green, "confirmed")
	}
	return text + ": " + p.palette.paint(red, "NOT CONFIRMED")
}
