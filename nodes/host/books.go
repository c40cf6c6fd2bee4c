package host

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Tickets is what an orchestrator reads of a resource while a run that ends by entries goes on. Times are
// in the run's nanoseconds.
type Tickets struct {
	Issued    uint64 `json:"issued"`     // requests that were allowed, and one for each that was refused
	StoppedAt int64  `json:"stopped_at"` // when the last that the run makes was; 0: not yet
	LeftAt    int64  `json:"left_at"`    // when the latest critical section ended; 0: none has
}

// A Share describes what a resource process keeps in a run.
type Share struct {
	Run        string `json:"run"`        // names the subject: see Subjects.Resource
	Nodes      int    `json:"nodes"`      // with clients
	Capacities []int  `json:"capacities"` // units of each resource, in the order of nodes.Stack.Mutexes
	Entries    uint64 `json:"entries"`    // that the run makes; 0: it ends by time, and draws no tickets
}

// Books are what a resource process keeps of a run: the same witnesses of exclusion as the file of a
// Resource. Each question of a client changes them in one step. They may be used by several goroutines.
type Books struct {
	of Share

	mu        sync.Mutex
	tickets   Tickets
	frozen    int64 // as of resourceWords
	resources []book
}

// A book is what clients share of one resource.
type book struct {
	taken   int64  // units
	fence   uint64 // the highest that has entered
	account int64
	words   workload.Words
	places  []place // by node
}

// A place is what is known of the client of one node.
type place struct {
	life   uint32 // the earliest incarnation that may ask
	asked  uint32 // the incarnation of the latest question
	units  int32  // that it has taken
	answer answer // to the latest question, for one that comes again
}

// A question is what a client asks the resource process: binary, little-endian, field by field.
type question struct {
	Do          uint8
	Fenced      bool
	Resource    uint16
	Node        nodes.ID
	Incarnation uint32
	Units       int32
	Number      uint64 // of the client's questions in its incarnation, from 1
	Fence       uint64
	Account     int64 // that is to be written, or what a word is to be
	Word        uint8 // that is swapped
	At          int64 // when it was asked, in the run's nanoseconds; of a leave: when the section ended
}

// Questions of a client. For a section they are enter, swaps, write and leave, in this order. A client that
// lost its lock may leave without a write.
const (
	drawTicket    = iota + 1 // may I make a request? Answered by the ticket's number
	enterResource            // count me in. Answered by the units taken, and the account
	swapWord                 // answered by what that was
	writeAccount             // answered by what the account holds, and whether it refuses
	leaveResource            // count me out
	showLife                 // answered without more
)

// An answer is what the resource process answers, in the same form.
type answer struct {
	Number  uint64 // of the question
	Verdict uint8
	Value   int64 // the ticket; the units taken; or what a word was
	Account int64
	Words   workload.Words // of an enter
}

// The verdicts of an answer.
const (
	granted  = iota // it is done
	refusing        // the account refuses what is written under a lower fence number
	tooLate         // the process that asks was taken out: its orchestrator takes it for dead
	senseless
)

// NewBooks returns the books of a run that has just begun.
func NewBooks(of Share) *Books {
	b := &Books{of: of, resources: make([]book, len(of.Capacities))}
	for i := range b.resources {
		b.resources[i].places = make([]place, of.Nodes)
	}
	return b
}

// Serve has the books answer the questions that come to the run's subject by a connection, one after the
// other, until the subscription that it returns is ended. Once too many have been inside, they tell all
// nodes.
func (b *Books) Serve(conn *nats.Conn) (*nats.Subscription, error) {
	subjects, told := SubjectsOf(b.of.Run), false
	s, err := conn.Subscribe(subjects.Resource(), func(m *nats.Msg) {
		var q question
		a := answer{Verdict: senseless}
		if n, err := binary.Decode(m.Data, binary.LittleEndian, &q); err == nil && n == len(m.Data) {
			a = b.answer(&q)
		}
		// The connection is within this process. A node that has lost its own asks again.
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
		panic(err) // it is made of numbers
	}
	return b
}

// frozenAt returns when a client first left while too many were inside; 0: none has.
func (b *Books) frozenAt() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.frozen
}

// Tickets returns how far the run has come.
func (b *Books) Tickets() Tickets {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tickets
}

// TakeOut takes a node whose process has ended out of every register. What that process asked and has not
// arrived is refused, and what any incarnation asked up to this one. The books know what each client holds,
// so the register is right from then on.
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

// answer answers a question. One that comes again is answered as before, and changes nothing.
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
		return p.answer // an earlier question than the latest has been answered, so nobody waits for it
	}
	p.asked = q.Incarnation
	p.answer = b.carryOut(q, book, p)
	p.answer.Number = q.Number
	return p.answer
}

// carryOut does what a client asks for.
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
