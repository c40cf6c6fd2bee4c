package replay

import (
	"fmt"

	"turnstile/nodes/history"
	"turnstile/nodes/lab"
)

// A record is what a play leaves: its history, and its story.
type record struct {
	Lab    lab.Lab
	now    int64
	Events []history.Event
	trace  []history.MessageRecord
	sends  uint32 // messages that were sent
	Story  []string
}

func (r *record) tell(format string, args ...any) {
	r.Story = append(r.Story, fmt.Sprintf(format, args...))
}

// add records what the lab tells: what has happened.
func (r *record) add(e history.Event) {
	e.At = r.now
	r.Events = append(r.Events, e)
}

// note records a message in the trace of the node that has sent it, handled it or not got it.
func (r *record) note(f Flight, seen history.MessageRecord) {
	seen.At, seen.Seq, seen.Instance, seen.Kind = r.now, f.Number, uint16(f.Instance), f.Kind
	r.trace = append(r.trace, seen)
}

// noteAsks takes note of which message was the first that a node has sent for a request, among those recorded
// since then.
func (r *record) noteAsks(s Step, since int) {
	for i := range r.trace[since:] {
		if m := &r.trace[since+i]; m.Sent && m.Node == s.Node && m.Instance == uint16(s.Instance) {
			m.Asks = true
			return
		}
	}
}

// lose takes note of a message that is lost.
func (r *record) lose(f Flight) {
	r.note(f, history.MessageRecord{Node: f.To, Peer: f.From, Lost: true})
	r.Lab.Drop(f.To, f.Instance)
}
