package explore

import (
	"cmp"
	"errors"
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// copies returns how many equal messages may be on one link; 0: any number.
func (o *Space) copies(stack *algorithm.Stack) int {
	needed := (stack.Safe()|stack.Live())&nodes.NoLoss != 0
	if o.Timing != nil || !timed(stack) || needed && o.Copies == 0 {
		return 0
	}
	return cmp.Or(o.Copies, 1)
}

// timed reports whether any machine of a stack has timers.
func timed(stack *algorithm.Stack) bool {
	rt := nodes.NewRuntime(stack.Stack, nil, nil)
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

// validateCopies returns what is wrong with Space.Copies.
func (o *Space) validateCopies(stack *algorithm.Stack) error {
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

// post sends a message in the state that begins at b[head]. It is lost if its receiver is down, or if too
// many equal ones are on the link.
func (w *worker) post(b []uint32, head int, word uint32) []uint32 {
	switch {
	case !w.known[b[head+int(receiver(word))]].up:
		return b
	case w.crowds(b[head+w.head:], word):
		w.crowded = true
		if w.counts {
			b[head+w.total] |= lostBehind
		}
		return b
	}
	return w.send(b, head+w.head, word)
}

// send inserts a word into the flights of a state, which begin at b[low].
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

// crowds reports whether as many messages equal to a new one are on their way as are allowed.
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
