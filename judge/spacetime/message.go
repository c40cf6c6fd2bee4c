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
	// Number is its number among all messages of a schedule or a simulation, and in its stream in a real run; 0:
	// unknown, or it is one of a multicast.
	Number uint32
	Sent   int64 // when it was sent; Unknown: before messages are known
	Over   int64 // when it was handled or lost, or Unknown

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

// Beats reports whether a message is a heartbeat, or any message of a failure detector.
func (f *Extract) Beats(m *Message) bool {
	return f.Stack.Codec().Kind(int(m.Kind)).Heartbeat ||
		f.Stack.Instances()[m.Instance].Kind == nodes.Detection && m.Instance > 0
}

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
		sent := Message{From: r.Node, To: to, Instance: r.Instance, Kind: r.Kind, Number: r.Seq,
			Sent: r.At, Over: Unknown, sent: place, asks: r.Asks}
		if r.Peer == nodes.None {
			sent.Number = 0
		}
		m.add(sent)
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
	m.add(was) // a copy, or a message whose send is unknown
}

// add adds a message, unless there are too many.
func (f *Extract) add(m Message) {
	if len(f.Messages) == MostMessages {
		f.TooMany = true
		return
	}
	f.Messages = append(f.Messages, m)
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
func (f *Extract) finish() {
	f.Messages = slices.DeleteFunc(f.Messages, func(x Message) bool {
		return x.Fate != Pending && x.Over < f.Window.From || x.Fate == Pending && x.Sent < f.Window.From
	})
	slices.SortStableFunc(f.Messages, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From), cmp.Compare(a.sent, b.sent))
	})
}

// A passing matches messages whose records come in the order of time, and whose numbers count the sends.
type passing struct {
	places []int32            // by node: how many records it had
	early  map[uint32]Message // by number: messages on their way when the window began
	first  uint32             // the number of the first message sent in the window
	at     []int32            // indices in Extract.Messages of this message and those sent after it
}

// Message takes the record of a message of a simulated run: see sim.Options.Messages. The fold then ignores
// the traces in the logs.
func (f *Fold) Message(r history.MessageRecord) {
	if f.passing == nil {
		f.passing = &passing{places: make([]int32, f.Stack.Total()), early: map[uint32]Message{}}
	}
	p := f.passing
	place := p.places[r.Node]
	p.places[r.Node]++
	switch before := r.At < f.Window.From; {
	case before && !r.Sent:
		delete(p.early, r.Seq)
	case !r.Sent:
		f.came(r, place)
	case r.At <= f.Window.To:
		m := Message{From: r.Node, To: r.Peer, Instance: r.Instance, Kind: r.Kind, Number: r.Seq, Sent: r.At,
			Over: Unknown, sent: place, asks: r.Asks}
		if before {
			p.early[r.Seq] = m
			break
		}
		if len(p.at) == 0 {
			p.first = r.Seq
		}
		p.at = append(p.at, int32(len(f.Messages)))
		f.add(m)
	}
}

// came takes the record of a message that was handled or lost in the window or after it.
func (f *Fold) came(r history.MessageRecord, place int32) {
	p := f.passing
	m, early := p.early[r.Seq]
	var pending *Message
	switch i := int(r.Seq - p.first); { // a large number if the message is older
	case early:
	case i < len(p.at) && int(p.at[i]) < len(f.Messages): // otherwise there were too many
		pending = &f.Messages[p.at[i]]
		m = *pending
	case r.At > f.Window.To:
		return
	default:
		m = Message{From: r.Peer, To: r.Node, Instance: r.Instance, Kind: r.Kind, Number: r.Seq, Sent: Unknown}
	}
	m.Fate, m.Over, m.over = Handled, r.At, place
	if r.Lost {
		m.Fate = Lost
	}
	if pending != nil && pending.Fate == Pending {
		*pending = m
		return
	}
	f.add(m) // it was sent before the window, or is a copy
}
