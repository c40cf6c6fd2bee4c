package play

import (
	"fmt"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/report/diagram"
)

// Diagram draws what happened in the steps after from, up to to, as SVG.
func (s *Session) Diagram(from, to int) (string, error) {
	if from < 0 || to > s.at || from >= to {
		return "", fmt.Errorf("steps %d to %d: there are steps 0 to %d", from, to, s.at)
	}
	played := s.stage.Clone().End()
	window := section.Window{From: s.times[from], To: s.times[to]}
	fold := spacetime.New(played.History.Header(), played.Stack, window)
	played.History.Run(fold)
	return diagram.Draw(&fold.Extract, diagram.Options{Played: true})
}
