package explore

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// detect makes the moves of the failure detector of a node.
func (w *worker) detect(node uint8, p *part) {
	for peer := range uint32(w.total) {
		up, suspected := w.known[w.state[peer]].up, p.suspects>>peer&1 != 0
		switch {
		case peer == uint32(node):
		case up && suspected:
			w.try(move{what: replay.StepTrust, node: node, which: peer})
		case !suspected && (!up || int(w.state[w.total]/oneSuspicion) < w.o.Suspicions):
			w.try(move{what: replay.StepSuspect, node: node, which: peer})
		}
	}
}

// progresses reports whether a move makes progress by itself: it is no fault, request or restart.
func (w *worker) progresses(m move) bool {
	return m.what.Progresses() || m.what == replay.StepSuspect && !w.known[w.state[m.which]].up
}

// validateSuspicions says what is wrong with the wrong suspicions, if anything is.
func (o *Options) validateSuspicions(stack *row.Stack) error {
	if o.Suspicions == 0 {
		return nil
	}
	rt := nodes.NewRuntime(stack.Stack, nil, nil)
	for id := range nodes.ID(stack.Total()) {
		var p nodes.Process
		if rt.Process(&p, id); p.Listens() {
			return nil
		}
	}
	return fmt.Errorf("nodes are to be suspected, but %s listens to no failure detector: allow no suspicions",
		o.Spec.Name)
}
