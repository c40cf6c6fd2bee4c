// Package mailbox shows that semaphores and messages can be made of each other (D. W. Jones, 22C:116, note
// 27): a mailbox of semaphores and shared memory, and a semaphore of messages. Its test applies the
// same checks to given semaphores and mailboxes, and to ones made of each other.
package primitives

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Semaphore has permits.
type Semaphore interface {
	P() // takes a permit, and waits until there is one
	V() // gives one
}

// A Mailbox holds messages on their way to one process.
type Mailbox interface {
	Send(Message)     // waits while the box is full
	Receive() Message // takes the oldest, and waits until there is one
}

// A Message is what processes send each other: what it asks for, and where the answer goes.
type Message struct {
	Kind   Kind
	Answer Mailbox
	Number int // the content of a message of kind Data
}

// Kind is what a message asks for.
type Kind int

// The kinds of messages of a semaphore.
const (
	Data    Kind = iota
	Take         // P: the sender waits for the answer
	Give         // V
	Granted      // the answer to Take
	Stop         // ends the server
)

// counter is a semaphore in shared memory, made of a lock and a condition variable.
type counter struct {
	mu      sync.Mutex
	given   *sync.Cond
	permits int
}

// NewSemaphore returns a semaphore in shared memory with so many permits.
func NewSemaphore(permits int) Semaphore {
	c := &counter{permits: permits}
	c.given = sync.NewCond(&c.mu)
	return c
}

func (c *counter) P() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.permits == 0 {
		c.given.Wait()
	}
	c.permits--
}

func (c *counter) V() {
	c.mu.Lock()
	c.permits++
	c.mu.Unlock()
	c.given.Signal()
}

// channel is the mailbox of the language.
type channel chan Message

func NewMailbox(size int) Mailbox { return make(channel, size) }

func (c channel) Send(m Message)   { c <- m }
func (c channel) Receive() Message { return <-c }

// ring is a mailbox of three semaphores and memory that they protect: a bounded buffer.
type ring struct {
	slots       []Message
	first, next int // the slot of the oldest message, and that of the next one
	free, full  Semaphore
	alone       Semaphore // one process at a time looks at the slots
}

// OfSemaphores returns a mailbox for so many messages, made of semaphores that permits makes.
func OfSemaphores(size int, permits func(int) Semaphore) Mailbox {
	return &ring{slots: make([]Message, size), free: permits(size), full: permits(0), alone: permits(1)}
}

// Send puts a message into a free slot. It takes a permit of free before that of alone: a sender that waited
// for a free slot while it held alone would keep the receiver from freeing one.
func (r *ring) Send(m Message) {
	r.free.P()
	r.alone.P()
	r.slots[r.next] = m
	r.next = (r.next + 1) % len(r.slots)
	r.alone.V()
	r.full.V()
}

func (r *ring) Receive() Message {
	r.full.P()
	r.alone.P()
	m := r.slots[r.first]
	r.slots[r.first] = Message{}
	r.first = (r.first + 1) % len(r.slots)
	r.alone.V()
	r.free.V()
	return m
}

// server is a semaphore that a process keeps: its count, and the queue of waiters, are in that process.
type server struct {
	box   Mailbox
	boxes func(size int) Mailbox
}

// OfMessages returns a semaphore with so many permits, kept by a process that is asked by messages in
// mailboxes that boxes makes; stop ends that process, once nobody waits.
func OfMessages(permits int, boxes func(size int) Mailbox) (s Semaphore, stop func()) {
	box := boxes(1)
	go serve(box, permits)
	return &server{box, boxes}, func() { box.Send(Message{Kind: Stop}) }
}

// serve is the loop of the notes: a P is answered at once while there are permits, and otherwise once a V
// comes.
func serve(box Mailbox, permits int) {
	var waiting []Mailbox // the return addresses, in the order of their requests
	for {
		switch m := box.Receive(); {
		case m.Kind == Take && permits > 0:
			permits--
			m.Answer.Send(Message{Kind: Granted})
		case m.Kind == Take:
			waiting = append(waiting, m.Answer)
		case m.Kind == Give && len(waiting) > 0:
			waiting[0].Send(Message{Kind: Granted})
			waiting = waiting[1:]
		case m.Kind == Give:
			permits++
		default:
			return
		}
	}
}

func (s *server) P() {
	answer := s.boxes(1)
	s.box.Send(Message{Kind: Take, Answer: answer})
	answer.Receive()
}

func (s *server) V() { s.box.Send(Message{Kind: Give}) }

// A kit makes semaphores and mailboxes, of either sort.
type kit struct {
	name      string
	semaphore func(permits int) Semaphore
	mailbox   func(size int) Mailbox
}

// kits returns three kits: the given primitives, each primitive made of the other, and each made of the other
// that is itself made of the first.
func kits(t *testing.T) []kit {
	ofMessages := func(boxes func(int) Mailbox) func(int) Semaphore {
		return func(permits int) Semaphore {
			s, stop := OfMessages(permits, boxes)
			t.Cleanup(stop)
			return s
		}
	}
	ofSemaphores := func(permits func(int) Semaphore) func(int) Mailbox {
		return func(size int) Mailbox { return OfSemaphores(size, permits) }
	}
	return []kit{
		{"given", NewSemaphore, NewMailbox},
		{"each of the other", ofMessages(NewMailbox), ofSemaphores(NewSemaphore)},
		{"each of the other, of itself", ofMessages(ofSemaphores(NewSemaphore)),
			ofSemaphores(ofMessages(NewMailbox))},
	}
}

// "We have proven the equivalence [...] of these two models of interprocess communication": semaphores and
// mailboxes pass the same checks, whichever of the two is made of the other.
func TestSemaphoresAndMessagesBuildEachOther(t *testing.T) {
	for _, k := range kits(t) {
		t.Run(k.name, func(t *testing.T) {
			for _, permits := range []int{1, 3} {
				if err := keepsPermits(k.semaphore(permits), permits); err != nil {
					t.Errorf("%d permits: %v", permits, err)
				}
			}
			for _, size := range []int{1, 4} {
				if err := keepsMessages(k.mailbox(size), size); err != nil {
					t.Errorf("%d slots: %v", size, err)
				}
			}
		})
	}
}

// keepsPermits returns an error if a semaphore lets in too many processes, and hangs if it lets in too few.
func keepsPermits(s Semaphore, permits int) error {
	var inside, tooMany, entries atomic.Int32
	var all sync.WaitGroup
	for range permits + 3 {
		all.Go(func() {
			for range 40 {
				s.P()
				if now := inside.Add(1); now > int32(permits) {
					tooMany.Store(now)
				}
				entries.Add(1)
				inside.Add(-1)
				s.V()
			}
		})
	}
	all.Wait()
	for range permits { // all of them can be taken at once, or this waits for ever
		s.P()
	}
	taken := make(chan bool, 1)
	go func() { s.P(); taken <- true }()
	select {
	case <-taken:
		return fmt.Errorf("one more than %d is inside", permits)
	case <-time.After(5 * time.Millisecond):
	}
	s.V()
	<-taken
	if tooMany.Load() > 0 || entries.Load() != int32(permits+3)*40 {
		return fmt.Errorf("%d permits let %d in, in %d entries", permits, tooMany.Load(), entries.Load())
	}
	return nil
}

// keepsMessages returns an error unless each message arrives once, in order by sender, and a full box
// lets nobody send.
func keepsMessages(m Mailbox, size int) error {
	const senders, each = 3, 50
	var all sync.WaitGroup
	for sender := range senders {
		all.Go(func() {
			for i := range each {
				m.Send(Message{Number: sender*each + i})
			}
		})
	}
	var next [senders]int
	for range senders * each {
		n := m.Receive().Number
		if sender := n / each; n%each != next[sender] {
			return fmt.Errorf("message %d of sender %d comes, and not %d", n%each, sender, next[sender])
		}
		next[n/each]++
	}
	all.Wait()
	for i := range size {
		m.Send(Message{Number: i})
	}
	sent := make(chan bool, 1)
	go func() { m.Send(Message{Number: size}); sent <- true }()
	select {
	case <-sent:
		return fmt.Errorf("a box for %d messages takes one more", size)
	case <-time.After(5 * time.Millisecond):
	}
	for i := range size + 1 {
		if n := m.Receive().Number; n != i {
			return fmt.Errorf("message %d comes, and not %d", n, i)
		}
	}
	return nil
}
