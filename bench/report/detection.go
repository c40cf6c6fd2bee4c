package report

import (
	"fmt"

	"turnstile/bench"
	"turnstile/internal/format"
)

// detection says what the failure detectors said, and how well they did.
func (p *Report) detection(s *bench.Summary, t table) {
	if !s.Record.Options.Detects() {
		return
	}
	p.line("detector", "%s", s.Record.Options.Detector)
	said := "nobody was suspected"
	if most, _ := t.of("suspicions").most.Value(); most > 0 {
		said = fmt.Sprintf("suspicions %s, wrong %s (%s per hour)", t.of("suspicions").text(format.Whole),
			t.of("suspicions_wrong").text(format.Whole), t.of("suspicions_wrong_per_h").text(format.Whole))
	}
	p.line("", "%s heartbeats; %s", t.of("heartbeats").text(format.Whole), said)
	if t.known("detection_us_max") {
		p.line("", "crashes detected after %s on average, at most %s",
			t.of("detection_us_mean").text(format.Micros), t.of("detection_us_max").text(format.Micros))
	}
}
