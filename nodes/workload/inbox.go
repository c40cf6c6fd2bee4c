package workload

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// An Inbox keeps the messages that have arrived at a node until its application receives them, in the order
// in which they came. The hosts of nodes ask it about each message, and have the node handle what waits after
// all else that it does. Times are nanoseconds of the run.
type Inbox[M any] struct {
	how         Receive
	dice        chance.Dice
	node        nodes.ID
	waiting     []M
	due         int64 // when the application polls for them
	since, till int64 // between them the client computes
}

// NewInbox returns the inbox of a node whose application receives messages so; d are the dice of the run.
func NewInbox[M any](how Receive, d chance.Dice, id nodes.ID) Inbox[M] {
	return Inbox[M]{how: how, dice: d, node: id}
}

// Computes takes note that the client computes from now on, until a time.
func (b *Inbox[M]) Computes(now, till int64) { b.since, b.till = now, till }

// Keeps reports whether a message that arrives now has to wait: the application does not receive now, or
// others wait before it. Inside says whether the client is.
func (b *Inbox[M]) Keeps(now int64, inside bool) bool {
	if len(b.waiting) > 0 {
		return true
	}
	if b.how.By == Poll {
		return b.how.nextPoll(b.dice, b.node, now) > now
	}
	return b.closed(now, inside)
}

// closed reports whether what the client does keeps messages waiting.
func (b *Inbox[M]) closed(now int64, inside bool) bool {
	switch b.how.By {
	case Interrupt:
		return inside
	case Handler:
		return inside || b.since < now && now < b.till
	}
	return false
}

// Keep has a message wait that arrives now. It returns when the application polls for it; 0: it does not
// poll, or polls for another before it.
func (b *Inbox[M]) Keep(m M, now int64) (poll int64) {
	if b.waiting = append(b.waiting, m); b.how.By != Poll || len(b.waiting) > 1 {
		return 0
	}
	b.due = b.how.nextPoll(b.dice, b.node, now)
	return b.due
}

// Empty reports whether nothing waits.
func (b *Inbox[M]) Empty() bool { return len(b.waiting) == 0 }

// Take takes out the message that has waited longest, if the application receives now.
func (b *Inbox[M]) Take(now int64, inside bool) (m M, ok bool) {
	if len(b.waiting) == 0 || now < b.due || b.closed(now, inside) {
		return m, false
	}
	var none M
	m, b.waiting[0] = b.waiting[0], none // so that it keeps no message in memory
	if b.waiting = b.waiting[1:]; len(b.waiting) == 0 {
		b.waiting = nil
	}
	return m, true
}

// Open has an agent receive messages from now on.
func (b *Inbox[M]) Open() { b.how, b.due = Receive{}, 0 }

// Lose empties the inbox of a node that goes down, and returns what waited.
func (b *Inbox[M]) Lose() []M {
	lost := b.waiting
	b.waiting, b.due, b.since, b.till = nil, 0, 0, 0
	return lost
}
