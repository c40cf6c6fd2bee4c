package replay

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/lab"
)

// Told returns a story and its outcome, as written below a schedule: the failed check, empty if none, and the
// broken assumptions that put the failure outside its model.
func Told(story []string, check string, broken nodes.Assumption) string {
	end := "nothing is broken"
	if check != "" {
		end = "broken: " + check
		if broken != 0 {
			end += fmt.Sprintf(" (outside its model: %s)", broken.Broken(true))
		}
	}
	return strings.Join(append(slices.Clip(story), end), "\n") + "\n"
}

// who makes a clause about nodes: "node 1 waits", or "nodes 1, 2 wait".
func who(all []nodes.ID, does, do string) string {
	if len(all) == 1 {
		return fmt.Sprintf("node %d %s", all[0], does)
	}
	return "nodes " + ids(all) + " " + do
}

// ids lists nodes.
func ids(all []nodes.ID) string { return strings.ReplaceAll(list(all), " ", ", ") }

// A record holds the history and the story of a play.
type record struct {
	Lab    lab.Lab
	now    int64
	Events []history.Event
	trace  []history.MessageRecord
	sends  uint32 // number of messages sent
	Story  []string
}

func (r *record) tell(format string, args ...any) {
	r.Story = append(r.Story, fmt.Sprintf(format, args...))
}

// untell takes the last line of the story back. Copies of the story keep it.
func (r *record) untell() { r.Story = slices.Clip(r.Story[:len(r.Story)-1]) }

// add records an event from the lab.
func (r *record) add(e history.Event) {
	e.At = r.now
	r.Events = append(r.Events, e)
}

// note records a message in the trace of the node that sent or handled it or, if it is lost, of its receiver.
func (r *record) note(f Flight, seen history.MessageRecord) {
	seen.At, seen.Seq, seen.Instance, seen.Kind = r.now, f.Number, uint16(f.Instance), f.Kind
	r.trace = append(r.trace, seen)
}

// noteAsks marks the first message that a node has sent for a request, among those recorded from index since
// on.
func (r *record) noteAsks(s Step, since int) {
	for i := range r.trace[since:] {
		if m := &r.trace[since+i]; m.Sent && m.Node == s.Node && m.Instance == uint16(s.Instance) {
			m.Asks = true
			return
		}
	}
}

// lose records a lost message.
func (r *record) lose(f Flight) {
	r.note(f, history.MessageRecord{Node: f.To, Peer: f.From, Lost: true})
	r.Lab.Drop(f.To, f.Instance)
}
