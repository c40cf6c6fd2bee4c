package stall

import (
	"fmt"
	"slices"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An Asked says to whom a waiting node has sent messages since its request, and who has sent nothing back. It
// is known of machines that do not say what they wait for, such as foreign programs.
type Asked struct {
	Node   nodes.ID   `yaml:"node"`
	Since  int64      `yaml:"since"`          // when its request was due, in ns since the run began
	To     []nodes.ID `yaml:"to,flow"`        // who got messages, in the order of the first to each
	Kind   string     `yaml:"kind,omitempty"` // the first message
	Silent []Silent   `yaml:"silent,omitempty"`
	Cut    bool       `yaml:"cut,omitempty"` // not all its messages since then are recorded
}

// A Silent is a node that has sent nothing back since the first message to it, which it handled at the time
// Got; 0: it did not, or Cut: its messages since then are not all recorded.
type Silent struct {
	Node nodes.ID `yaml:"node"`
	Got  int64    `yaml:"got,omitempty"`
	Cut  bool     `yaml:"cut,omitempty"`
}

// Ask completes the report from the latest messages in the logs. The function kind names a message; "": it
// neither asks nor answers, as a heartbeat.
func (r *Report) Ask(logs []*history.NodeLog, kind func(history.MessageRecord, history.Text) string) {
	for i, s := range r.States {
		if s == nil || s.Client != nodes.Waiting.String() || s.Since == 0 || len(r.Waits)+r.LeftOut.Waits > 0 {
			continue
		}
		id := nodes.ID(i)
		if len(r.Nodes) > 0 {
			id = r.Nodes[i]
		}
		r.Asked = append(r.Asked, askedBy(id, s.Since, logs, kind))
	}
}

// askedBy looks at the messages of a node since its request.
func askedBy(id nodes.ID, since int64, logs []*history.NodeLog,
	kind func(history.MessageRecord, history.Text) string) Asked {
	a := Asked{Node: id, Since: since}
	first, answered := map[nodes.ID]history.MessageRecord{}, map[nodes.ID]bool{}
	for _, l := range logs {
		if l.Node != id {
			continue
		}
		a.Cut = a.Cut || begins(l, since)
		for i, m := range l.Trace {
			name := ""
			if m.At >= since && !m.Lost {
				name = kind(m, l.Text(i))
			}
			_, asked := first[m.Peer]
			switch {
			case name == "":
			case !m.Sent:
				answered[m.Peer] = asked
			case !asked:
				first[m.Peer] = m
				a.To = append(a.To, m.Peer)
				if a.Kind == "" {
					a.Kind = name
				}
			}
		}
	}
	for _, peer := range a.To {
		if !answered[peer] {
			a.Silent = append(a.Silent, gotBy(peer, first[peer], logs))
		}
	}
	return a
}

// begins reports whether a log has lost messages from after a time: its trace is full, and begins later.
func begins(l *history.NodeLog, since int64) bool {
	return l.Totals.TraceNext > uint64(len(l.Trace)) && (len(l.Trace) == 0 || l.Trace[0].At > since)
}

// gotBy looks for when a node handled a message.
func gotBy(peer nodes.ID, sent history.MessageRecord, logs []*history.NodeLog) Silent {
	s := Silent{Node: peer}
	for _, l := range logs {
		if l.Node != peer {
			continue
		}
		s.Cut = s.Cut || begins(l, sent.At)
		for _, m := range l.Trace {
			if !m.Sent && !m.Lost && m.Peer == sent.Node && m.Seq == sent.Seq && m.At >= sent.At {
				return Silent{Node: peer, Got: m.At}
			}
		}
	}
	return s
}

func (a Asked) String() string {
	says := fmt.Sprintf("node %d requested at %s", a.Node, at(a.Since))
	if a.Cut {
		return says + "; its messages since then are not all recorded"
	}
	if len(a.To) == 0 {
		return says + ", and has sent nothing since"
	}
	says += fmt.Sprintf(", and sent %s to %s", a.Kind, listed(a.To))
	if len(a.Silent) == 0 {
		return says + "; all have sent something back"
	}
	for _, s := range a.Silent {
		switch says += fmt.Sprintf("; %d has not answered", s.Node); {
		case s.Got > 0:
			says += fmt.Sprintf(" (it got that at %s)", at(s.Got))
		case s.Cut:
			says += " (it is not recorded whether it got that)"
		default:
			says += " (it has not got that)"
		}
	}
	return says
}

func at(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

// listed names nodes, a few of many.
func listed(ids []nodes.ID) string {
	const few = 8
	var words []string
	for _, id := range slices.Sorted(slices.Values(ids))[:min(few, len(ids))] {
		words = append(words, fmt.Sprint(id))
	}
	if more := len(ids) - few; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return english.List(words)
}
