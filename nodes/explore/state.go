package explore

import (
	"slices"

	"turnstile/nodes/replay"
)

// A state is a list of numbers: the part of each node, the faults so far, how often each client was passed
// over if that is looked for, the highest fence numbers if the resource demands any, how often timers have
// run out if that is bounded, for how many ticks several nodes lead if that is, and a word for each message
// on its way. Words are ordered by link, and on a link as they were sent or, with Reordering, by
// their digests, since the order sent makes no difference then.

// Faults are counted in one number.
const (
	oneLoss      = 1
	lostBehind   = 1 << 7 // not counted: a message was lost behind equal ones, and each counts
	oneDuplicate = 1 << 8
	oneCrash     = 1 << 16
	oneAmnesia   = 1 << 24 // not counted: a flag
	oneSuspicion = 1 << 25 // of a node that is up: the bits from here on
)

// successor appends the state that a move leads to from a state.
func (w *worker) successor(b, state []uint32, m move, out *outcome) []uint32 {
	if m.what == replay.StepTick {
		return w.later(b, state)
	}
	head := len(b)
	b = append(b, state[:w.head]...)
	faults := &b[head+w.total]
	flights := state[w.head:]
	at := -1
	switch m.what {
	case replay.StepDeliver, replay.StepDrop, replay.StepDuplicate:
		at = slices.Index(flights, m.which)
		*faults += [...]uint32{replay.StepDeliver: 0, replay.StepDrop: oneLoss,
			replay.StepDuplicate: oneDuplicate}[m.what]
	case replay.StepRestart, replay.StepAmnesia:
		if m.what == replay.StepAmnesia || w.forgets[m.node] {
			*faults |= oneAmnesia
		}
	case replay.StepSuspect:
		if w.known[state[m.which]].up {
			*faults += oneSuspicion
		}
	}
	crashes := crashed(m, out)
	if crashes {
		*faults += oneCrash
	}
	for i, word := range flights {
		switch {
		case crashes && receiver(word) == uint32(m.node):
			continue // it is lost with its receiver
		case i == at && m.what == replay.StepDuplicate:
			b = append(b, word)
		case i == at:
			continue
		}
		b = append(b, word)
	}
	if m.what == replay.StepTimeout && w.timeouts > 0 {
		b[head+w.timeouts]++
	}
	if out == nil {
		w.passOver(b[head:], m, out)
		return b
	}
	b[head+int(m.node)] = out.next
	if out.entered != 0 {
		w.raise(b[head:], out)
	}
	for _, word := range out.sends {
		b = w.post(b, head, word)
	}
	w.passOver(b[head:], m, out)
	if w.ticks > 0 && w.electorate(b[head:]).Leading() < 2 {
		b[head+w.ticks] = 0
	}
	return b
}

// digest returns the digest of a state. It is made of the digests of its parts and flights, since their
// numbers depend on which worker found them first.
func (w *worker) digest(state []uint32) digest {
	d := digest{}.addNumbers(state[w.total], uint32(len(state)))
	for _, word := range state[w.total+1 : w.head] {
		d = d.addNumbers(word, 0)
	}
	for _, number := range state[:w.total] {
		d = d.add(w.known[number].digest)
	}
	for _, word := range state[w.head:] {
		d = d.add(w.flights[word&flightMask].digest)
	}
	return d
}
