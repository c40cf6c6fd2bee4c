package chaos

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"turnstile/nodes"
	"turnstile/nodes/leading"
)

// A SharedState is the state of the faults of a run, in memory that all its processes share. So a fault takes
// effect at one moment everywhere, and of several nodes that see the moment that a fault waits for, one fires
// it.
type SharedState struct {
	declared *atomic.Uint64 // how often a node has declared itself leader
	slots    []slot         // by the number of the fault, less one
	seats    []seat         // by client
}

// A seat says whether a client leads.
type seat struct {
	turn atomic.Uint64 // its place among all that have declared themselves leader; 0: it does not lead
	term atomic.Uint64 // in which it leads
}

// A slot is the state of one fault. Times are in the run's nanoseconds, and zero is none.
type slot struct {
	armed atomic.Int64  // from when on it waits for its moment
	seen  atomic.Uint64 // how many such moments there have been, or messages that it may hit
	claim atomic.Uint64 // the node at which it was fired, plus one
	from  atomic.Int64  // in force from
	to    atomic.Int64  // until, exclusive
	hits  atomic.Uint64 // messages that it has hit
	_     [2]uint64     // a cache line for each
}

// first is the beginning of what is in force from the beginning of the run, time 0 included.
const first = 1

// since reports whether a time has come from when on something is so; 0: it never has.
func since(from, at int64) bool { return from == first || from != 0 && at >= from }

// never is the end of a fault that is not healed yet.
const never = math.MaxInt64

const boardHead = int(unsafe.Sizeof(slot{}))

const seatLen = int(unsafe.Sizeof(seat{}))

// seatsAt is where the seats begin in the file of a board.
const seatsAt = boardHead + Slots*int(unsafe.Sizeof(slot{}))

// Slots is how many faults a board has room for, those that are injected while the run goes on included.
const Slots = 2 * mostFaults

// NewSharedState returns the board of a run of so many clients, in memory of this process.
func NewSharedState(clients int) *SharedState {
	return &SharedState{new(atomic.Uint64), make([]slot, Slots), make([]seat, clients)}
}

// CreateSharedState makes the file of the board of a run of so many clients at path, and maps it.
func CreateSharedState(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, seatsAt+clients*seatLen), 0o644); err != nil {
		return nil, fmt.Errorf("creating the state of faults: %w", err)
	}
	return OpenSharedState(path)
}

// OpenSharedState maps the file of a board until the process ends.
func OpenSharedState(path string) (*SharedState, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the state of faults: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening the state of faults: %w", err)
	}
	length := int(info.Size())
	if length < seatsAt+seatLen {
		return nil, fmt.Errorf("%s is no state of faults: it has %d bytes", path, length)
	}
	b, err := unix.Mmap(int(file.Fd()), 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	declared := (*atomic.Uint64)(unsafe.Pointer(&b[0]))
	slots := unsafe.Slice((*slot)(unsafe.Pointer(&b[boardHead])), Slots)
	seats := unsafe.Slice((*seat)(unsafe.Pointer(&b[seatsAt])), (length-seatsAt)/seatLen)
	return &SharedState{declared, slots, seats}, nil
}

// reset has it not begun.
func (s *slot) reset() {
	s.armed.Store(0)
	s.seen.Store(0)
	s.claim.Store(0)
	s.from.Store(0)
	s.to.Store(0)
	s.hits.Store(0)
}

// begin puts a fault in force from one time until another.
func (s *slot) begin(from, to int64) {
	s.to.Store(to)
	s.from.Store(max(first, from))
}

// heal ends it at a time, unless it has ended.
func (s *slot) heal(at int64) { s.to.Store(min(s.to.Load(), max(1, at))) }

// inForce reports whether it is in force at a time.
func (s *slot) inForce(at int64) bool {
	from := s.from.Load()
	return since(from, at) && at < s.to.Load()
}

// disarm has nobody fire it any more. It waits for who is about to, which takes no time unless that node has
// been stopped or killed in the middle.
func (s *slot) disarm() {
	if s.claim.CompareAndSwap(0, math.MaxUint32) || s.armed.Load() == 0 {
		return
	}
	for range 100 {
		if s.from.Load() != 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// victim returns at which node it was fired, or None.
func (s *slot) victim() nodes.ID { return nodes.ID(s.claim.Load()) - 1 }

// lead notes that a client has declared itself leader in a term.
func (b *SharedState) lead(id nodes.ID, term uint64) {
	b.seats[id].turn.Store(0) // nobody sees the new term with the old turn
	b.seats[id].term.Store(term)
	b.seats[id].turn.Store(b.declared.Add(1))
}

// follow notes that a node does not lead, or not any more. Servers never do, and have no seat.
func (b *SharedState) follow(id nodes.ID) {
	if int(id) < len(b.seats) {
		b.seats[id].turn.Store(0)
	}
}

// leads returns who leads, of those that are up, one that stands still included: see leading.Foremost. None:
// nobody does.
func (b *SharedState) leads(up func(nodes.ID) bool) nodes.ID {
	e, turns := make(leading.Electorate, len(b.seats)), make([]uint64, len(b.seats))
	for i := range b.seats {
		if turns[i] = b.seats[i].turn.Load(); turns[i] != 0 {
			id := nodes.ID(i)
			e[i] = leading.Voter{Up: up(id), Belief: &leading.Belief{Leader: id, Term: b.seats[i].term.Load()}}
		}
	}
	return e.Foremost(func(id nodes.ID) uint64 { return turns[id] })
}

// clear has nobody lead.
func (b *SharedState) clear() {
	for id := range b.seats {
		b.follow(nodes.ID(id))
	}
}
