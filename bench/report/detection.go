package report

import (
	"fmt"

	"turnstile/bench"
	"turnstile/internal/format"
	"turnstile/results"
)

// detection says what the failure detectors said, and how well they did.
func (p *Report) detection(s *bench.Summary, t table) {
	if !s.Record.Options.Detects() {
		return
	}
	p.line("detector", "%s", s.Record.Options.Detector)
	said := "nobody was suspected"
	if most, _ := t.of(results.Suspicions).most.Value(); most > 0 {
		said = fmt.Sprintf("suspicions %s, wrong %s (%s per hour)", t.of(results.Suspicions).text(format.Whole),
			t.of(results.SuspicionsWrong).text(format.Whole), t.of(results.WrongPerHour).text(format.Whole))
	}
	p.line("", "%s heartbeats; %s", t.of(results.Heartbeats).text(format.Whole), said)
	if t.known(results.DetectionUSMax) {
		p.line("", "crashes detected after %s on average, at most %s",
			t.of(results.DetectionUSMean).text(format.Micros), t.of(results.DetectionUSMax).text(format.Micros))
	}
}
