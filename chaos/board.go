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
)

// A Board is the state of the faults of a run, in memory that all its processes share. So a fault takes
// effect at one moment everywhere, and of several nodes that see the moment that a fault waits for, one fires
// it.
type Board struct {
	leader *atomic.Uint64 // see lead
	slots  []slot         // by the number of the fault, less one
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

func boardLen() int { return boardHead + Slots*int(unsafe.Sizeof(slot{})) }

// Slots is how many faults a board has room for, those that are injected while the run goes on included.
const Slots = 2 * mostFaults

// NewBoard returns a board in memory of this process.
func NewBoard() *Board {
	return &Board{leader: new(atomic.Uint64), slots: make([]slot, Slots)}
}

// CreateBoard makes the file of a board at path, and maps it.
func CreateBoard(path string) (*Board, error) {
	if err := os.WriteFile(path, make([]byte, boardLen()), 0o644); err != nil {
		return nil, fmt.Errorf("creating the state of faults: %w", err)
	}
	return OpenBoard(path)
}

// OpenBoard maps the file of a board until the process ends.
func OpenBoard(path string) (*Board, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the state of faults: %w", err)
	}
	defer file.Close()
	b, err := unix.Mmap(int(file.Fd()), 0, boardLen(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	leader := (*atomic.Uint64)(unsafe.Pointer(&b[0]))
	first := (*slot)(unsafe.Pointer(&b[boardHead]))
	return &Board{leader, unsafe.Slice(first, Slots)}, nil
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

// lead notes that a node has declared itself leader in a term, unless another has done so in a higher one. Of
// one term the latest counts.
func (b *Board) lead(id nodes.ID, term uint64) {
	const idBits = 21
	term = min(term, 1<<(64-idBits)-1)
	for word := term<<idBits | uint64(id+1); ; {
		was := b.leader.Load()
		if was>>idBits > term || b.leader.CompareAndSwap(was, word) {
			return
		}
	}
}

// leads returns who leads, or None.
func (b *Board) leads() nodes.ID { return nodes.ID(b.leader.Load()&(1<<21-1)) - 1 }
