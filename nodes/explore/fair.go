package explore

import "turnstile/nodes"

// How often a client that waits was passed over is in one word of the state, four bits for each client:
// zero if its request is not known yet to all who must see it, or else one more than twice the number of
// times, and one more if others have entered since it was counted. It is counted at quiet moments, when no
// message is on its way: at the first of these a request is known, and at each later one before which
// others have entered, it was passed over once more. So what counts does not depend on how long messages
// take.
const (
	fairBits   = 4
	passedOver = 1<<fairBits - 1 // more often than promised
)

// passOver brings the word of a state up to date, which has just come about by a move.
func (w *worker) passOver(state []uint32, m move, out *outcome) {
	if !w.fair {
		return // it is not looked for
	}
	entered, quiet := out != nil && out.entered != 0, len(state) == w.head
	old, word := state[w.total+1], uint32(0)
	for at, number := range state[:w.o.Config.N] {
		if w.known[number].waiting == 0 {
			continue
		}
		times := old >> (fairBits * at) & passedOver
		if entered && times != 0 {
			times = (times - 1 | 1) + 1
		}
		switch {
		case quiet && times == 0:
			times = 1
		case quiet && times%2 == 0:
			times = min(times+1, passedOver)
			if int(times)/2 > w.bypass {
				times = passedOver
			}
		}
		word |= times << (fairBits * at)
	}
	state[w.total+1] = word
}

// passed returns who was passed over more often than is promised; None: nobody.
func (w *worker) passed(state []uint32) nodes.ID {
	if !w.fair {
		return nodes.None
	}
	for id := range w.o.Config.N {
		if state[w.total+1]>>(fairBits*id)&passedOver == passedOver {
			return nodes.ID(id)
		}
	}
	return nodes.None
}
