package chaos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"turnstile/internal/mapped"
	"turnstile/nodes"
	"turnstile/nodes/leading"
)

// A SharedState is the state of the faults of a run, in memory that all its processes share. So a fault takes
// effect at one moment everywhere, and of several nodes that see the moment that a fault waits for, one fires
// it.
type SharedState struct {
	declared *atomic.Uint64 // the latest turn of a leader
	faults   []faultState   // by the number of the fault, less one
	leaders  []leaderState  // by client
	// unled is how often each client was taken not to lead any more by this process (see Follow).
	unled []uint64
}

// A leaderState says whether a client leads.
type leaderState struct {
	// Its place among all that have declared themselves leader: later ones have higher numbers, which are
	// times if they are declared at different ones, so that those of several hosts can be compared. 0: it
	// does not lead.
	turn atomic.Uint64
	term atomic.Uint64 // in which it leads
}

// A faultState is the state of one fault. Times are in the run's nanoseconds, and zero is none.
type faultState struct {
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

// since reports whether something that is so from one time on is so at another; from 0: it never is.
func since(from, at int64) bool { return from == first || from != 0 && at >= from }

// never is the end of a fault that is not healed yet.
const never = math.MaxInt64

const headLen = int(unsafe.Sizeof(faultState{}))

const leaderLen = int(unsafe.Sizeof(leaderState{}))

// leadersAt is where the states of leaders begin in the file.
const leadersAt = headLen + mostShared*int(unsafe.Sizeof(faultState{}))

// mostShared is how many faults it has room for, those that are injected while the run goes on included.
const mostShared = 2 * mostFaults

// NewSharedState returns the state of the faults of a run of so many clients, in memory of this process.
func NewSharedState(clients int) *SharedState {
	return &SharedState{new(atomic.Uint64), make([]faultState, mostShared), make([]leaderState, clients),
		make([]uint64, clients)}
}

// CreateSharedState makes the file of that state for a run of so many clients at path, and maps it.
func CreateSharedState(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, StateSize(clients)), 0o644); err != nil {
		return nil, fmt.Errorf("creating the state of faults: %w", err)
	}
	return openSharedState(path)
}

// openSharedState maps that file until the process ends.
func openSharedState(path string) (*SharedState, error) {
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
	if length < leadersAt+leaderLen {
		return nil, fmt.Errorf("%s is no state of faults: it has %d bytes", path, length)
	}
	b, err := mapped.ReadWrite(file, 0, length)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	declared := (*atomic.Uint64)(unsafe.Pointer(&b[0]))
	faults := unsafe.Slice((*faultState)(unsafe.Pointer(&b[headLen])), mostShared)
	leaders := unsafe.Slice((*leaderState)(unsafe.Pointer(&b[leadersAt])), (length-leadersAt)/leaderLen)
	return &SharedState{declared, faults, leaders, make([]uint64, len(leaders))}, nil
}

// reset makes it the state of a fault that has not begun.
func (s *faultState) reset() {
	s.armed.Store(0)
	s.seen.Store(0)
	s.claim.Store(0)
	s.from.Store(0)
	s.to.Store(0)
	s.hits.Store(0)
}

// begin puts a fault in force from one time until another.
func (s *faultState) begin(from, to int64) {
	s.to.Store(to)
	s.from.Store(max(first, from))
}

// heal ends it at a time, unless it has ended.
func (s *faultState) heal(at int64) { s.to.Store(min(s.to.Load(), max(1, at))) }

// inForce reports whether it is in force at a time.
func (s *faultState) inForce(at int64) bool {
	from := s.from.Load()
	return since(from, at) && at < s.to.Load()
}

// disarm makes sure that no node fires it any more. A node that is about to fire it needs no time for that,
// unless it has been stopped or killed in the middle: disarm waits for it, but not for long.
func (s *faultState) disarm() {
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
func (s *faultState) victim() nodes.ID { return nodes.ID(s.claim.Load()) - 1 }

// lead notes that a client has declared itself leader in a term, at a time.
func (b *SharedState) lead(id nodes.ID, term uint64, at int64) {
	b.leaders[id].turn.Store(0) // nobody sees the new term with the old turn
	b.leaders[id].term.Store(term)
	for {
		before := b.declared.Load()
		turn := max(before+1, uint64(max(0, at)))
		if b.declared.CompareAndSwap(before, turn) {
			b.leaders[id].turn.Store(turn)
			return
		}
	}
}

// follow notes that a node does not lead, or not any more. Servers never do, and have no state.
func (b *SharedState) follow(id nodes.ID) {
	if int(id) < len(b.leaders) {
		b.unled[id]++
		b.leaders[id].turn.Store(0)
	}
}

// leads returns who leads, of those that are up, one that stands still included: see leading.Foremost. None:
// nobody does.
func (b *SharedState) leads(up func(nodes.ID) bool) nodes.ID {
	e, turns := make(leading.Electorate, len(b.leaders)), make([]uint64, len(b.leaders))
	for i := range b.leaders {
		if turns[i] = b.leaders[i].turn.Load(); turns[i] != 0 {
			id := nodes.ID(i)
			e[i] = leading.Voter{Up: up(id), Belief: &leading.Belief{Leader: id, Term: b.leaders[i].term.Load()}}
		}
	}
	return e.Foremost(func(id nodes.ID) uint64 { return turns[id] })
}

// clear has nobody lead.
func (b *SharedState) clear() {
	for id := range b.leaders {
		b.follow(nodes.ID(id))
	}
}

// CheckApart says why nodes on hosts that share no memory cannot suffer some faults, if they cannot. There,
// each host has a SharedState of its own, which follows that of the orchestrator some milliseconds later.
// So a fault whose moment comes at a node would hit one on each host.
func CheckApart(faults []Fault) error {
	for i := range faults {
		f := &faults[i]
		if f.Timed() || f.target().Word == "leader" && f.When.IsZero() {
			continue
		}
		return errors.New(f.String() + ": it waits for a moment at some node, and these hosts share no memory by " +
			"which they would know that it has come at another: give it a time (at), or name the nodes that it hits")
	}
	return nil
}

// Apart says that the nodes are on hosts that share no memory (see CheckApart): a fault of the leader waits
// here until it is known who leads.
func (d *Driver) Apart() { d.apart = true }

// StateSize returns how many bytes the file of the state of faults of so many clients has.
func StateSize(clients int) int { return leadersAt + clients*leaderLen }

// OpenMirror maps the state of faults of a host that follows that of another machine.
func OpenMirror(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, StateSize(clients)), 0o644); err != nil {
		return nil, err
	}
	return openSharedState(path)
}

// Decided returns what the driver of the run has decided, for Follow: of each fault whom it hits, if that
// came out in the run, and from when to when it is in force; and how often each client was taken not to
// lead any more.
func (b *SharedState) Decided() (text []byte) {
	add := func(x int64) { text = binary.AppendVarint(text, x) }
	for i := range b.faults {
		if from, to := b.faults[i].from.Load(), b.faults[i].to.Load(); from != 0 || to != 0 {
			add(int64(i) + 1)
			add(int64(b.faults[i].claim.Load()))
			add(from)
			add(to)
		}
	}
	add(0)
	for id, count := range b.unled {
		if count > 0 {
			add(int64(id) + 1)
			add(int64(count))
		}
	}
	add(0)
	return text
}

var errMirror = errors.New("this is no state of faults")

// Follow has a mirror follow what was Decided. After an error it is a mixture of old and new.
func (b *SharedState) Follow(text []byte) error {
	r := varints{text: text}
	for i := r.next(); i != 0; i = r.next() {
		claim, from, to := r.next(), r.next(), r.next()
		if r.wrong || i < 1 || i > int64(len(b.faults)) {
			return errMirror
		}
		f := &b.faults[i-1]
		if f.from.Load() != from || f.to.Load() != to {
			f.claim.Store(uint64(claim))
			f.to.Store(to)
			f.from.Store(from)
		}
	}
	for i := r.next(); i != 0; i = r.next() {
		count := r.next()
		if r.wrong || i < 1 || i > int64(len(b.leaders)) {
			return errMirror
		}
		if id := nodes.ID(i - 1); b.unled[id] != uint64(count) {
			b.leaders[id].turn.Store(0)
			b.unled[id] = uint64(count)
		}
	}
	if r.wrong || len(r.text) > 0 {
		return errMirror
	}
	return nil
}

// Seen returns what nodes have left in a mirror, for Gather: how many messages faults have hit, and who
// leads.
func (b *SharedState) Seen() (text []byte) {
	add := func(x uint64) { text = binary.AppendVarint(text, int64(x)) }
	for i := range b.faults {
		if hits := b.faults[i].hits.Load(); hits > 0 {
			add(uint64(i) + 1)
			add(hits)
		}
	}
	add(0)
	for id := range b.leaders {
		if turn := b.leaders[id].turn.Load(); turn > 0 {
			add(uint64(id) + 1)
			add(turn)
			add(b.leaders[id].term.Load())
		}
	}
	add(0)
	return text
}

// Gather takes over what nodes have left in all mirrors.
func (b *SharedState) Gather(seen [][]byte) error {
	hits, leaders := make([]uint64, len(b.faults)), make([][2]uint64, len(b.leaders))
	for _, text := range seen {
		r := varints{text: text}
		for i := r.next(); i != 0; i = r.next() {
			count := r.next()
			if r.wrong || i < 1 || i > int64(len(hits)) {
				return errMirror
			}
			hits[i-1] += uint64(count)
		}
		for i := r.next(); i != 0; i = r.next() {
			turn, term := r.next(), r.next()
			if r.wrong || i < 1 || i > int64(len(leaders)) {
				return errMirror
			}
			leaders[i-1] = [2]uint64{uint64(turn), uint64(term)}
		}
		if r.wrong || len(r.text) > 0 {
			return errMirror
		}
	}
	for i, count := range hits {
		b.faults[i].hits.Store(count)
	}
	for id, l := range leaders {
		b.leaders[id].term.Store(l[1])
		b.leaders[id].turn.Store(l[0])
	}
	return nil
}

// varints reads numbers.
type varints struct {
	text  []byte
	wrong bool // there were no more
}

// next returns the next number; 0: there is none.
func (r *varints) next() int64 {
	x, n := binary.Varint(r.text)
	if n <= 0 {
		r.wrong = true
		return 0
	}
	r.text = r.text[n:]
	return x
}
