package host

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Tickets is the progress of a run that ends by entries, as the resource counts it. Times are in the run's
// nanoseconds.
type Tickets struct {
	Issued    uint64 `json:"issued"`     // tickets drawn: requests allowed and refused
	StoppedAt int64  `json:"stopped_at"` // when the last request of the run was allowed; 0: not yet
	LeftAt    int64  `json:"left_at"`    // when the latest critical section ended; 0: none has
}

// A Share describes a run to its resource process.
type Share struct {
	Run        string `json:"run"`        // names the subject: see Subjects.Resource
	Nodes      int    `json:"nodes"`      // number of nodes with clients
	Capacities []int  `json:"capacities"` // units of each resource, in the order of nodes.Stack.Mutexes
	Entries    uint64 `json:"entries"`    // entries of the run; 0: it ends by time, and draws no tickets
}

// Books are the state of a resource process for a run: the same witnesses of exclusion as the file of a
// Resource. Each question of a client changes them in one step. They are safe for use by several goroutines.
type Books struct {
	of Share

	mu        sync.Mutex
	tickets   Tickets
	frozen    int64 // see resourceWords.frozen
	resources []book
}

// A book is the shared state of one resource.
type book struct {
	taken   int64  // units taken
	fence   uint64 // the highest fence number under which a client has entered
	account int64
	words   workload.Words
	places  []place // by node
}

// A place is the state of the client of one node.
type place struct {
	life   uint32 // the earliest incarnation that may ask
	asked  uint32 // the incarnation of the latest question
	units  int32  // units that the client has taken
	answer answer // the answer to the latest question, in case that is asked again
}

// A question of a client to the resource process. On the wire: binary, little-endian, field by field.
type question struct {
	Do          uint8
	Fenced      bool
	Resource    uint16
	Node        nodes.ID
	Incarnation uint32
	Units       int32
	Number      uint64 // rises from question to question in an incarnation; 0 for showLife
	Fence       uint64
	Account     int64 // new value of the account, or of the word
	Word        uint8 // index of the word to swap
	At          int64 // when it was asked, in the run's nanoseconds; for leave: when the section ended
}

// Questions of a client. In a critical section they are enter, swaps, write and leave, in this order. A
// client that lost its lock may leave without a write.
const (
	drawTicket    = iota + 1 // may I make a request? Answer: the ticket's number
	enterResource            // count me in. Answer: the units taken, the account and the words
	swapWord                 // answer: the old value
	writeAccount             // answer: the account, and whether the write was refused
	leaveResource            // count me out
	showLife                 // answer: a sign of life
)

// An answer of the resource process, encoded like a question.
type answer struct {
	Number  uint64 // the number of the question
	Verdict uint8
	Value   int64 // the ticket; the units taken; or the old value of a word
	Account int64
	Words   workload.Words // the words of the resource, for enterResource
}

// The verdicts of an answer.
const (
	granted   = iota // done
	refusing         // the account refused a write under a lower fence number
	tooLate          // the incarnation was taken out of the register, since the orchestrator takes it for dead
	senseless        // the question makes no sense
)

// NewBooks returns the books of a run that has just begun.
func NewBooks(of Share) *Books {
	b := &Books{of: of, resources: make([]book, len(of.Capacities))}
	for i := range b.resources {
		b.resources[i].places = make([]place, of.Nodes)
	}
	return b
}

// Serve answers the questions on the run's subject, one after the other, until the returned subscription
// ends. When a violation of exclusion is seen, it tells all nodes.
func (b *Books) Serve(conn *nats.Conn) (*nats.Subscription, error) {
	subjects, told := SubjectsOf(b.of.Run), false
	s, err := conn.Subscribe(subjects.Resource(), func(m *nats.Msg) {
		var q question
		a := answer{Verdict: senseless}
		if n, err := binary.Decode(m.Data, binary.LittleEndian, &q); err == nil && n == len(m.Data) {
			a = b.answer(&q)
		}
		// The connection is within this process, so it does not fail. A node that lost its connection asks again.
		m.Respond(encode(nil, &a))
		if at := b.frozenAt(); at != 0 && !told {
			told = conn.Publish(subjects.Frozen(), encode(nil, &at)) == nil
		}
	})
	if err == nil {
		err = conn.FlushTimeout(JoinTimeout)
	}
	if err != nil {
		return nil, fmt.Errorf("subscribing to the questions of a run: %w", err)
	}
	return s, nil
}

// encode appends a value of fixed size.
func encode(b []byte, value any) []byte {
	b, err := binary.Append(b, binary.LittleEndian, value)
	if err != nil {
		panic(err) // impossible: all values have a fixed size
	}
	return b
}

// frozenAt returns when a client first left while too many were inside; 0: none has.
func (b *Books) frozenAt() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.frozen
}

// Tickets returns the progress of the run.
func (b *Books) Tickets() Tickets {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tickets
}

// TakeOut takes a node whose process has ended out of every register. Later questions of this incarnation or
// an earlier one are refused. The books know what each client holds, so the register is right from then on.
func (b *Books) TakeOut(id nodes.ID, incarnation uint32) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id < 0 || int(id) >= b.of.Nodes {
		return fmt.Errorf("the resource has no client at node %d: clients count from 0 to %d", id, b.of.Nodes-1)
	}
	for i := range b.resources {
		book := &b.resources[i]
		p := &book.places[id]
		book.taken -= int64(p.units)
		*p = place{life: max(p.life, incarnation+1)}
	}
	return nil
}

// answer answers a question. A repeated question gets the same answer, and changes nothing.
func (b *Books) answer(q *question) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Node < 0 || int(q.Node) >= b.of.Nodes || int(q.Resource) >= len(b.resources) {
		return answer{Number: q.Number, Verdict: senseless}
	}
	book := &b.resources[q.Resource]
	p := &book.places[q.Node]
	switch {
	case q.Do == showLife:
		return answer{Number: q.Number}
	case q.Incarnation < p.life:
		return answer{Number: q.Number, Verdict: tooLate}
	case q.Incarnation == p.asked && q.Number != 0 && q.Number <= p.answer.Number:
		return p.answer // for a question before the latest any answer will do, since no client waits for it
	}
	p.asked = q.Incarnation
	p.answer = b.carryOut(q, book, p)
	p.answer.Number = q.Number
	return p.answer
}

// carryOut carries out a question.
func (b *Books) carryOut(q *question, book *book, p *place) (a answer) {
	switch {
	case q.Do == drawTicket:
		b.tickets.Issued++
		if b.tickets.Issued == b.of.Entries {
			b.tickets.StoppedAt = q.At
		}
		a.Value = int64(b.tickets.Issued)
	case q.Do == enterResource && p.units == 0 && q.Units > 0:
		p.units = q.Units
		book.taken += int64(q.Units)
		if q.Fenced {
			book.fence = max(book.fence, q.Fence)
		}
		a.Value, a.Account, a.Words = book.taken, book.account, book.words
	case q.Do == swapWord && p.units > 0 && int(q.Word) < len(book.words):
		a.Value, book.words[q.Word] = book.words[q.Word], q.Account
	case q.Do == writeAccount && p.units > 0:
		if q.Fenced && q.Fence < book.fence {
			a.Verdict = refusing
		} else {
			book.account = q.Account
		}
		a.Account = book.account
	case q.Do == leaveResource && p.units > 0:
		b.leave(q, book, p)
	default:
		a.Verdict = senseless
	}
	return a
}

// leave takes a client off the register.
func (b *Books) leave(q *question, book *book, p *place) {
	if book.taken > int64(b.of.Capacities[q.Resource]) && b.frozen == 0 {
		b.frozen = q.At
	}
	book.taken -= int64(p.units)
	p.units = 0
	if b.of.Entries > 0 {
		b.tickets.LeftAt = max(b.tickets.LeftAt, q.At)
	}
}
