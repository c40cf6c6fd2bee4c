package explore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"turnstile/nodes"
)

// copies returns how many equal messages may be on one link; 0: any number.
func (o *Options) copies(stack *nodes.Stack) int {
	needed := (stack.Safe()|stack.Live())&nodes.NoLoss != 0
	if o.Timing != nil || !timed(stack) || needed && o.Copies == 0 {
		return 0
	}
	return cmp.Or(o.Copies, 1)
}

// timed reports whether any machine of a stack has timers.
func timed(stack *nodes.Stack) bool {
	rt := nodes.NewRuntime(stack, nil, nil)
	for id := range nodes.ID(stack.Total()) {
		var p nodes.Process
		rt.Process(&p, id)
		for i := range stack.Instances() {
			if _, is := p.Machine(int32(i)).(nodes.Timed); is {
				return true
			}
		}
	}
	return false
}

// validateCopies says what is wrong with the bound on equal messages, if anything is.
func (o *Options) validateCopies(stack *nodes.Stack) error {
	const all = "so that any number of equal messages on a link is explored: give no number of copies"
	switch {
	case o.Copies == 0:
		return nil
	case o.Timing != nil:
		return errors.New("timers run out within bounds, " + all)
	case !timed(stack):
		return fmt.Errorf("%s has no timers, %s", o.Spec.Name, all)
	}
	return nil
}

// post sends a message in the state that begins at head.
func (w *worker) post(b []uint32, head int, word uint32) []uint32 {
	switch {
	case !w.known[b[head+int(receiver(word))]].up:
		return b // nobody is there
	case w.crowds(b[head+w.head:], word):
		w.crowded = true
		if w.counts {
			b[head+w.total] |= lostBehind
		}
		return b
	}
	return w.send(b, head+w.head, word)
}

// send inserts a word into the flights of a state, which begin at low.
func (w *worker) send(b []uint32, low int, word uint32) []uint32 {
	b = append(b, word)
	i := len(b) - 1
	for ; i > low && w.after(b[i-1], word); i-- {
		b[i] = b[i-1]
	}
	b[i] = word
	return b
}

// after reports whether the flight a comes after b, which is sent now.
func (w *worker) after(a, b uint32) bool {
	if a>>linkShift != b>>linkShift || !w.o.Reordering {
		return a>>linkShift > b>>linkShift
	}
	return w.flights[b&flightMask].digest.less(w.flights[a&flightMask].digest)
}

// crowds reports whether as many messages like a new one as may be are among those on their way.
func (w *worker) crowds(flights []uint32, word uint32) bool {
	if w.copies == 0 {
		return false
	}
	there := 0
	for _, other := range flights {
		if other == word {
			there++
		}
	}
	return there >= w.copies
}

// crowds reports whether as many messages like a new one as the schedule allows are on their way.
func (g *stage) crowds(f flight) bool {
	if g.schedule.Copies == 0 {
		return false
	}
	codec := g.stack.Codec()
	content := codec.Append(nil, int(f.kind), f.message)
	there := 0
	for _, other := range g.flying {
		if other.from == f.from && other.to == f.to && other.instance == f.instance && other.kind == f.kind &&
			slices.Equal(codec.Append(nil, int(f.kind), other.message), content) {
			there++
		}
	}
	return there >= g.schedule.Copies
}

// place returns which of the messages of its link with the same name of their kind a flight is, from 1. Of
// equal ones it is the first of its age.
func (g *stage) place(p *flight) (count int) {
	codec := g.stack.Codec()
	want := codec.Append(nil, int(p.kind), p.message)
	for _, f := range g.flying {
		if f.from == p.from && f.to == p.to && f.instance == p.instance && g.kind(f) == codec.Name(int(p.kind)) {
			count++
			if f.kind == p.kind && f.window == p.window &&
				bytes.Equal(codec.Append(nil, int(f.kind), f.message), want) {
				break
			}
		}
	}
	return count
}
