package explore

import "turnstile/nodes/replay"

// tick lets a tick pass, unless something has to happen first. If nothing depends on time, a tick would
// change nothing.
func (w *worker) tick() {
	if w.o.Timing == nil {
		return
	}
	due, passing := false, false
	look := func(at replay.Window) { due, passing = due || at.Due(), true }
	for _, word := range w.state[w.head:] {
		look(w.flights[word&flightMask].Window)
	}
	for _, number := range w.state[:w.total] {
		for _, a := range w.known[number].timers {
			look(a.Window)
		}
	}
	if passing && !due {
		w.put(move{what: replay.StepTick}, nil)
	}
}

// later appends what a state has become after a tick.
func (w *worker) later(b, state []uint32) []uint32 {
	head := len(b)
	b = append(b, state[:w.head]...)
	for at, number := range state[:w.total] {
		if len(w.known[number].timers) > 0 {
			b[head+at] = w.react(number, onTick)[0].next
		}
	}
	if w.ticks > 0 && w.electorate(state).Leading() > 1 {
		b[head+w.ticks]++
	}
	for _, word := range state[w.head:] {
		b = w.send(b, head+w.head, word+1) // aged flights may be in another order
	}
	return b
}
