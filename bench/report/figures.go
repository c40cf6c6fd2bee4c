package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/foreign"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// figures prints what was measured in all trials: quantiles of the requests of all trials together, and of
// other figures the median, beside the least and the greatest where trials differ.
func (p *Report) figures(s *bench.Summary) {
	t := table(s.Rows)
	if !t.known(results.DurationS) {
		return // the run ended before anything was measured
	}
	layoutOf(s.Job).figures(p, s, t)
}

// entries prints the figures of a run in which clients enter.
func (p *Report) entries(s *bench.Summary, t table) {
	p.throughput(s, t)
	p.units(s, t)
	p.work(s, t)
	p.told(t)
	p.faults(s)
	p.latencies(s, t)
	p.printf("\n")
	p.histogram(s, measure.LatencyNamed(measure.WaitTag))
	p.divided(s, t)
	p.elections(s, t)
	p.messages(s, t)
	p.fairness(t)
	p.detection(s, t)
	p.machine(s, t)
}

// work prints the work that clients did inside. It prints nothing if they wrote the account alone.
func (p *Report) work(s *bench.Summary, t table) {
	w := s.Record.Options.Workload.Work
	if w == workload.Account || !t.known(results.WorkDone) {
		return
	}
	sum := func(column results.Column) uint64 { n, _ := t.sum(column).Value(); return uint64(n) }
	says := w.Says(sum(results.WorkDone), sum(results.WorkSpoilt))
	if undone := sum(results.SharesUndone); undone > 0 {
		says += ", and " + english.Count(undone, "share", "shares") + " never done, since a node died first"
	}
	p.line("work", "%s", says)
}

func (p *Report) throughput(s *bench.Summary, t table) {
	text := fmt.Sprintf("%s entries/s: %s in %s; somebody inside for %s of it",
		t.of(results.EntriesPerS).text(format.Rate), format.Whole(t.sum(results.AcceptedInWindow)),
		format.Seconds(t.sum(results.DurationS)), t.of(results.Utilisation).text(format.Percent))
	if t.known(results.UtilisationMean) {
		text += fmt.Sprintf(", each of %s resources taken for %s on average", t[0].Text(option.ResourcesColumn),
			t.of(results.UtilisationMean).text(format.FinePercent))
	}
	if t.known(results.UtilisationPredicted) {
		text += fmt.Sprintf("; theory says %s entries/s, %s",
			format.Rate(t.of(results.EntriesPerSPredicted).median),
			format.Percent(t.of(results.UtilisationPredicted).median))
	}
	p.line("throughput", "%s", text)
	if says := s.Job.Lockstep(); says != "" {
		p.line("", "%s", says)
	}
	if refused, _ := t.sum(results.EntriesRefused).Value(); refused > 0 {
		p.line("refused", "%s of %s entries of the whole run, which count in no rate", english.Thousands(refused),
			format.Whole(t.sum(results.Entries)))
	}
	if secluded, _ := t.sum(results.EntriesInMinority).Value(); secluded > 0 {
		p.line("minority", "%s of %s entries by clients that could reach no majority", english.Thousands(secluded),
			format.Whole(t.sum(results.Entries)))
	}
	p.window(t)
	switch {
	case t.known(results.IssuedShare):
		p.line("issued", "%s of the requests due", t.of(results.IssuedShare).text(format.FinePercent))
	case t[0].Text(option.LoadColumn) == string(workload.Open):
		p.line("issued", "%s", unissued(s))
	}
}

// unissued says why it is not known which share of the requests due was issued.
func unissued(s *bench.Summary) string {
	ended := slices.ContainsFunc(s.Verdicts, func(v check.Verdict) bool { return v.Stall != nil }) ||
		slices.ContainsFunc(s.Record.Trials, func(t bench.TrialRecord) bool { return t.Trouble != "" })
	if ended {
		return "not known, since the run ended before: waits of requests not made are left out"
	}
	return "no request fell due while it was measured"
}

// window says how long the warm-up took, if the clients decided that, and whether what was measured shows
// more than a beginning: two entries of each client that requested.
func (p *Report) window(t table) {
	if t.known(option.LimitColumn) {
		text := "took " + t.of(results.WarmupTookS).text(format.Seconds)
		if late := t.where(func(row *results.Row) bool {
			took, _ := row.WarmupTookS.Value()
			limit, _ := row.Figure(option.LimitColumn).Value()
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
		if row.Figure(option.EntriesColumn).Known() || !measured || had >= each*n {
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
func (p *Report) warn(format string, args ...any) {
	p.line("", "%s", p.palette.Paint(terminal.Yellow, fmt.Sprintf(format, args...)))
}

// A quantile is one that the summary prints, with its name there and in columns.
type quantile struct {
	name, column string
	q            float64
}

var (
	middle    = quantile{"p50", "p50", 0.5}
	high      = quantile{"p99", "p99", 0.99}
	longest   = quantile{"max", "max", 1}
	quantiles = []quantile{middle, {"p90", "p90", 0.9}, high, {"p99.9", "p999", 0.999}, longest}
)

func (p *Report) latencies(s *bench.Summary, t table) {
	p.latency(s, t, measure.WaitTag, quantiles...)
	waits := measure.LatencyOf(s.Latencies, measure.WaitTag)
	if n := waits.Censored(); n > 0 {
		p.line("", "%d of these waits never ended; they count with the age they had", n)
	}
	if t.known(results.IssuedShare) {
		p.latency(s, t, measure.QueueTag, middle, high)
		p.latency(s, t, measure.ProtocolTag, middle, high)
	}
	p.latency(s, t, measure.SynchronizationDelayTag, middle, high)
	p.latency(s, t, measure.HoldTag, middle, high)
	if t.known(results.ClientDelayP50) {
		p.line("client", "delay p50 %s  (the wait with all else at rest)", format.Micros(waits.MicrosAt(0.5)))
	}
}

// latency prints quantiles of the latencies of all trials together, and below them how far those of single
// trials are apart.
func (p *Report) latency(s *bench.Summary, t table, tag string, of ...quantile) {
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
		trials := t.of(results.Column(tag + "_us_" + q.column))
		together += q.name + " " + format.Micros(all.MicrosAt(q.q))
		apart += q.name + " " + trials.limits(format.Micros)
		varies = varies || trials.varies(format.Micros)
	}
	kind := measure.LatencyNamed(tag)
	about := aboutOf(s, kind)
	if about != "" {
		about = "  (" + about + ")"
	}
	p.line(kind.Name, "%s%s", together, about)
	if varies {
		p.line("  by trial", "%s", apart)
	}
}

// fewValues is below how many latencies there is no distribution to draw.
const fewValues = 10

// histogram draws the latencies of all trials, or prints them if they are few.
func (p *Report) histogram(s *bench.Summary, kind measure.LatencyKind) {
	all := measure.LatencyOf(s.Latencies, kind.Tag)
	if all.Hist == nil {
		return
	}
	p.printf("%s:", english.Count(all.Count(), kind.One, kind.Many))
	if all.Count() < fewValues {
		var values []string
		for _, value := range all.Values() {
			values = append(values, format.Micros(value))
		}
		p.printf(" %s\n\n", strings.Join(values, ", "))
		return
	}
	p.printf("\n")
	writeHistogram(p.w, all.Hist)
	p.printf("\n")
}

// serverBytes prints what clients of a service exchange with its servers.
func (p *Report) serverBytes(t table) {
	bytes := t.of(results.ServerBytesPerEntry)
	if bytes.known == 0 {
		p.line("per entry", "the messages of a service are not counted; its bytes are, with --proxies")
		return
	}
	p.line("per entry", "%s bytes between clients and servers", format.Plain(bytes.median, 0))
}

// messages prints the messages of an entry, beside the published number.
func (p *Report) messages(s *bench.Summary, t table) {
	if s.Record.Options.Config.Options[foreign.ServiceOption] != "" {
		p.serverBytes(t)
		return
	}
	p.printf("per entry   %15s %12s\n", "deliveries", "publishes")
	line := func(name string, deliveries, publishes spread) {
		p.printf("  %-12s %12s %12s", name, format.Plain(deliveries.median, 3), format.Plain(publishes.median, 3))
		if deliveries.varies(format.Precise) {
			p.printf("   (deliveries %s)", deliveries.limits(format.Precise))
		}
		p.printf("%s\n", deliveries.share())
	}
	phase := measure.WholeRun
	if slices.ContainsFunc(s.Messages, func(m results.MessageRow) bool { return m.Phase == measure.Steady }) {
		phase = measure.Steady
	}
	var kinds []string
	deliveries, publishes := map[string][]figure.Figure{}, map[string][]figure.Figure{}
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
	line("together", t.of(results.MessagesPerEntry), t.of(results.PublishesPerEntry))
	p.line("published", "%s", p.published(s, t))
	if t.known(results.OneEntryMean) {
		p.line("one entry", "%s deliveries, on average %s", format.Range(t.of(results.OneEntryMin).least,
			t.of(results.OneEntryMax).most), t.of(results.OneEntryMean).text(format.Hundredths))
	}
}

// published says what the algorithm was published to cost, and whether the trials confirm it.
func (p *Report) published(s *bench.Summary, t table) string {
	least, known := t[0].PublishedMin.Value()
	if !known {
		return "nothing under this load"
	}
	most, limited := t[0].PublishedMax.Value()
	if !limited {
		most = math.Inf(1)
	}
	r := row.Between(least, most)
	text := fmt.Sprintf("%s per entry (%s)", r, s.Spec.Exclusion().Cost(s.Record.Options.Config).Formula)
	judged, off, within, against := 0, 0, "", ""
	for i, row := range t {
		got, measured := row.MessagesPerEntry.Value()
		cost, identities := s.Verdicts[i].About(check.AboutCost), s.Verdicts[i].About(check.AboutIdentities)
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
		return text + ": " + within + p.palette.Paint(terminal.Red, "NOT CONFIRMED") + " in " + trials(off,
			judged) + against
	case off > 0:
		return text + ": " + within + p.palette.Paint(terminal.Red, "NOT CONFIRMED") + against
	case r.Exact() && violated:
		return text + ": the run took as many, though it is violated"
	case r.Exact():
		return text + ": " + p.palette.Paint(terminal.Green, "confirmed")
	case violated:
		return text + ": the run is within, though it is violated"
	}
	return text + ": the run is " + p.palette.Paint(terminal.Green, "within")
}

func (p *Report) fairness(t table) {
	overtaken := t.of(results.OvertakenMax).most
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
	p.line("fairness", "Jain index %s; entries per node %s; %s", t.of(results.JainIndex).text(format.Precise),
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
	text := format.Range(t[widest].EntriesNodeMin, t[widest].EntriesNodeMax)
	if none, _ := t[widest].WithoutEntry.Value(); none > 0 {
		text += fmt.Sprintf(", and %s of %s clients got nothing", format.Plain(t[widest].WithoutEntry, 0),
			format.Plain(t[widest].Clients, 0))
	}
	switch {
	case alike:
		return text
	case ratio == 1:
		return format.Range(t.of(results.EntriesNodeMin).least, t.of(results.EntriesNodeMax).most) +
			" by trial, of a trial all alike"
	}
	return fmt.Sprintf("%s (in trial %d, where they differ most)", text, t[widest].Trial)
}

// machine prints what the run took of the machine. A simulated run has no timers, and no machine.
func (p *Report) machine(s *bench.Summary, t table) {
	m := s.Record.Machine
	if !t.known(results.NodeRSSMB) && !t.known(results.CPUBusy) {
		return
	}
	p.line("timers", "late by %s (p50), %s (p99), %s (max)", format.Micros(t.of(results.TimerLateUSP50).median),
		format.Micros(t.of(results.TimerLateUSP99).median), format.Micros(t.of(results.TimerLateUSMax).most))
	p.clocks(t)
	p.line("machine", "%s; largest node %s MB; up in %s ms", usedOf(t, m),
		format.Plain(t.of(results.NodeRSSMB).most, 1), t.of(results.ReadyMS).text(format.Whole))
	for i := range t {
		p.pauses(s, i)
	}
	p.cpuBound(t, m)
}

// pauses warns of processes that stood still in a trial.
func (p *Report) pauses(s *bench.Summary, trial int) {
	row, text := &s.Rows[trial], s.Verdicts[trial].Pauses
	if text == "" {
		return
	}
	if len(s.Rows) > 1 {
		text = fmt.Sprintf("trial %d: %s", row.Trial, text)
	}
	const much = 1.1
	asked, _ := row.Figure(option.DurationColumn).Value()
	if took, _ := row.DurationS.Value(); asked > 0 && took > much*asked {
		text += fmt.Sprintf("; the window is %s long, and %s were asked for", format.Seconds(row.DurationS),
			format.Seconds(row.Figure(option.DurationColumn)))
	}
	p.warn("%s", text)
}
