package check

import (
	"cmp"
	"fmt"
	"slices"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// storyMessages is how many messages a story has at most.
const storyMessages = 12

// A line is one event of a story. At equal times, as in simulations, causes come before effects.
type line struct {
	at   int64
	rank rank
	text string
}

type rank int

const (
	gets rank = iota
	asks
	enters
	leaves
	sends
)

func (l line) compare(m line) int {
	return cmp.Or(cmp.Compare(l.at, m.at), cmp.Compare(l.rank, m.rank))
}

// story describes how the two sections of o came to overlap: their events, and the messages of their nodes,
// from the earlier request to the end of the overlap.
func (e *evidence) story(o *section.Overlap) []string {
	from := min(o.A.Asked, o.B.Asked)
	var lines []line
	for _, s := range []*section.Section{o.A, o.B} {
		node := name(s.Node)
		lines = append(lines,
			line{s.Asked, asks, fmt.Sprintf("%s asks for its entry %d", node, s.Entry)},
			line{s.Entered, enters, fmt.Sprintf("%s enters: %d inside by the register, the account holds %d",
				node, s.Taken, s.Read)})
		if left(s) {
			lines = append(lines, line{s.Ended, leaves, fmt.Sprintf("%s leaves: the account is to hold %d",
				node, s.Written)})
		}
	}
	messages, more := e.messages(o, from)
	lines = append(lines, messages...)
	slices.SortStableFunc(lines, line.compare)

	says := []string{fmt.Sprintf("nodes %d and %d were both inside for %s, %s after the first of them asked:",
		o.A.Node, o.B.Node, us(o.To-o.From), us(o.From-from))}
	for _, l := range lines {
		says = append(says, fmt.Sprintf("%10.1f us  %s", float64(l.at-from)/1e3, l.text))
	}
	for _, s := range []*section.Section{o.A, o.B} {
		if !left(s) {
			says = append(says, fmt.Sprintf("%13s  %s never left", "", name(s.Node)))
		}
	}
	if more > 0 {
		says = append(says, fmt.Sprintf("%13s  (left out: %s of theirs)", "",
			english.Count(uint64(more), "other message", "other messages")))
	}
	return append(says, e.overwritten(o, from)...)
}

// left reports whether a section was left by its client.
func left(s *section.Section) bool { return s.State == section.Exited || s.State == section.Revoked }

// messages returns the messages of the two nodes of o from a time until their overlap ended, and how many it
// left out. It prefers messages between the two, and then later ones.
func (e *evidence) messages(o *section.Overlap, from int64) (lines []line, left int) {
	a, b := o.A.Node, o.B.Node
	var passed []message
	for _, l := range e.logs {
		if l.Node != a && l.Node != b {
			continue
		}
		for i, m := range l.Trace {
			if m.At >= from && m.At <= o.To && !m.Lost {
				passed = append(passed, message{m, l.Text(i)})
			}
		}
	}
	between := func(m message) bool { return m.Peer == a || m.Peer == b || m.Peer == nodes.None }
	slices.SortStableFunc(passed, func(x, y message) int {
		if between(x) != between(y) {
			if between(x) {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.At, x.At)
	})
	kept := passed[:min(len(passed), storyMessages)]
	for _, m := range kept {
		rank := gets
		if m.Sent {
			rank = sends
		}
		lines = append(lines, line{m.At, rank, e.tell(m)})
	}
	return lines, len(passed) - len(kept)
}

// A message is a message of a trace, with its content.
type message struct {
	history.MessageRecord
	says history.Text
}

func (e *evidence) tell(m message) (says string) {
	kind := cmp.Or(m.says.Type, e.kind(int(m.Kind)))
	switch {
	case m.Sent && m.Peer == nodes.None:
		says = fmt.Sprintf("%s sends %s to all", name(m.Node), kind)
	case m.Sent:
		says = fmt.Sprintf("%s sends %s to %s", name(m.Node), kind, name(m.Peer))
	case m.Peer == nodes.None:
		says = fmt.Sprintf("%s gets %s", name(m.Node), kind)
	default:
		says = fmt.Sprintf("%s gets %s from %s", name(m.Node), kind, name(m.Peer))
	}
	if m.says.Body != "" {
		says += ": " + m.says.Body
	}
	return says
}

// overwritten says that messages at the beginning of the story were not kept, if that is so.
func (e *evidence) overwritten(o *section.Overlap, from int64) (says []string) {
	for _, l := range e.logs {
		mine := l.Node == o.A.Node || l.Node == o.B.Node
		if mine && l.Totals.TraceNext > uint64(len(l.Trace)) && len(l.Trace) > 0 && l.Trace[0].At > from {
			says = append(says, fmt.Sprintf("%13s  (messages of %s before %s were not kept)", "",
				name(l.Node), us(l.Trace[0].At-from)))
		}
	}
	return says
}
