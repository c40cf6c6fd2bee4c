package report

import (
	"fmt"

	"turnstile/bench"
	"turnstile/internal/format"
	"turnstile/results"
)

// epochs says how many there were, since each fault, of what an algorithm makes again under a new epoch, such
// as its token, and for how long nobody entered, beside the time after which a textbook takes
// what lets in for lost.
func (p *Report) epochs(s *bench.Summary, faults []faultTable) {
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

// textbook says after what time without entries a textbook takes what lets in for lost, if one says that.
func textbook(s *bench.Summary, fault *results.FaultRow) string {
	formula := s.Spec.Exclusion().Silence.Formula
	switch {
	case formula == "":
		return ""
	case !fault.SilenceTextbookS.Known():
		return fmt.Sprintf("; %s is not known: --latency and --hold must be bounded, and the first above 0",
			formula)
	}
	return fmt.Sprintf("; %s = %s", formula, format.Seconds(fault.SilenceTextbookS))
}
