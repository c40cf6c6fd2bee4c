package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/results"
)

// leaders prints what was measured in a run about leaders.
func (p *Report) leaders(s *runs.Summary, t table) {
	p.faultWords(s)
	p.ledger(s)
	p.leaderFaults(s)
	p.elections(s, t)
	p.electionHistograms(s)
	p.electionMessages(s)
	p.detection(s, t)
	p.machine(s, t)
}

// elections prints the number of elections, their parts, and for how long no node or several nodes led.
func (p *Report) elections(s *runs.Summary, t table) {
	if !t.known(results.Elections) {
		return
	}
	count, _ := t.sum(results.Elections).Value()
	text := fmt.Sprintf("%s in %s", english.Thousands(count), format.Seconds(t.sum(results.DurationS)))
	if t.known(results.MessagesPerElection) {
		text += fmt.Sprintf(", %s messages each", t.of(results.MessagesPerElection).text(format.Hundredths))
	}
	if crashes := t.of(results.ElectionsPerCrash); crashes.known > 0 {
		text += fmt.Sprintf(", %s for each crash of a leader", crashes.text(format.Hundredths))
	}
	p.line("elections", "%s; the same leader was followed again %s", text, times(t.sum(results.Rejoins)))
	p.lasting(s, t, measure.ElectTag)
	for _, tag := range []string{measure.DetectionTag, measure.DeclarationTag, measure.AgreementTag,
		measure.ServingTag} {
		p.electionPart(s, tag)
	}
	if t.known(results.AllAgreedUSP50) { // known if all running nodes agreed, or had yet to agree at the end
		p.lasting(s, t, measure.AllAgreedTag)
	}
	p.electionPart(s, measure.TakeoverTag)
	p.line("leaderless", "%s", t.of(results.LeaderlessUS).text(format.Micros))
	two := t.of(results.TwoLeadersUS).text(format.Micros)
	if inTerm := t.sum(results.TwoLeadersInTermUS); positive(inTerm) {
		two += ", of it in one term " + t.of(results.TwoLeadersInTermUS).text(format.Micros)
	}
	if stopped := t.sum(results.TwoLeadersStoppedUS); positive(stopped) {
		two += "; " + t.of(results.TwoLeadersStoppedUS).text(format.Micros) +
			" more while one of the two was paused"
	}
	p.line("two leaders", "%s", two)
	if slices.ContainsFunc(s.Ledgers(), func(l *results.Ledger) bool {
		return slices.ContainsFunc(l.TwoLead, func(t results.Together) bool { return t.Apart })
	}) {
		for _, line := range TermsMakeHarmless {
			p.line("", "%s", line)
		}
	}
	p.line("flaps", "live leaders that gave way: %s, %s of them to a restarted node",
		format.Whole(t.sum(results.Flaps)), format.Whole(t.sum(results.Takeovers)))
	if t.known(results.LeaderChangesPerS) {
		p.line("changes", "%s changes of the leader per second, in %s that lie more than %s after any fault, "+
			"crash or restart", t.of(results.LeaderChangesPerS).text(format.Hundredths),
			t.of(results.SteadyS).text(format.Seconds), format.Duration(s.Stack.Grace()))
	}
}

// follow says which nodes must follow a leader for it to be elected.
func follow(s *runs.Summary) string {
	if elector := s.Stack.Elector(); elector != nil {
		return elector.Algorithm.Elector.Follow.String()
	}
	return "enough nodes follow the new leader"
}

// lasting prints quantiles of latencies, and says how many of them had not ended at the end of the run.
func (p *Report) lasting(s *runs.Summary, t table, tag string) {
	p.latency(s, t, tag, middle, high, longest)
	all := measure.LatencyOf(s.Latencies, tag)
	if open := all.Censored(); open > 0 {
		p.line("", "%s not over at the end, and counts with its age",
			english.Count(open, "of these was", "of these were"))
	}
}

func (p *Report) electionPart(s *runs.Summary, tag string) {
	l := measure.LatencyOf(s.Latencies, tag)
	if l.Hist == nil {
		return
	}
	kind := measure.LatencyNamed(tag)
	p.line(kind.Name, "p50 %s, p99 %s  (%s)", format.Micros(l.MicrosAt(0.5)), format.Micros(l.MicrosAt(0.99)),
		aboutOf(s, kind))
}

// aboutOf says from when to when a latency is measured.
func aboutOf(s *runs.Summary, kind measure.LatencyKind) string {
	return strings.ReplaceAll(kind.About, "%s", follow(s))
}

// electionHistograms draws how long elections and their parts took, and how long the times without a leader
// and with several leaders were.
func (p *Report) electionHistograms(s *runs.Summary) {
	p.printf("\n")
	for _, kind := range measure.Latencies {
		all := measure.LatencyOf(s.Latencies, kind.Tag)
		if kind.Tag != measure.WaitTag && kind.One != "" && all.Count() > 1 { // one value needs no histogram
			p.histogram(s, kind)
		}
	}
}

// electionMessages prints the number of messages of each kind, over all trials.
func (p *Report) electionMessages(s *runs.Summary) {
	var kinds []string
	sent := map[string]float64{}
	for _, m := range s.Messages {
		if m.Phase != measure.WholeRun {
			continue
		}
		if _, known := sent[m.Kind]; !known {
			kinds = append(kinds, m.Kind)
		}
		n, _ := m.Sent.Value()
		sent[m.Kind] += n
	}
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return sent[kind] == 0 && unnamed(s, kind) })
	for i, kind := range kinds {
		name := ""
		if i == 0 {
			name = "messages"
		}
		about := ""
		if s.Heartbeat(kind) {
			about = "  (heartbeats, counted in nothing else)"
		}
		p.line(name, "%10s %s%s", english.Thousands(sent[kind]), kind, about)
	}
}

func positive(f figure.Figure) bool {
	x, known := f.Value()
	return known && x > 0
}

// times returns a count of occurrences as text.
func times(f figure.Figure) string {
	n, _ := f.Value()
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%s times", english.Thousands(n))
}

// TermsMakeHarmless explains why two leaders of different terms do no harm.
var TermsMakeHarmless = []string{
	"Two leaders of different terms do no harm if each write carries the term of its leader, and the resource",
	"refuses a write of a lower term than the highest that it has seen. From the first write of the newer",
	"leader on, all of the older one are refused; until then, only the older one has written."}

// alike are the faults that have the same description, and their effects.
type alike struct {
	text    string
	numbers nodes.Group
	rows    faultTable
}

// alikeFaults groups faults by their description. The groups are in the order in which the descriptions first
// occur.
func alikeFaults(faults []results.FaultRow) (all []*alike) {
	for _, f := range faults {
		at := slices.IndexFunc(all, func(a *alike) bool { return a.text == f.Fault })
		if at < 0 {
			at = len(all)
			all = append(all, &alike{text: f.Fault})
		}
		a := all[at]
		a.rows = append(a.rows, f)
		if id := nodes.ID(f.Number); !slices.Contains(a.numbers, id) {
			a.numbers = append(a.numbers, id)
		}
	}
	return all
}

// listedAlike is how many groups of faults are listed with their effects on leaders.
const listedAlike = 6

const leaderFaultFormat = "%-15s %-6s %7s %8s %8s %9s %8s %5s %8s\n"

// leaderFaults lists the elections before, during and after the faults, and for how long no node or several
// nodes led. For faults with the same description it prints medians, and the longest time to elect.
func (p *Report) leaderFaults(s *runs.Summary) {
	faults := alikeFaults(s.Faults)
	if !faultTable(s.Faults).known(results.ElectionsDuring) {
		return // no node campaigned, or no fault began
	}
	p.printf("%-22s %25s\n", "", "time to elect")
	p.printf(leaderFaultFormat, "fault", "phase", "elected", "p50", "max", "no leader", "two lead", "flaps",
		"messages")
	for _, a := range faults[:min(listedAlike, len(faults))] {
		p.leaderFault(a)
	}
	if more := len(faults) - listedAlike; more > 0 {
		p.printf("%s has %s\n", results.FaultsFile, english.Count(more, "more kind of fault",
			"more kinds of faults"))
	}
	if slices.ContainsFunc(s.Faults, func(r results.FaultRow) bool {
		return slices.ContainsFunc(r.ElectUS[:], func(of measure.OfElections) bool { return !of.P50.Known() })
	}) {
		p.printf("%s: the phase had no election, or no length\n", format.Missing)
	}
	if slices.ContainsFunc(faults, func(a *alike) bool { return len(a.rows) > 1 }) {
		p.printf("a row for several faults has their medians, and the maximum of the time to elect; %s lists each "+
			"fault\n", results.FaultsFile)
	}
	p.printf("\n")
}

// leaderFault lists the effects of faults with the same description.
func (p *Report) leaderFault(a *alike) {
	name := fmt.Sprintf("%s %s", a.numbers.Short(), a.text)
	if utf8.RuneCountInString(name) > 15 {
		p.printf("%s\n", name)
		name = ""
	}
	for _, phase := range measure.Phases {
		of := func(form string) spread { return a.rows.of(results.Column(fmt.Sprintf(form, phase))) }
		p.printf(leaderFaultFormat, name, phase, format.Plain(of("elections_%s").median, 0),
			format.Micros(of("elect_%s_us_p50").median), format.Micros(of("elect_%s_us_max").most),
			format.Micros(of("leaderless_%s_us").median), format.Micros(of("two_leaders_%s_us").median),
			format.Plain(of("flaps_%s").median, 0), format.Whole(of("messages_%s").median))
		name = ""
	}
	again := a.rows.of(results.HealedAgreedS)
	if again.known > 0 {
		p.printf("%-15s all agreed %s after the heal\n", "", again.text(format.Seconds))
	}
}
