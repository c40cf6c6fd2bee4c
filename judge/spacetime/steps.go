package spacetime

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Step is one thing that a node did: it sent a message, or several by one multicast, handled one, or had an
// event.
type Step struct {
	At       int64
	Messages []int32        // indices in Extract.Messages; nil: it had an event
	Receipt  bool           // the node handled the message; otherwise it sent the messages
	Event    *history.Event // nil: the step is about messages
	// Clock is the vector clock of the node after the step: how many steps of each node it can know of. Only
	// ClockedSteps sets it. It takes four bytes for each node.
	Clock []uint32

	place int32 // index among the records of the node
	after bool  // the event is a request, and later messages of the same time were certainly sent after it
}

// Steps yields the steps of each node in the window, without clocks. At equal times receipts come first, and
// a request comes before the first message sent for it. All else is in the order of the node's log.
func (f *Extract) Steps() iter.Seq2[int, []Step] {
	return func(yield func(int, []Step) bool) {
		events := make([][]history.Event, f.Stack.Total())
		for _, e := range f.Events {
			events[e.Node] = append(events[e.Node], e)
		}
		for id, steps := range f.MessageSteps() {
			if !yield(id, f.merged(steps, events[id])) {
				return
			}
		}
	}
}

// MessageSteps is Steps without the events. It takes the memory of the steps of one node at a time.
func (f *Extract) MessageSteps() iter.Seq2[int, []Step] {
	of := make([][]int32, f.Stack.Total()) // by node: its messages, in their order
	for i := range f.Messages {
		m := &f.Messages[i]
		if m.Sent != Unknown {
			of[m.From] = append(of[m.From], int32(i))
		}
		if m.Fate == Handled && (m.To != m.From || m.Sent == Unknown) {
			of[m.To] = append(of[m.To], int32(i))
		}
	}
	return func(yield func(int, []Step) bool) {
		for id := range of {
			if !yield(id, f.stepsOf(nodes.ID(id), of[id])) {
				return
			}
		}
	}
}

// stepsOf returns the steps of a node, given the indices of its messages.
func (f *Extract) stepsOf(id nodes.ID, messages []int32) []Step {
	steps := make([]Step, 0, len(messages))
	for at, i := range messages {
		m, alone := &f.Messages[i], messages[at:at+1:at+1]
		if m.From == id && m.Sent != Unknown && f.touches(m.Sent, m.Sent) {
			steps = append(steps, Step{At: m.Sent, Messages: alone, place: m.sent})
		}
		if m.To == id && m.Fate == Handled && f.touches(m.Over, m.Over) {
			steps = append(steps, Step{At: m.Over, Messages: alone, Receipt: true, place: m.over})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.Messages[0], b.Messages[0]))
	})
	return joined(steps)
}

// ClockedSteps returns the steps of each node with vector clocks (C. J. Fidge, 1988; F. Mattern, 1989).
func (f *Extract) ClockedSteps() [][]Step {
	all := make([][]Step, 0, f.Stack.Total())
	for _, steps := range f.Steps() {
		all = append(all, steps)
	}
	f.setClocks(all)
	return all
}

// joined merges the steps of one record: a multicast, or a message and its copies by the network.
func joined(steps []Step) []Step {
	all := steps[:0]
	for _, s := range steps {
		if last := len(all) - 1; last >= 0 && all[last].place == s.place {
			all[last].Messages = append(all[last].Messages, s.Messages...)
			continue
		}
		all = append(all, s)
	}
	return all
}

// merged inserts the events of a node among its other steps.
func (f *Extract) merged(steps []Step, events []history.Event) (all []Step) {
	for i := range events {
		e := &events[i]
		for len(steps) > 0 && (steps[0].At < e.At || steps[0].At == e.At && steps[0].Receipt) {
			all, steps = append(all, steps[0]), steps[1:]
		}
		first := f.asks(steps, e)
		if first >= 0 {
			all, steps = append(all, steps[:first]...), steps[first:]
		}
		all = append(all, Step{At: e.At, Event: e, after: first >= 0})
	}
	return append(all, steps...)
}

// asks returns the index of the step that sent, at the time of the request e, the first message for it, or
// -1.
func (f *Extract) asks(steps []Step, e *history.Event) int {
	for i := 0; e.Kind == history.Requested && i < len(steps) && steps[i].At == e.At; i++ {
		if m := &f.Messages[steps[i].Messages[0]]; !steps[i].Receipt && m.asks && m.Instance == e.Instance {
			return i
		}
	}
	return -1
}

// setClocks sets the vector clocks of all steps. It takes the steps of each node in order, and a receipt
// after its send.
func (f *Extract) setClocks(all [][]Step) {
	clocks := make([][]uint32, len(all))
	next := make([]int, len(all))
	sent := make([]*Step, len(f.Messages)) // by message: the step that sent it
	for id := range all {
		clocks[id] = make([]uint32, len(all))
	}
	left := 0
	for id := range all {
		left += len(all[id])
	}
	for force := false; left > 0; {
		before := left
		for id := range all {
			for ; next[id] < len(all[id]); left, force = left-1, false {
				s := &all[id][next[id]]
				if s.Receipt && !force && f.awaits(s, sent) {
					break
				}
				takeStep(s, id, clocks[id], sent)
				next[id]++
			}
		}
		force = left == before // a cycle, from errors of stamps: take one receipt before its send
	}
}

// awaits reports whether the send of a receipt is in the window and was not taken yet.
func (f *Extract) awaits(s *Step, sent []*Step) bool {
	m := &f.Messages[s.Messages[0]]
	return sent[s.Messages[0]] == nil && m.Sent != Unknown && f.touches(m.Sent, m.Sent)
}

// takeStep sets the clock of a step of a node.
func takeStep(s *Step, id int, clock []uint32, sent []*Step) {
	if s.Receipt && sent[s.Messages[0]] != nil {
		for of, count := range sent[s.Messages[0]].Clock {
			clock[of] = max(clock[of], count)
		}
	}
	clock[id]++
	s.Clock = slices.Clone(clock)
	if s.Event == nil && !s.Receipt {
		for _, i := range s.Messages {
			sent[i] = s
		}
	}
}

// A clocked is a request with its vector clock: clocked.knows[i] counts the steps of node i that happened
// before it. A node certainly knows of the request if it knows of at least clocked.made steps of the
// request's node.
type clocked struct {
	knows []uint32
	made  uint32
}

// mostClocks bounds how many entries the vector clocks of an extract have in all. They take up to 256 MB.
const mostClocks = 1 << 26

// Inversions returns how often a client entered while another waited whose request happened before that of
// the first (L. Lamport, CACM 21(7), 1978). Concurrent requests do not count: an algorithm may order them in
// any way. known is false unless the extract begins with the run, has all messages, and is not too long.
func (f *Extract) Inversions() (count int, known bool) {
	steps := (2*len(f.Messages) + len(f.Events)) * f.Stack.Total()
	if f.Window.From > 0 || f.Complete > 0 || f.Until < min(f.End, f.Window.To) || len(f.Events) >= MostEvents ||
		steps > mostClocks {
		return 0, false
	}
	type client struct {
		node     nodes.ID
		instance uint16
	}
	type request struct {
		client
		entry uint32
	}
	clocks := map[request]clocked{}
	for id, steps := range f.ClockedSteps() {
		for i := range steps {
			e := steps[i].Event
			if e == nil || e.Kind != history.Requested {
				continue
			}
			// If no message at the time of the request was for it, messages that the node sent at that time may have
			// come before it, such as the releases of its last exit.
			last := i
			for !steps[i].after && last+1 < len(steps) && steps[last+1].At == e.At {
				last++
			}
			clocks[request{client{e.Node, e.Instance}, e.Entry}] = clocked{steps[i].Clock, steps[last].Clock[id]}
		}
	}
	waiting := map[client]clocked{}
	for _, e := range f.Events {
		of := client{e.Node, e.Instance}
		switch e.Kind {
		case history.Requested:
			waiting[of] = clocks[request{of, e.Entry}]
		case history.Crashed:
			maps.DeleteFunc(waiting, func(c client, _ clocked) bool { return c.node == e.Node })
		case history.Entered:
			mine := waiting[of]
			delete(waiting, of)
			for other, its := range waiting {
				if mine.knows != nil && other.instance == of.instance && its.made <= mine.knows[other.node] {
					count++
				}
			}
		}
	}
	return count, true
}
