package diagram

import (
	"slices"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
)

// Around returns the window in which to look for what led to something: from when the first of the nodes
// asked, but with no more messages than can be read well, to a little after its end.
func Around(x *spacetime.Extract, what spacetime.Together) section.Window {
	w := section.Window{From: what.Since, To: what.To}
	var before []int64 // when messages were sent until then, the latest first
	for i := len(x.Messages) - 1; i >= 0; i-- {
		if m := &x.Messages[i]; m.Sent != spacetime.Unknown && m.Sent <= what.To {
			before = append(before, m.Sent)
		}
	}
	slices.Reverse(before)
	const well = mostArrows / 4
	least, margin := 12, (w.To-w.From)/20
	if what.What == spacetime.Stalled { // it was long before that anything happened
		least = 40
	}
	if len(before) > 0 {
		w.From = min(w.From, before[max(0, len(before)-least)])
		w.From = max(w.From, before[max(0, len(before)-well)])
	}
	w.From = min(w.From, what.From)
	if len(before) > 0 {
		margin = (before[len(before)-1] - w.From) / 20
	}
	return section.Window{From: max(0, w.From-margin), To: w.To + max(1, margin)}
}
