package main

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/measure"
	"turnstile/internal/english"
	"turnstile/nodes/election"
	"turnstile/results"
)

// leaders prints what was measured in a run about leaders.
func (p *report) leaders(s *bench.Summary, t table) {
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
func (p *report) elections(s *bench.Summary, t table) {
	if !t.known("elections") {
		return
	}
	count, _ := t.sum("elections").Value()
	text := fmt.Sprintf("%s in %s", english.Thousands(count), seconds(t.sum("duration_s")))
	if t.known("messages_per_election") {
		text += fmt.Sprintf(", %s messages each", t.of("messages_per_election").text(hundredths))
	}
	if crashes := t.of("elections_per_crash"); crashes.known > 0 {
		text += fmt.Sprintf(", %s for each crash of a leader", crashes.text(hundredths))
	}
	p.line("elections", "%s; the same leader was followed again %s", text, times(t.sum("rejoins")))
	p.latency(s, t, "elect", "  (from when the leader was lost, or the run began, until "+follow(s)+")",
		measure.ElectTag, "elect_us_", middle, high, quantile{"max", "max", 1})
	all := measure.LatencyOf(s.Latencies, measure.ElectTag)
	if open := all.Censored(); open > 0 {
		p.line("", "%s not over at the end, and counts with its age",
			english.Count(open, "of these was", "of these were"))
	}
	p.electionPart(s, "  detection", measure.DetectionTag, "until the first node declared anything")
	p.electionPart(s, "  declared", measure.DeclarationTag, "from then until the leader declared itself")
	p.electionPart(s, "  agreement", measure.AgreementTag, "from then until "+follow(s))
	p.electionPart(s, "  serving", measure.ServingTag, "from then until a client entered")
	p.allAgreed(s, t)
	p.electionPart(s, "take-overs", measure.TakeoverTag, "of who had come up again; they are left out above")
	p.line("leaderless", "%s", t.of("leaderless_us").text(micros))
	two := t.of("two_leaders_us").text(micros)
	if inTerm := t.sum("two_leaders_in_term_us"); positive(inTerm) {
		two += ", of it in one term " + t.of("two_leaders_in_term_us").text(micros)
	}
	if stopped := t.sum("two_leaders_stopped_us"); positive(stopped) {
		two += "; besides, for " + t.of("two_leaders_stopped_us").text(micros) + " with one that stood still"
	}
	p.line("two leaders", "%s", two)
	if slices.ContainsFunc(s.Ledgers(), func(l *results.Ledger) bool {
		return slices.ContainsFunc(l.TwoLead, func(t results.Together) bool { return t.Apart })
	}) {
		for _, line := range termsMakeHarmless {
			p.line("", "%s", line)
		}
	}
	p.line("flaps", "%s gave way while up, %s of them to one that had come up again", whole(t.sum("flaps")),
		whole(t.sum("takeovers")))
	if t.known("leader_changes_per_s") {
		p.line("changes", "%s a second of leaders, in %s in which no fault began or ended",
			t.of("leader_changes_per_s").text(hundredths), t.of("steady_s").text(seconds))
	}
}

// follow says who has to follow a leader for it to be elected.
func follow(s *bench.Summary) string {
	row := s.Spec
	if row.Leads == nil {
		var err error
		name, _, _ := strings.Cut(s.Record.Options.Config.Elect, ":")
		if row, err = election.Find(name); err != nil {
			return "those follow the next who have to"
		}
	}
	return row.Leads.Follow.String()
}

// allAgreed prints how long it took until all agreed, whatever cut them off.
func (p *report) allAgreed(s *bench.Summary, t table) {
	if !t.known("all_agreed_us_p50") {
		return
	}
	p.latency(s, t, "all agreed", "  (from then until all that were up agreed, whatever cut them off)",
		measure.AllAgreedTag, "all_agreed_us_", middle, high, quantile{"max", "max", 1})
	all := measure.LatencyOf(s.Latencies, measure.AllAgreedTag)
	if open := all.Censored(); open > 0 {
		p.line("", "%s not over at the end, and counts with its age",
			english.Count(open, "of these was", "of these were"))
	}
}

func (p *report) electionPart(s *bench.Summary, name, tag, about string) {
	l := measure.LatencyOf(s.Latencies, tag)
	if l.Hist == nil {
		return
	}
	p.line(name, "p50 %s, p99 %s  (%s)", micros(l.MicrosAt(0.5)), micros(l.MicrosAt(0.99)), about)
}

// electionHistograms draws how long elections took, and their parts, and how long each stretch lasted with no
// leader or with several.
func (p *report) electionHistograms(s *bench.Summary) {
	p.printf("\n")
	for _, h := range []struct{ tag, one, many string }{
		{measure.ElectTag, "election", "elections"},
		{measure.DetectionTag, "detection", "detections"},
		{measure.DeclarationTag, "declaration", "declarations"},
		{measure.AgreementTag, "agreement", "agreements"},
		{measure.TakeoverTag, "take-over", "take-overs"},
		{measure.LeaderlessTag, "stretch without a leader", "stretches without a leader"},
		{measure.TwoLeadersTag, "stretch with two leaders", "stretches with two leaders"},
	} {
		if all := measure.LatencyOf(s.Latencies, h.tag); all.Count() > 1 { // one shows nothing more
			p.histogram(s, h.tag, h.one, h.many)
		}
	}
}

// electionMessages prints how many messages there were of each kind, in all trials.
func (p *report) electionMessages(s *bench.Summary) {
	var kinds []string
	sent := map[string]float64{}
	for _, m := range s.Messages {
		if m.Phase != results.WholeRun {
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

func positive(f results.Figure) bool {
	x, known := f.Value()
	return known && x > 0
}

// times says how often something happened.
func times(f results.Figure) string {
	n, _ := f.Value()
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%s times", english.Thousands(n))
}
