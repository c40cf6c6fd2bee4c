package report

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/results"
)

// leaders prints what was measured in a run about leaders.
func (p *Report) leaders(s *bench.Summary, t table) {
	p.faultWords(s)
	p.ledger(s)
	p.leaderFaults(s)
	p.elections(s, t)
	p.electionHistograms(s)
	p.electionMessages(s)
	p.detection(s, t)
	p.machine(s, t)
}

// elections prints how many elections there were, their parts, and for how long nobody led, or several did.
func (p *Report) elections(s *bench.Summary, t table) {
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
	if t.known(results.AllAgreedUSP50) { // whatever cut them off
		p.lasting(s, t, measure.AllAgreedTag)
	}
	p.electionPart(s, measure.TakeoverTag)
	p.line("leaderless", "%s", t.of(results.LeaderlessUS).text(format.Micros))
	two := t.of(results.TwoLeadersUS).text(format.Micros)
	if inTerm := t.sum(results.TwoLeadersInTermUS); positive(inTerm) {
		two += ", of it in one term " + t.of(results.TwoLeadersInTermUS).text(format.Micros)
	}
	if stopped := t.sum(results.TwoLeadersStoppedUS); positive(stopped) {
		two += "; besides, for " + t.of(results.TwoLeadersStoppedUS).text(format.Micros) +
			" with one that stood still"
	}
	p.line("two leaders", "%s", two)
	if slices.ContainsFunc(s.Ledgers(), func(l *results.Ledger) bool {
		return slices.ContainsFunc(l.TwoLead, func(t results.Together) bool { return t.Apart })
	}) {
		for _, line := range TermsMakeHarmless {
			p.line("", "%s", line)
		}
	}
	p.line("flaps", "%s gave way while up, %s of them to one that had come up again",
		format.Whole(t.sum(results.Flaps)), format.Whole(t.sum(results.Takeovers)))
	if t.known(results.LeaderChangesPerS) {
		p.line("changes", "%s a second of leaders, in %s in which no fault began or ended",
			t.of(results.LeaderChangesPerS).text(format.Hundredths), t.of(results.SteadyS).text(format.Seconds))
	}
}

// follow says who has to follow a leader for it to be elected.
func follow(s *bench.Summary) string {
	if elector := s.Stack.Elector(); elector != nil {
		return elector.Row.Elector.Follow.String()
	}
	return "those follow the next who have to"
}

// lasting prints quantiles of latencies, some of which may not be over at the end.
func (p *Report) lasting(s *bench.Summary, t table, tag string) {
	p.latency(s, t, tag, middle, high, longest)
	all := measure.LatencyOf(s.Latencies, tag)
	if open := all.Censored(); open > 0 {
		p.line("", "%s not over at the end, and counts with its age",
			english.Count(open, "of these was", "of these were"))
	}
}

func (p *Report) electionPart(s *bench.Summary, tag string) {
	l := measure.LatencyOf(s.Latencies, tag)
	if l.Hist == nil {
		return
	}
	kind := measure.LatencyNamed(tag)
	p.line(kind.Name, "p50 %s, p99 %s  (%s)", format.Micros(l.MicrosAt(0.5)), format.Micros(l.MicrosAt(0.99)),
		aboutOf(s, kind))
}

// aboutOf says from when until when latencies last.
func aboutOf(s *bench.Summary, kind measure.LatencyKind) string {
	return strings.ReplaceAll(kind.About, "%s", follow(s))
}

// electionHistograms draws how long elections took, and their parts, and how long each stretch lasted with no
// leader or with several.
func (p *Report) electionHistograms(s *bench.Summary) {
	p.printf("\n")
	for _, kind := range measure.Latencies {
		all := measure.LatencyOf(s.Latencies, kind.Tag)
		if kind.Tag != measure.WaitTag && kind.One != "" && all.Count() > 1 { // one shows nothing more
			p.histogram(s, kind)
		}
	}
}

// electionMessages prints how many messages there were of each kind, in all trials.
func (p *Report) electionMessages(s *bench.Summary) {
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

// times says how often something happened.
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

// TermsMakeHarmless says why two leaders of different terms do no harm.
var TermsMakeHarmless = []string{
	"Two leaders of different terms do no harm if each write carries the term of its leader, and the resource",
	"refuses a write of a lower term than the highest that it has seen. From the first write of the newer",
	"leader on, all of the older one are refused; until then, only the older one has written."}
