package workload

import (
	"fmt"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Receive says when the application of a node takes in messages that have arrived: only then do its
// machines handle them. D. W. Jones (22C:116, lecture notes about distributed mutual exclusion) describes
// three ways: an agent, an interrupt, and polling. The zero value is the agent. Messages of a node to itself,
// requests, timers and messages of the failure detector never wait.
type Receive struct {
	By     Receiver      // empty: Agent
	Period time.Duration // time between two polls, for Poll; else 0
}

// A Receiver is a way to receive messages.
type Receiver string

// The receivers.
const (
	// Agent is a thread beside the application: it handles messages as they arrive.
	Agent Receiver = "agent"
	// Interrupt is an interrupt handler. It may interrupt the client while the client computes. While the client
	// is inside, interrupts are off; messages are handled when the client leaves, before it requests again.
	Interrupt Receiver = "interrupt"
	// Handler is a handler that the application calls on its only thread, as in an event loop: not while the
	// client is inside, and not while it computes (thinks, under a closed load). Messages are handled after the
	// client leaves, before it computes, and again after it has computed and requested.
	Handler Receiver = "handler"
	// Poll looks for messages periodically, even while the client is inside. The time of the first poll is drawn
	// at random for each node.
	Poll Receiver = "poll"
)

// ReceiveForms lists what ParseReceive reads.
const ReceiveForms = "agent (at once), interrupt (not inside the critical section), handler (neither " +
	"inside nor during the think time) or poll:5ms (every 5 ms)"

// MostPeriod is the longest time between two polls.
const MostPeriod = 24 * time.Hour

// ParseReceive reads how messages are received: agent, interrupt, handler or poll:5ms.
func ParseReceive(text string) (Receive, error) {
	by, period, timed := strings.Cut(text, ":")
	switch by := Receiver(by); by {
	case Agent, Interrupt, Handler:
		if timed {
			return Receive{}, fmt.Errorf("%q: only poll has a time: write %s, or poll:%s", text, by, period)
		}
		if by == Agent {
			by = ""
		}
		return Receive{By: by}, nil
	case Poll:
		d, err := time.ParseDuration(period)
		switch {
		case err != nil:
			return Receive{}, fmt.Errorf("%q: write how long it is from one poll to the next, as in poll:5ms", text)
		case d <= 0 || d > MostPeriod:
			return Receive{}, fmt.Errorf("%q: the time between two polls must be above 0s and at most 24h, as in "+
				"poll:5ms", text)
		}
		return Receive{Poll, d}, nil
	}
	return Receive{}, fmt.Errorf("there is no way %q to receive messages: take %s", text, ReceiveForms)
}

// IsZero reports whether messages are handled as they arrive.
func (r Receive) IsZero() bool { return r == Receive{} }

// String writes r in the form that ParseReceive reads.
func (r Receive) String() string {
	switch r.By {
	case "":
		return string(Agent)
	case Poll:
		return string(Poll) + ":" + r.Period.String()
	}
	return string(r.By)
}

// Set reads what ParseReceive reads. With Type it makes r the value of a flag.
func (r *Receive) Set(text string) (err error) { *r, err = ParseReceive(text); return err }

// Type names the values of the flag.
func (r *Receive) Type() string { return "way" }

// MarshalText writes r in the form that ParseReceive reads.
func (r Receive) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Receive) UnmarshalText(text []byte) error { return r.Set(string(text)) }

// Waits returns the longest time that a message waits for the application, given the longest times that the
// client is inside and that it computes.
func (r Receive) Waits(hold, think time.Duration) time.Duration {
	switch r.By {
	case Interrupt:
		return hold
	case Handler:
		return max(hold, think)
	}
	return r.Period
}

// nextPoll returns the time of the next poll of a node, now or later, in nanoseconds since the run began.
func (r Receive) nextPoll(d chance.Dice, id nodes.ID, now int64) int64 {
	period := int64(r.Period)
	first := int64(d.Unit(chance.At(chance.ForPoll, id, 0)) * float64(period))
	if now <= first {
		return first
	}
	return first + (now-first+period-1)/period*period
}

// CheckReceive returns an error if w.Receive does not suit a run: resources is the number of resources, and
// duration the length of the run, or 0 if the run ends after a number of entries.
func (w *Workload) CheckReceive(resources int, duration time.Duration) error {
	switch r := w.Receive; {
	case r.By == Poll && duration > 0 && r.Period > duration:
		return fmt.Errorf("receive %v: the run of %v is shorter, so some nodes would receive nothing: poll more "+
			"often or run for longer", r, duration)
	case (r.By == Interrupt || r.By == Handler) && resources > 1 && !w.TakesTurns(resources):
		return fmt.Errorf("receive %v: of %d resources under an open load a node may be inside one or another "+
			"all the time, and receive nothing: take agent or poll:5ms, or another load", r, resources)
	}
	return nil
}

// An Inbox queues the messages that have arrived at a node until its application receives them, in order.
// Hosts ask the inbox about each message that arrives, and take out messages after any other event of the
// node. Times are in nanoseconds since the run began.
type Inbox[M any] struct {
	how         Receive
	dice        chance.Dice
	node        nodes.ID
	waiting     []M
	due         int64 // when the application polls for the waiting messages
	since, till int64 // the client computes between these times
}

// NewInbox returns the inbox of a node; d are the dice of the run.
func NewInbox[M any](how Receive, d chance.Dice, id nodes.ID) Inbox[M] {
	return Inbox[M]{how: how, dice: d, node: id}
}

// Computes records that the client computes between the times now and till.
func (b *Inbox[M]) Computes(now, till int64) { b.since, b.till = now, till }

// Keeps reports whether a message that arrives now has to wait: the application does not receive now, or
// other messages wait already. inside says whether the client is inside.
func (b *Inbox[M]) Keeps(now int64, inside bool) bool {
	if len(b.waiting) > 0 {
		return true
	}
	if b.how.By == Poll {
		return b.how.nextPoll(b.dice, b.node, now) > now
	}
	return b.closed(now, inside)
}

// closed reports whether messages must wait because the client is inside or computes.
func (b *Inbox[M]) closed(now int64, inside bool) bool {
	switch b.how.By {
	case Interrupt:
		return inside
	case Handler:
		return inside || b.since < now && now < b.till
	}
	return false
}

// Keep queues a message that arrives now. It returns the time of the poll at which the host must call Take;
// 0: the application does not poll, or an earlier message has to wait for the same poll.
func (b *Inbox[M]) Keep(m M, now int64) (poll int64) {
	if b.waiting = append(b.waiting, m); b.how.By != Poll || len(b.waiting) > 1 {
		return 0
	}
	b.due = b.how.nextPoll(b.dice, b.node, now)
	return b.due
}

// Empty reports whether no message waits.
func (b *Inbox[M]) Empty() bool { return len(b.waiting) == 0 }

// Take takes out the message that has waited longest, if the application receives now.
func (b *Inbox[M]) Take(now int64, inside bool) (m M, ok bool) {
	if len(b.waiting) == 0 || now < b.due || b.closed(now, inside) {
		return m, false
	}
	var none M
	m, b.waiting[0] = b.waiting[0], none // so that the array does not keep the message in memory
	if b.waiting = b.waiting[1:]; len(b.waiting) == 0 {
		b.waiting = nil
	}
	return m, true
}

// Open makes the receiver an agent from now on.
func (b *Inbox[M]) Open() { b.how, b.due = Receive{}, 0 }

// Lose empties the inbox of a node that goes down, and returns the messages that waited.
func (b *Inbox[M]) Lose() []M {
	lost := b.waiting
	b.waiting, b.due, b.since, b.till = nil, 0, 0, 0
	return lost
}
