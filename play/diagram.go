package play

import (
	"slices"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes/history"
	"turnstile/report/diagram"
)

// Diagram draws what happened in the steps after from, up to to, as SVG.
func (s *Session) Diagram(from, to int) (string, error) {
	if err := within(from, to, s.at); err != nil {
		return "", err
	}
	played := s.stage.Clone().End()
	h := played.History
	window := section.Window{From: s.times[from], To: s.times[to]}
	drop(h, window.From)
	fold := spacetime.New(h.Header(), s.stack, window)
	h.Run(fold)
	return diagram.Draw(&fold.Extract, diagram.Options{Played: true, Low: true, Fault: played.Cuts.Fault})
}

// drop drops the records of the messages that arrived or were lost before a time, so that a drawing of the
// last steps of a long play takes no longer than of a short one.
func drop(h *history.History, before int64) {
	over := map[uint32]bool{}
	for _, log := range h.Logs {
		for _, m := range log.Trace {
			if !m.Sent && m.At < before {
				over[m.Seq] = true
			}
		}
	}
	for _, log := range h.Logs {
		log.Trace = slices.DeleteFunc(log.Trace, func(m history.MessageRecord) bool {
			return m.At < before && (!m.Sent || over[m.Seq])
		})
		log.Totals.TraceNext = uint64(len(log.Trace))
	}
}
