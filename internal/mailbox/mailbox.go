// Package mailbox shows that semaphores and messages can be made of each other (D. W. Jones, 22C:116, note
// 27): a mailbox of semaphores and shared memory, and a semaphore of messages. Neither serves a run; the test
// holds both to the same, and each made of the other.
package mailbox

import "sync"

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
	Number int // of a message that carries one
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

// counter is the semaphore of one machine, of a lock and a condition variable.
type counter struct {
	mu      sync.Mutex
	given   *sync.Cond
	permits int
}

// NewSemaphore returns a semaphore of the machine with so many permits.
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

// NewMailbox returns a mailbox of the language for so many messages.
func NewMailbox(size int) Mailbox { return make(channel, size) }

func (c channel) Send(m Message)   { c <- m }
func (c channel) Receive() Message { return <-c }
