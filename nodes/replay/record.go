package replay

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A record is what a play leaves: its history, and its story.
type record struct {
	now    int64
	Events []history.Event
	trace  []history.MessageRecord
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

// note records a message in the trace of the node that has sent or handled it.
func (r *record) note(node, peer nodes.ID, instance int32, kind uint8, sent bool) {
	r.trace = append(r.trace, history.MessageRecord{At: r.now, Node: node, Peer: peer,
		Instance: uint16(instance), Kind: kind, Sent: sent})
}
