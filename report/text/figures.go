package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// figures prints the measured figures. Quantiles are over the requests of all trials together. For any other
// figure it prints the median over the trials, with the least and the greatest value if trials differ.
func (p *Report) figures(s *runs.Summary) {
	t := table(s.Rows)
	if !t.known(results.DurationS) {
		return // the run ended before anything was measured
	}
	kindOf(s.Job).figures(p, s, t)
}

// entries prints the figures of a run in which clients enter.
func (p *Report) entries(s *runs.Summary, t table) {
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

// work prints the work that clients did inside. It prints nothing if they only wrote the account.
func (p *Report) work(s *runs.Summary, t table) {
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

func (p *Report) throughput(s *runs.Summary, t table) {
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
		p.line("refused", "%s of %s entries in the whole run had their write refused; no rate counts them",
			english.Thousands(refused), format.Whole(t.sum(results.Entries)))
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

// unissued explains why the share of due requests that were issued is unknown.
func unissued(s *runs.Summary) string {
	ended := slices.ContainsFunc(s.Verdicts, func(v check.Verdict) bool { return v.Stall != nil }) ||
		slices.ContainsFunc(s.Record.Trials, func(t runs.TrialRecord) bool { return t.Trouble != "" })
	if ended {
		return "unknown, since the run ended early; requests that were due but never issued have no wait in the " +
			"figures"
	}
	return "no request fell due while it was measured"
}

// window prints how long the warm-up took, if clients could extend it, and warns of a window that is too
// short: one with fewer than two entries per client that requested.
func (p *Report) window(t table) {
	if t.known(option.LimitColumn) {
		text := "took " + t.of(results.WarmupTookS).text(format.Seconds)
		if late := t.where(func(row *results.Row) bool {
			took, _ := row.WarmupTookS.Value()
			limit, _ := row.Figure(option.LimitColumn).Value()
			return took >= limit
		}); late > 0 {
			text += ", its limit: some clients had not entered twice by then"
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

// warn prints a remark about the line above.
func (p *Report) warn(format string, args ...any) {
	p.line("", "%s", p.palette.Paint(terminal.Yellow, fmt.Sprintf(format, args...)))
}

// A quantile is a quantile that the summary prints, with its name in the summary and in names of columns.
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

func (p *Report) latencies(s *runs.Summary, t table) {
	p.latency(s, t, measure.WaitTag, quantiles...)
	waits := measure.LatencyOf(s.Latencies, measure.WaitTag)
	if n := waits.Censored(); n > 0 {
		p.line("", "%d of these waits ended without an entry; they count with the age that they had", n)
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

// latency prints quantiles of the latencies of all trials together, and below them the range over single
// trials.
func (p *Report) latency(s *runs.Summary, t table, tag string, of ...quantile) {
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

// fewValues is the count of latencies below which histogram prints them one by one.
const fewValues = 10

// histogram draws the latencies of all trials, or lists them if they are few.
func (p *Report) histogram(s *runs.Summary, kind measure.LatencyKind) {
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

// serverBytes prints how many bytes clients of a service exchange with its servers.
func (p *Report) serverBytes(t table) {
	bytes := t.of(results.ServerBytesPerEntry)
	if bytes.known == 0 {
		p.line("per entry", "the messages of a service are not counted; its bytes are, with --proxies")
		return
	}
	p.line("per entry", "%s bytes between clients and servers", format.Plain(bytes.median, 0))
}

// messages prints the messages per entry, next to the published cost.
func (p *Report) messages(s *runs.Summary, t table) {
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
		of := spreadOf(deliveries[kind])
		if most, _ := of.most.Value(); most > 0 || !unnamed(s, kind) {
			line(kind, of, spreadOf(publishes[kind]))
		}
	}
	line("together", t.of(results.MessagesPerEntry), t.of(results.PublishesPerEntry))
	p.line("published", "%s", p.published(s, t))
	if t.known(results.OneEntryMean) {
		p.line("one entry", "%s deliveries, on average %s", format.Range(t.of(results.OneEntryMin).least,
			t.of(results.OneEntryMax).most), t.of(results.OneEntryMean).text(format.Hundredths))
	}
}

// unnamed reports whether messages of a kind have no name of their own in a foreign program.
func unnamed(s *runs.Summary, kind string) bool {
	return foreign.Is(s.Record.Options.Config) && foreign.Undeclared(kind)
}

// published prints the published cost, and whether the trials confirm it.
func (p *Report) published(s *runs.Summary, t table) string {
	least, known := t[0].PublishedMin.Value()
	if !known {
		return "nothing under this load"
	}
	most, limited := t[0].PublishedMax.Value()
	if !limited {
		most = math.Inf(1)
	}
	r := algorithm.Between(least, most)
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
		return text + ": the measured figure equals it, though the run is violated"
	case r.Exact():
		return text + ": " + p.palette.Paint(terminal.Green, "confirmed")
	case violated:
		return text + ": the measured figure lies in the range, though the run is violated"
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

// entriesPerNode prints the range of entries per node within one trial: differences between trials say
// nothing about fairness.
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
			" by trial, equal within each trial"
	}
	return fmt.Sprintf("%s (in trial %d, where they differ most)", text, t[widest].Trial)
}

// machine prints what the run used of the machine. Simulated runs have no timers and no machine.
func (p *Report) machine(s *runs.Summary, t table) {
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
	p.cpuBound(s, t)
}

// pauses warns of processes that were not running for some time in a trial.
func (p *Report) pauses(s *runs.Summary, trial int) {
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

// usedOf prints the CPU time used by the run and by other processes. Under a quota, the share of the run is a
// share of the quota; the quota does not limit other processes, so their share is a share of the machine.
func usedOf(t table, m results.Machine) string {
	of, total, others := "of the CPU time", t.of(results.CPUBusy), ", others %s"
	if limited(m) {
		of, total = "of the limit of "+quota(m), spreadOf(ours(t))
		others = "; others used %s of the " + english.Count(m.Cores, "core", "cores")
	}
	if !t.known(results.OwnCPU) {
		return t.of(results.CPUBusy).text(format.Percent) + " of the CPU time used"
	}
	if total.known == 0 { // for a short run, the system may not report the use by others
		total = spreadOf(ours(t))
	}
	text := fmt.Sprintf("%s %s used: the run %s", total.text(format.Percent), of,
		t.of(results.OwnCPU).text(format.Percent))
	if t.known(results.BrokerShare) {
		text += ", its broker " + t.of(results.BrokerShare).text(format.Percent)
	}
	if !t.known(results.OthersCPU) {
		return text + "; what others used is not known"
	}
	return text + fmt.Sprintf(others, t.of(results.OthersCPU).text(format.Percent))
}

// ours returns the CPU time that the run and its broker used in each trial, as a share of the CPU time that
// they could use.
func ours(t table) (figures []figure.Figure) {
	for i := range t {
		own, known := t[i].OwnCPU.Value()
		broker, _ := t[i].BrokerShare.Value()
		if !known {
			figures = append(figures, figure.Figure{})
			continue
		}
		figures = append(figures, figure.Number(own+broker))
	}
	return figures
}

// cpuBound warns that CPU load has distorted times, and says whether it was the load of the run or of other
// processes.
func (p *Report) cpuBound(s *runs.Summary, t table) {
	m := s.Record.Machine
	busy := slices.DeleteFunc(slices.Clone(t), func(row results.Row) bool { return !row.CPUBound() })
	if len(busy) == 0 {
		return
	}
	in := ""
	if len(t) > 1 {
		in = fmt.Sprintf("in %s ", trials(len(busy), len(t)))
	}
	used, _ := spreadOf(ours(busy)).median.Value()
	by, ofMachine := "", used
	if limited(m) {
		by, ofMachine = " by its limit of "+quota(m), used*m.CPUQuota/float64(m.Cores)
	}
	others, known := busy.of(results.OthersCPU).median.Value()
	switch usedUp := limited(m) && used > results.CPUBoundAbove; {
	case known && others > ofMachine && !usedUp:
		p.warn("CPU-bound: %sother programs used %s of the machine, which lengthened these times: "+
			"repeat the run without them", in, format.Percent(figure.Number(others)))
		return
	case limited(m) && !usedUp:
		by = " by the machine"
	}
	remark := "these times rank CPU cost, not algorithms"
	latency, known := t[0].LatencyUS.Value()
	if known && latency == 0 && !foreign.Silent(s.Record.Options.Config) {
		remark += "; add --latency"
	}
	p.warn("CPU-bound%s: %s%s", by, in, remark)
}

// limited reports whether control groups limit a run to less than the whole machine.
func limited(m results.Machine) bool { return m.CPUQuota > 0 }

// quota returns the CPU time that the control groups of a run allow, as text.
func quota(m results.Machine) string {
	text := strconv.FormatFloat(m.CPUQuota, 'g', 3, 64)
	if text == "1" {
		return "1 CPU"
	}
	return text + " CPUs"
}

// detection prints the suspicions of the failure detectors, and how many were wrong.
func (p *Report) detection(s *runs.Summary, t table) {
	if !s.Record.Options.Detects() {
		return
	}
	p.line("detector", "%s", s.Record.Options.Detector)
	said := "nobody was suspected"
	if most, _ := t.of(results.Suspicions).most.Value(); most > 0 {
		said = fmt.Sprintf("suspicions %s, wrong %s (%s per hour)", t.of(results.Suspicions).text(format.Whole),
			t.of(results.SuspicionsWrong).text(format.Whole), t.of(results.WrongPerHour).text(format.Whole))
		if still := t.of(results.WrongStill); positive(still.most) {
			said += fmt.Sprintf("; of the wrong ones %s of nodes that stood still, %s of others",
				still.text(format.Whole), wrongOfOthers(t).text(format.Whole))
		}
	}
	p.line("", "%s heartbeats; %s", t.of(results.Heartbeats).text(format.Whole), said)
	if t.known(results.DetectionUSMax) {
		p.line("", "crashes detected after %s on average, at most %s",
			t.of(results.DetectionUSMean).text(format.Micros), t.of(results.DetectionUSMax).text(format.Micros))
	}
}

// wrongOfOthers returns the wrong suspicions of nodes that did not stand still.
func wrongOfOthers(t table) spread {
	var figures []figure.Figure
	for i := range t {
		wrong, _ := t[i].SuspicionsWrong.Value()
		still, known := t[i].WrongStill.Value()
		if known {
			figures = append(figures, figure.Number(wrong-still))
		}
	}
	return spreadOf(figures)
}

// epochs prints, for each fault, how many new epochs the algorithm began (for instance by regenerating its
// token), and for how long no client entered. Beside this it prints the time after which a textbook
// implementation would regenerate the token.
func (p *Report) epochs(s *runs.Summary, faults []faultTable) {
	for _, rows := range faults[:min(listedFaults, len(faults))] {
		count := rows.of(results.EpochsNew)
		if count.known == 0 {
			continue // the algorithm has no epochs
		}
		text := fmt.Sprintf("new %ss: %s", s.Spec.Exclusion().Epochs.One, count.text(format.Whole))
		if first := &rows[0]; len(rows) == 1 {
			text += fmt.Sprintf(", epoch %s after %s", format.Whole(first.EpochAfter), format.Whole(first.EpochBefore))
		}
		p.line("epochs", "fault %d: %s; nobody entered for %s%s", rows[0].Number, text,
			rows.of(results.SilenceS).text(format.Seconds), textbook(s, &rows[0]))
	}
}

// textbook returns, as text, the time without entries after which a textbook implementation considers the
// holder lost. It returns "" if the algorithm has no formula for this time.
func textbook(s *runs.Summary, fault *results.FaultRow) string {
	formula := s.Spec.Exclusion().Silence.Formula
	switch {
	case formula == "":
		return ""
	case !fault.SilenceTextbookS.Known():
		return fmt.Sprintf("; %s is unknown: --latency and --hold must be bounded, and --latency above 0", formula)
	}
	return fmt.Sprintf("; %s = %s", formula, format.Seconds(fault.SilenceTextbookS))
}

// told prints what clients did after they had lost their lock. It prints nothing if no client lost its lock.
func (p *Report) told(t table) {
	of := func(column results.Column) uint64 { n, _ := t.sum(column).Value(); return uint64(n) }
	in := func(entries uint64) string { return "in " + english.Count(entries, "entry", "entries") }
	name := "lost locks"
	say := func(entries uint64, text string, args ...any) {
		if entries > 0 {
			p.line(name, "%s %s", in(entries), fmt.Sprintf(text, args...))
			name = ""
		}
	}
	stayed := of(results.ToldStayed)
	say(stayed, "the client went on for up to %s after it was told that the lock was lost",
		format.Micros(t.of(results.ToldInsideUSMax).most))
	say(of(results.EntriesTold)-stayed, "the client left as soon as it was told that the lock was lost")
	if untold := of(results.OverlappedUntold); of(results.EntriesTold) > 0 {
		say(untold, "another client entered %sbefore the client was told that the lock was lost, "+
			"if it was told at all", upTo(t.of(results.ToldAfterUSMax).most))
	} else if untold > 0 {
		p.line("overlapped", "%s another client entered, and no client was told that it had lost the lock",
			in(untold))
	}
	say(of(results.ToldForNothing),
		"the client stayed after it was told that the lock was lost, but no other client was inside meanwhile")
	if requests := of(results.GivenUp); requests > 0 {
		p.line("given up", "clients gave up %s while they waited", english.Count(requests, "request", "requests"))
	}
	if tries := of(results.RefusedTries); tries > 0 {
		p.line("tries", "the lock refused %s, %s of them while no client was inside",
			english.Count(tries, "try", "tries"), format.Whole(t.sum(results.RefusedFree)))
	}
	p.guarded(t)
}

// upTo limits a time in a sentence, if it is known.
func upTo(us figure.Figure) string {
	if !us.Known() {
		return ""
	}
	return "up to " + format.Micros(us) + " "
}

// guarded prints how many overlapping entries a resource that demands fence numbers would keep apart.
func (p *Report) guarded(t table) {
	var overlapped, accepted float64
	least := ""
	for i := range t {
		if beside, known := t[i].ViolationsFenced.Value(); known {
			n, _ := t[i].Violations.Value()
			overlapped, accepted = overlapped+n, accepted+beside
			if t[i].ViolationsFenced.IsBound() {
				least = "at least "
			}
		}
	}
	many := english.Count(uint64(overlapped), "entry", "entries")
	switch {
	case overlapped == 0:
	case accepted == 0:
		p.line("fences", "%s overlapped; a resource that checks fence numbers keeps them apart", many)
	default:
		p.line("fences", "%s overlapped; a resource that checks fence numbers would still accept the writes of "+
			"%s%s of them", many, least, english.Thousands(accepted))
	}
}

// units prints how many units of the resource were taken at once, if it has several.
func (p *Report) units(s *runs.Summary, t table) {
	if t.known(results.UnitsTakenMax) {
		p.line("units", "%s of %d taken on average, at most %s",
			t.of(results.UnitsTakenMean).text(format.Hundredths),
			s.Record.Options.Config.Capacity(), t.of(results.UnitsTakenMax).text(format.Whole))
	}
}

// divided is a table that has, for each trial, figures by group of requests: by size, or by resource.
type divided struct {
	by, file string
	rows     []dividedRow
}

type dividedRow struct {
	trial int
	name  string
	taken figure.Figure // for a resource: share of the window in which it was taken
	measure.OfGroup
}

// divided prints a table by units taken and a table by resource. They show how often requests entered, how
// long they waited, and how often later requests overtook them.
func (p *Report) divided(s *runs.Summary, t table) {
	sizes := divided{by: "by size", file: results.SizesFile}
	for _, r := range s.Sizes {
		sizes.rows = append(sizes.rows, dividedRow{trial: r.Trial, name: english.Count(r.Units, "unit", "units"),
			OfGroup: r.OfGroup})
	}
	resources := divided{by: "by resource", file: results.ResourcesFile}
	for _, r := range s.Resources {
		resources.rows = append(resources.rows,
			dividedRow{r.Trial, s.Record.Options.ResourceName(r.Resource), r.Utilisation, r.OfGroup})
	}
	p.groups(sizes, t)
	p.groups(resources, t)
}

// A groupColumn is a column of a divided table. Unless always is set, it is left out if it has no positive
// number.
type groupColumn struct {
	name   string
	width  int
	always bool
	of     func(r *dividedRow) figure.Figure
	text   func(figure.Figure) string
}

var groupColumns = []groupColumn{
	{"entries", 10, true, func(r *dividedRow) figure.Figure { return r.Entries }, format.Whole},
	{"unserved", 10, true, func(r *dividedRow) figure.Figure { return r.Unserved }, format.Whole},
	{"wait p50", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSP50 }, format.Micros},
	{"wait p99", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSP99 }, format.Micros},
	{"wait max", 10, true, func(r *dividedRow) figure.Figure { return r.WaitUSMax }, format.Micros},
	{"overtaken max", 14, true, func(r *dividedRow) figure.Figure { return r.OvertakenMax }, format.Whole},
	{"taken", 8, false, func(r *dividedRow) figure.Figure { return r.taken }, format.FinePercent},
	{"unissued", 10, false, func(r *dividedRow) figure.Figure { return r.Unissued }, format.Whole},
}

// groups prints a divided table.
func (p *Report) groups(d divided, t table) {
	const mostTrials = 3
	if len(d.rows) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(groupColumns), func(c groupColumn) bool {
		return !c.always && !slices.ContainsFunc(d.rows, func(r dividedRow) bool { return positive(c.of(&r)) })
	})
	p.printf("%-14s", d.by)
	for _, c := range columns {
		p.printf(" %*s", c.width, c.name)
	}
	p.printf("\n")
	for i := range t[:min(len(t), mostTrials)] {
		if len(t) > 1 {
			p.printf("  trial %d\n", t[i].Trial)
		}
		for _, z := range ofTrial(d.rows, t[i].Trial, func(r *dividedRow) int { return r.trial }) {
			p.printf("  %-12s", z.name)
			for _, c := range columns {
				p.printf(" %*s", c.width, c.text(c.of(&z)))
			}
			p.printf("\n")
		}
	}
	if more := len(t) - mostTrials; more > 0 {
		p.printf("  %s has %s\n", d.file, english.Count(more, "more trial", "more trials"))
	}
	p.printf("\n")
}

// betweenNodes are the figures of runs.csv that compare times of different nodes, with their names in the
// summary.
var betweenNodes = []struct {
	column results.Column
	name   string
}{
	{results.SyncDelayUSP50, "the synchronization delay"},
	{results.DetectionUSMean, "the time of detection"},
	{results.ElectUSP50, "the time of an election"},
	{results.ElectDeclaredUSP50, "the time until a leader declares itself"},
	{results.ElectAgreedUSP50, "the time until nodes agree"}, {results.TakeoverUSP50, "the time of a take-over"},
	{results.AllAgreedUSP50, "the time until all agree"},
}

// fewUS is the error in microseconds up to which several clocks count as one: the error of a single clock is
// as large.
const fewUS = 10

// clocks prints by how much times of different nodes may be wrong, if their hosts have several clocks, and
// warns of figures that are not much larger than this error.
func (p *Report) clocks(t table) {
	most := t.of(results.ClockErrorUS).most
	worst, known := most.Value()
	if !known || worst < fewUS {
		return
	}
	p.line("clocks", "times of nodes on different hosts agree within %s", format.Micros(most))
	var names []string
	for _, f := range betweenNodes {
		if time, known := t.of(f.column).median.Value(); known && worst > time/10 {
			names = append(names, f.name)
		}
	}
	if len(names) > 0 {
		p.warn("that is more than a tenth of %s, which may be wrong by as much", strings.Join(names, ", "))
	}
}
