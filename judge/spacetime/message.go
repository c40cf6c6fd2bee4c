package spacetime

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Message is one message to one node. A copy counts as a message of its own.
type Message struct {
	From, To nodes.ID
	Instance uint16
	Kind     uint8 // its number among the message kinds of the stack
	Fate     Fate
	Sent     int64 // when it was sent; Unknown: before messages are known
	Over     int64 // when it was handled or lost, or Unknown

	sent, over int32 // indices among the records of the sender and of the receiver
	asks       bool  // it is the first message that its node sent for a request
}

// Unknown is an unknown time.
const Unknown = math.MinInt64

// A Fate is what became of a message.
type Fate uint8

// The fates of messages.
const (
	Pending Fate = iota // no receipt is known: it may be on its way, or lost
	Handled
	Lost
)

// A link is the key of a message: its stream, kind and number. Other incarnations of the sender may use the
// same key.
type link struct {
	from, to  nodes.ID
	multicast bool
	instance  uint16
	kind      uint8
	seq       uint32
}

// A matcher finds the send of each message that was handled or lost.
type matcher struct {
	*Fold
	sends map[link][]int32 // by key: indices of messages, the earliest first
}

// match makes the messages from the records of nodes.
func (f *Fold) match(logs []*history.NodeLog) {
	m := matcher{f, map[link][]int32{}}
	f.keepTexts(logs)
	f.Complete, f.Until = math.MinInt64, math.MaxInt64
	stopped := int64(math.MinInt64) // when tracing stopped everywhere, to keep the messages before a violation
	for _, l := range logs {
		if len(l.Trace) == 0 {
			continue
		}
		if l.Totals.TraceNext > uint64(len(l.Trace)) {
			f.Complete = max(f.Complete, l.Trace[0].At)
		}
		if counted(l) > l.Totals.TraceNext {
			stopped = max(stopped, l.Trace[len(l.Trace)-1].At)
		}
	}
	if stopped > math.MinInt64 {
		f.Until = stopped
	}
	for at, r := range records(logs) {
		if r.Sent && r.At <= f.Window.To {
			m.send(r, at)
		}
	}
	for at, r := range records(logs) {
		if !r.Sent && r.At >= f.Window.From {
			m.come(r, at)
		}
	}
	m.finish()
}

// counted returns how many messages a node published and handled.
func counted(l *history.NodeLog) (sum uint64) {
	for i := range l.Instances {
		for _, k := range l.Instances[i].Kinds {
			sum += k.Publishes + k.Delivered
		}
	}
	return sum
}

// records yields the records of all logs whose messages have numbers, each with its index among the records
// of its node.
func records(logs []*history.NodeLog) iter.Seq2[int32, *history.MessageRecord] {
	return func(yield func(int32, *history.MessageRecord) bool) {
		next := map[nodes.ID]int32{}
		for _, l := range logs {
			for i := range l.Trace {
				if r := &l.Trace[i]; r.Seq > 0 && !yield(next[l.Node]+int32(i), r) {
					return
				}
			}
			next[l.Node] += int32(len(l.Trace))
		}
	}
}

// send adds a message that was sent. A multicast becomes one message to each other client.
func (m *matcher) send(r *history.MessageRecord, place int32) {
	to, past := r.Peer, r.Peer+1
	if r.Peer == nodes.None {
		to, past = 0, nodes.ID(m.Stack.N())
	}
	for ; to < past; to++ {
		if to == r.Node {
			continue
		}
		key := link{r.Node, to, r.Peer == nodes.None, r.Instance, r.Kind, r.Seq}
		m.sends[key] = append(m.sends[key], int32(len(m.Messages)))
		m.Messages = append(m.Messages, Message{From: r.Node, To: to, Instance: r.Instance, Kind: r.Kind,
			Sent: r.At, Over: Unknown, sent: place, asks: r.Asks})
	}
}

// come takes the record of a message that was handled or lost.
func (m *matcher) come(r *history.MessageRecord, place int32) {
	at := m.sent(link{r.Peer, r.Node, false, r.Instance, r.Kind, r.Seq}, r.At)
	if at < 0 {
		at = m.sent(link{r.Peer, r.Node, true, r.Instance, r.Kind, r.Seq}, r.At)
	}
	fate := Handled
	if r.Lost {
		fate = Lost
	}
	was := Message{From: r.Peer, To: r.Node, Instance: r.Instance, Kind: r.Kind, Sent: Unknown}
	if at >= 0 {
		was = m.Messages[at]
	}
	if was.Sent == Unknown && r.At > m.Window.To {
		return
	}
	was.Fate, was.Over, was.over = fate, r.At, place
	if at >= 0 && m.Messages[at].Fate == Pending {
		m.Messages[at] = was
		return
	}
	m.Messages = append(m.Messages, was) // a copy, or a message whose send is unknown
}

// sent returns the index of the message that was sent last under a key before a time, or -1.
func (m *matcher) sent(on link, before int64) int32 {
	at := int32(-1)
	for _, i := range m.sends[on] {
		if m.Messages[i].Sent <= before+m.err {
			at = i
		}
	}
	return at
}

// finish drops messages that were over before the window, and sorts the rest by their sends.
func (m *matcher) finish() {
	f := m.Fold
	f.Messages = slices.DeleteFunc(f.Messages, func(x Message) bool {
		return x.Fate != Pending && x.Over < f.Window.From || x.Fate == Pending && x.Sent < f.Window.From
	})
	slices.SortStableFunc(f.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From))
	})
}
