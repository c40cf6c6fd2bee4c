package diagram

import (
	"math"
	"slices"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
)

// Around returns the window that shows how a failure came about: from the first request of the nodes that
// take part until a little after the failure, but without more messages than can be read well.
func Around(x *spacetime.Extract, what spacetime.Together) section.Window {
	w := section.Window{From: what.Since, To: what.To}
	var before []int64 // times of the messages sent until what.To
	for i := range x.Messages {
		if m := &x.Messages[i]; m.Sent != spacetime.Unknown && m.Sent <= what.To {
			before = append(before, m.Sent)
		}
	}
	least, around := 12, (w.To-w.From)/20
	if what.What == spacetime.Stalled { // a stall follows long after the last events
		least = 40
	}
	if n := len(before); n > 0 {
		w.From = max(min(w.From, before[max(0, n-least)]), before[max(0, n-mostArrows/4)])
		w.From = min(w.From, what.From)
		around = (before[n-1] - w.From) / 20
	}
	return section.Window{From: max(0, w.From-around), To: w.To + max(1, around)}
}

// AroundFault returns the window that shows what a fault does: from a little before it begins until a little
// after it is healed or, if that would be more messages than can be read well, after its first effects.
func AroundFault(x *spacetime.Extract, fault section.Fault) section.Window {
	const before, after, most = 12, 40, mostArrows * 3 / 4
	var sent []int64 // times of the messages to draw, in order
	for i := range x.Messages {
		if m := &x.Messages[i]; m.Sent != spacetime.Unknown && !x.Beats(m) {
			sent = append(sent, m.Sent)
		}
	}
	until := func(at int64) int { // index of the first message sent after a time
		i, _ := slices.BinarySearch(sent, at+1)
		return i
	}
	begin := until(fault.From - 1)
	first, end := max(0, begin-before), min(max(fault.To, fault.Until), x.End)
	last := until(end) + before
	if last-first > most {
		end = firstEffect(x, fault)
		last = min(until(end)+after, first+most)
	}
	w := section.Window{From: fault.From, To: x.End}
	if last < len(sent) {
		w.To = max(fault.From, sent[last])
	}
	if first < begin { // but not much earlier, if messages are rare
		w.From = max(sent[first], fault.From-(w.To-fault.From)/2)
	}
	return w
}

// firstEffect returns when the first effect of a fault can be seen: a message that it hit or that was lost, a
// node that it took down or stopped, or a violation. Without any of these, it returns when the fault began.
func firstEffect(x *spacetime.Extract, fault section.Fault) int64 {
	first := int64(math.MaxInt64)
	see := func(at int64) {
		if at >= fault.From && at < first {
			first = at
		}
	}
	see(fault.HitAt)
	for i := range x.Messages {
		if m := &x.Messages[i]; m.Fate == spacetime.Lost {
			see(m.Over)
		}
	}
	for _, d := range x.Deaths {
		see(d.At)
	}
	for _, p := range x.Pauses {
		see(p.From)
	}
	for _, t := range x.Together {
		see(t.From)
	}
	if first == math.MaxInt64 {
		return fault.From
	}
	return first
}
