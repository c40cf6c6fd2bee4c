package leadership

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Succession finds the nodes that led when the first fault of a history began, and when another node led
// after that.
type Succession struct {
	*Fold
	Known bool // the fault has begun
	Led   []nodes.ID
	Began int64
	Next  int64 // when another node led; 0: no other node led
}

// Add implements history.Fold.
func (s *Succession) Add(e history.Event) {
	if e.Kind == history.FaultBegan && e.Count == 1 && !s.Known {
		s.Known, s.Led, s.Began = true, s.voters.Leaders(), e.At
	}
	s.Fold.Add(e)
	if !s.Known || s.Next > 0 || e.Kind != history.Elected {
		return
	}
	if s.has(e.Node) && s.voters.Leads(e.Node) && !slices.Contains(s.Led, e.Node) {
		s.Next = e.At
	}
}
