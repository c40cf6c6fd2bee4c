package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/bench/measure"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// figures prints what was measured in all trials: quantiles of the requests of all trials together, and of
// other figures the median, beside the least and the greatest where trials differ.
func (p *report) figures(s *bench.Summary) {
	t := table(s.Rows)
	if !t.known("entries_in_window") {
		return // the run ended before anything was measured
	}
	if s.Spec.Leads != nil {
		p.leaders(s, t)
		return
	}
	p.throughput(t)
	p.faults(s)
	p.latencies(s, t)
	p.printf("\n")
	p.histogram(s, results.WaitTag, "wait", "waits")
	p.elections(s, t)
	p.messages(s, t)
	p.fairness(t)
	p.detection(s, t)
	p.machine(s, t)
}

func (p *report) throughput(t table) {
	accepted := "accepted_in_window"
	if !t.known(accepted) { // an older version made the run
		accepted = "entries_in_window"
	}
	text := fmt.Sprintf("%s entries/s: %s in %s; somebody inside for %s of it", t.of("entries_per_s").text(rate),
		whole(t.sum(accepted)), seconds(t.sum("duration_s")), t.of("utilisation").text(percent))
	if t.known("utilisation_predicted") {
		text += fmt.Sprintf("; theory says %s entries/s, %s", rate(t.of("entries_per_s_predicted").median),
			percent(t.of("utilisation_predicted").median))
	}
	p.line("throughput", "%s", text)
	if refused, _ := t.sum("entries_refused").Value(); refused > 0 {
		p.line("refused", "%s of %s entries of the whole run, which count in no rate", english.Thousands(refused),
			whole(t.sum("entries")))
	}
	if secluded, _ := t.sum("entries_in_minority").Value(); secluded > 0 {
		p.line("minority", "%s of %s entries by clients that could reach no majority", english.Thousands(secluded),
			whole(t.sum("entries")))
	}
	p.window(t)
	switch {
	case t.known("issued_share"):
		p.line("issued", "%s of the requests due", t.of("issued_share").text(finePercent))
	case t[0].Load == string(workload.Open):
		p.line("issued", "not known, since the run ended before: waits of requests not made are left out")
	}
}

// window says how long the warm-up took, if the clients decided that, and whether what was measured shows
// more than a beginning: two entries of each client that requested.
func (p *report) window(t table) {
	if t.known("warmup_limit_s") {
		text := "took " + t.of("warmup_took_s").text(seconds)
		if late := t.where(func(row *results.Row) bool {
			took, _ := row.WarmupTookS.Value()
			limit, _ := row.WarmupLimitS.Value()
			return took >= limit
		}); late > 0 {
			text += ": its limit, by when some clients still waited for their first or second entry"
		}
		p.line("warm-up", "%s", text)
	}
	const each = 2
	var wouldDo, clients float64
	short := t.where(func(row *results.Row) bool {
		had, measured := row.EntriesInWindow.Value()
		n, _ := row.Clients.Value()
		length, _ := row.DurationS.Value()
		if row.EntriesAsked.Known() || !measured || had >= each*n {
			return false
		}
		wouldDo, clients = max(wouldDo, math.Ceil(length*each*n/max(had, 1))), max(clients, n)
		return true
	})
	if short > 0 {
		p.warn("the window is short: it has fewer than two entries for each of %.0f clients; "+
			"--duration %.0fs would do", clients, wouldDo)
	}
}

// warn prints a remark to the line above.
func (p *report) warn(format string, args ...any) {
	p.line("", "%s", p.palette.paint(yellow, fmt.Sprintf(format, args...)))
}

// A quantile is one that the summary prints, with its name there and in columns.
type quantile struct {
	name, column string
	q            float64
}

var (
	middle    = quantile{"p50", "p50", 0.5}
	high      = quantile{"p99", "p99", 0.99}
	quantiles = []quantile{middle, {"p90", "p90", 0.9}, high, {"p99.9", "p999", 0.999}, {"max", "max", 1}}
)

func (p *report) latencies(s *bench.Summary, t table) {
	p.latency(s, t, "wait", "", results.WaitTag, "wait_us_", quantiles...)
	waits := measure.LatencyOf(s.Latencies, results.WaitTag)
	if n := waits.Censored(); n > 0 {
		p.line("", "%d of these waits never ended; they count with the age they had", n)
	}
	if t.known("issued_share") {
		p.latency(s, t, "  queue", "  (due to requested)", measure.QueueTag, "queue_us_", middle, high)
		p.latency(s, t, "  protocol", "  (requested to entered)", measure.ProtocolTag, "protocol_us_", middle, high)
	}
	p.latency(s, t, "sync delay", "  (exit to the next enter, if that was asked for before)",
		measure.SynchronizationDelayTag, "sync_delay_us_", middle, high)
	p.latency(s, t, "hold", "", measure.HoldTag, "hold_us_", middle, high)
	if t.known("client_delay_us_p50") {
		p.line("client", "delay p50 %s  (the wait with all else at rest)", micros(waits.MicrosAt(0.5)))
	}
}

// latency prints quantiles of the latencies of all trials together, and below them how far those of single
// trials are apart.
func (p *report) latency(s *bench.Summary, t table, name, about, tag, column string, of ...quantile) {
	all := measure.LatencyOf(s.Latencies, tag)
	if all.Hist == nil {
		return
	}
	var together, apart string
	varies := false
	for i, q := range of {
		if i > 0 {
			together, apart = together+", ", apart+", "
		}
		trials := t.of(column + q.column)
		together += q.name + " " + micros(all.MicrosAt(q.q))
		apart += q.name + " " + trials.limits(micros)
		varies = varies || trials.varies(micros)
	}
	p.line(name, "%s%s", together, about)
	if varies {
		p.line("  by trial", "%s", apart)
	}
}

// fewValues is below how many latencies there is no distribution to draw.
const fewValues = 10

// histogram draws the latencies of a tag of all trials, or prints them if they are few. One and many are
// their names.
func (p *report) histogram(s *bench.Summary, tag, one, many string) {
	all := measure.LatencyOf(s.Latencies, tag)
	if all.Hist == nil {
		return
	}
	p.printf("%s:", english.Count(all.Count(), one, many))
	if all.Count() < fewValues {
		var values []string
		for _, value := range all.Values() {
			values = append(values, micros(value))
		}
		p.printf(" %s\n\n", strings.Join(values, ", "))
		return
	}
	p.printf("\n")
	writeHistogram(p.w, all.Hist)
	p.printf("\n")
}

// messages prints the messages of an entry, beside the published number.
func (p *report) messages(s *bench.Summary, t table) {
	p.printf("per entry   %15s %12s\n", "deliveries", "publishes")
	line := func(name string, deliveries, publishes spread) {
		p.printf("  %-12s %12s %12s", name, plain(deliveries.median, 3), plain(publishes.median, 3))
		if deliveries.varies(precise) {
			p.printf("   (deliveries %s)", deliveries.limits(precise))
		}
		p.printf("%s\n", deliveries.share())
	}
	phase := results.WholeRun
	if slices.ContainsFunc(s.Messages, func(m results.MessageRow) bool { return m.Phase == results.Steady }) {
		phase = results.Steady
	}
	var kinds []string
	deliveries, publishes := map[string][]results.Figure{}, map[string][]results.Figure{}
	for _, m := range s.Messages {
		if m.Phase != phase || s.Heartbeat(m.Kind) {
			continue
		}
		if deliveries[m.Kind] == nil {
			kinds = append(kinds, m.Kind)
		}
		deliveries[m.Kind] = append(deliveries[m.Kind], m.PerEntry)
		publishes[m.Kind] = append(publishes[m.Kind], m.PublishesPerEntry)
	}
	for _, kind := range kinds {
		line(kind, spreadOf(deliveries[kind]), spreadOf(publishes[kind]))
	}
	line("together", t.of("messages_per_entry"), t.of("publishes_per_entry"))
	p.line("published", "%s", p.published(s, t))
	if t.known("one_entry_messages_mean") {
		p.line("one entry", "%s deliveries, on average %s", rangeOf(t.of("one_entry_messages_min").least,
			t.of("one_entry_messages_max").most), t.of("one_entry_messages_mean").text(hundredths))
	}
}

// published says what the algorithm was published to cost, and whether the trials confirm it.
func (p *report) published(s *bench.Summary, t table) string {
	least, known := t[0].PublishedMin.Value()
	if !known {
		return "nothing under this load"
	}
	most, limited := t[0].PublishedMax.Value()
	if !limited {
		most = math.Inf(1)
	}
	r := nodes.Between(least, most)
	text := fmt.Sprintf("%s per entry (%s)", r, s.Spec.Cost(s.Record.Options.Config).Formula)
	judged, off, within, against := 0, 0, "", ""
	for i, row := range t {
		got, measured := row.MessagesPerEntry.Value()
		cost, identities := finding(&s.Verdicts[i], "cost"), finding(&s.Verdicts[i], "identities")
		worst := cost
		if identities.Outcome == check.Violated && cost.Outcome != check.Violated {
			worst = identities
		}
		switch {
		case worst.Outcome == check.Violated:
			judged, off = judged+1, off+1
			if measured && r.Has(got) && against == "" {
				within, against = "within, but ", ": "+worst.Says
			}
		case cost.Outcome == check.Valid && !cost.NotJudged && measured && r.Has(got):
			judged++
		}
	}
	violated := s.Outcome() == check.Violated
	switch {
	case judged == 0:
		return text
	case off > 0 && len(t) > 1:
		return text + ": " + within + p.palette.paint(red, "NOT CONFIRMED") + " in " + trials(off, judged) + against
	case off > 0:
		return text + ": " + within + p.palette.paint(red, "NOT CONFIRMED") + against
	case r.Exact() && violated:
		return text + ": the run took as many, though it is violated"
	case r.Exact():
		return text + ": " + p.palette.paint(green, "confirmed")
	case violated:
		return text + ": the run is within, though it is violated"
	}
	return text + ": the run is " + p.palette.paint(green, "within")
}

// finding returns what a check says of a trial.
func finding(v *check.Verdict, name string) check.Finding {
	for _, f := range v.Findings {
		if f.Check == name {
			return f
		}
	}
	return check.Finding{Outcome: check.Inconclusive}
}

func (p *report) fairness(t table) {
	overtaken := t.of("overtaken_max").most
	text := "nobody was overtaken"
	switch n, _ := overtaken.Value(); {
	case overtaken.IsBound() && n == 0:
		text = "nobody was overtaken so far (some requests were not served)"
	case overtaken.IsBound():
		text = fmt.Sprintf("overtaken %s or more (some requests were not served)",
			english.Count(uint64(n), "time", "times"))
	case n > 0:
		text = "overtaken at most " + english.Count(uint64(n), "time", "times")
	}
	p.line("fairness", "Jain index %s; entries per node %s; %s", t.of("jain_index").text(precise),
		entriesPerNode(t), text)
}

// entriesPerNode says how far the nodes of one trial are apart: how far trials are is no matter of fairness.
func entriesPerNode(t table) string {
	widest, ratio, alike := 0, 0.0, true
	for i := range t {
		least, _ := t[i].EntriesNodeMin.Value()
		most, _ := t[i].EntriesNodeMax.Value()
		if r := (most + 1) / (least + 1); r > ratio {
			widest, ratio = i, r
		}
		alike = alike && t[i].EntriesNodeMin == t[0].EntriesNodeMin && t[i].EntriesNodeMax == t[0].EntriesNodeMax
	}
	text := rangeOf(t[widest].EntriesNodeMin, t[widest].EntriesNodeMax)
	switch {
	case alike:
		return text
	case ratio == 1:
		return rangeOf(t.of("entries_node_min").least, t.of("entries_node_max").most) +
			" by trial, of a trial all alike"
	}
	return fmt.Sprintf("%s (in trial %d, where they differ most)", text, t[widest].Trial)
}

// machine prints what the run took of the machine. A simulated run has no timers, and no machine.
func (p *report) machine(s *bench.Summary, t table) {
	m := s.Record.Machine
	if !t.known("node_rss_mb_max") && !t.known("cpu_busy") {
		return
	}
	p.line("timers", "late by %s (p50), %s (p99), %s (max)", micros(t.of("timer_late_us_p50").median),
		micros(t.of("timer_late_us_p99").median), micros(t.of("timer_late_us_max").most))
	p.line("machine", "%s; largest node %s MB; up in %s ms", usedOf(t, m),
		plain(t.of("node_rss_mb_max").most, 1), t.of("ready_ms").text(whole))
	for i := range t {
		p.pauses(s, i)
	}
	p.cpuBound(t, m)
}

// pauses warns of processes that stood still in a trial.
func (p *report) pauses(s *bench.Summary, trial int) {
	row, text := &s.Rows[trial], s.Verdicts[trial].Pauses
	longest, _ := row.PauseSMax.Value()
	switch {
	case text == "" && longest == 0:
		return
	case text == "": // an older Turnstile made the run
		text = fmt.Sprintf("a process stood still for %s; verify says which", seconds(row.PauseSMax))
	}
	if len(s.Rows) > 1 {
		text = fmt.Sprintf("trial %d: %s", row.Trial, text)
	}
	const much = 1.1
	asked, _ := row.DurationAskedS.Value()
	if took, _ := row.DurationS.Value(); asked > 0 && took > much*asked {
		text += fmt.Sprintf("; the window is %s long, and %s were asked for", seconds(row.DurationS),
			seconds(row.DurationAskedS))
	}
	p.warn("%s", text)
}
