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
// effect everywhere at once, and if several nodes see the moment that it waits for, exactly one fires it.
type SharedState struct {
	declared *atomic.Uint64 // highest turn of any leader so far
	faults   []faultState   // the state of fault n is at index n-1
	leaders  []leaderState  // indexed by client
	// unled counts how often this process has noted that a client does not lead any more (see Follow).
	unled []uint64
}

// A leaderState says whether a client leads.
type leaderState struct {
	// turn orders the declarations of leaders: a later declaration has a higher turn. It is the time of the
	// declaration, or more if another leader has that turn, so turns of several hosts are comparable. 0: the
	// client does not lead.
	turn atomic.Uint64
	term atomic.Uint64 // term in which the client leads
}

// A faultState is the state of one fault. Times are in nanoseconds of the run; 0: not yet.
type faultState struct {
	armed atomic.Int64  // time from which the fault waits for its moment
	seen  atomic.Uint64 // how many such moments, or messages that suit the filter, have come so far
	claim atomic.Uint64 // node that fired the fault, plus one
	from  atomic.Int64  // time from which the fault is in force
	to    atomic.Int64  // time at which it is in force no longer
	hits  atomic.Uint64 // how many messages the fault has hit
	hitAt atomic.Int64  // when it hit the first of them
	until atomic.Int64  // when the last message that the fault has hit arrives, or was lost; 0: it has hit none
}

// first stands for time 0, the beginning of the run, since 0 means not yet.
const first = 1

// since reports whether something that holds from a time on holds at another time. If from is 0, it does not
// hold yet.
func since(from, at int64) bool { return from == first || from != 0 && at >= from }

// never is the end of a fault without a planned end.
const never = math.MaxInt64

const headLen = int(unsafe.Sizeof(faultState{}))

const leaderLen = int(unsafe.Sizeof(leaderState{}))

// leadersAt is the offset of the states of leaders in the file.
const leadersAt = headLen + mostShared*int(unsafe.Sizeof(faultState{}))

// mostShared is how many faults the state has room for, injected ones included.
const mostShared = 2 * mostFaults

// NewSharedState returns the state of the faults of a run of so many clients, in memory of this process.
func NewSharedState(clients int) *SharedState {
	return &SharedState{new(atomic.Uint64), make([]faultState, mostShared), make([]leaderState, clients),
		make([]uint64, clients)}
}

// CreateSharedState creates the file of the state for a run of so many clients at path, and maps it.
func CreateSharedState(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, StateSize(clients)), 0o644); err != nil {
		return nil, fmt.Errorf("creating the state of faults: %w", err)
	}
	return openSharedState(path)
}

// openSharedState maps the file of the state until the process ends.
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
		return nil, fmt.Errorf("%s is not a state of faults: it has %d bytes", path, length)
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

// reset marks the fault as not begun.
func (s *faultState) reset() {
	s.armed.Store(0)
	s.seen.Store(0)
	s.claim.Store(0)
	s.from.Store(0)
	s.to.Store(0)
	s.hits.Store(0)
	s.hitAt.Store(0)
	s.until.Store(0)
}

// acts notes when the fault hit a message, and when that message arrives or was lost.
func (s *faultState) acts(hit, at int64) {
	hit = max(first, hit)
	for before := s.hitAt.Load(); (before == 0 || hit < before) && !s.hitAt.CompareAndSwap(before, hit); {
		before = s.hitAt.Load()
	}
	for before := s.until.Load(); at > before && !s.until.CompareAndSwap(before, at); {
		before = s.until.Load()
	}
}

// begin puts the fault in force from one time until another.
func (s *faultState) begin(from, to int64) {
	s.to.Store(to)
	s.from.Store(max(first, from))
}

// heal ends the fault at a time, unless it ends earlier.
func (s *faultState) heal(at int64) { s.to.Store(min(s.to.Load(), max(1, at))) }

// inForce reports whether the fault is in force at a time.
func (s *faultState) inForce(at int64) bool {
	from := s.from.Load()
	return since(from, at) && at < s.to.Load()
}

// disarm makes sure that no node fires the fault any more. If a node has claimed it but not put it in force,
// disarm waits up to 10 ms: the node may have been stopped or killed in between.
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

// victim returns the node that has claimed the fault, which hits it, or None.
func (s *faultState) victim() nodes.ID { return nodes.ID(s.claim.Load()) - 1 }

// lead notes that a client has declared itself leader in a term, at a time.
func (b *SharedState) lead(id nodes.ID, term uint64, at int64) {
	b.leaders[id].turn.Store(0) // so that no reader sees the new term with the old turn
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

// follow notes that a node does not lead. Servers never do, and have no state.
func (b *SharedState) follow(id nodes.ID) {
	if int(id) < len(b.leaders) {
		b.unled[id]++
		b.leaders[id].turn.Store(0)
	}
}

// leads returns the node that leads, which is up but may stand still, or None: see leading.Foremost.
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

// clear notes that no node leads.
func (b *SharedState) clear() {
	for id := range b.leaders {
		b.follow(nodes.ID(id))
	}
}

// CheckApart returns an error if hosts without shared memory cannot carry out one of the faults. There, each
// host has a SharedState of its own, which follows that of the orchestrator some milliseconds later. So a
// fault that waits for a moment at a node would be fired once on each host, and each host would count the
// messages of its own.
func CheckApart(faults []Fault) error {
	for i := range faults {
		f := &faults[i]
		switch {
		case f.OfLinks() && f.Nth > 0:
			return errors.New(f.String() +
				": hosts without shared memory cannot count messages together: leave out nth")
		case f.Timed(), f.target().Word == "leader" && f.When.IsZero():
			continue
		}
		return errors.New(f.String() + ": hosts without shared memory cannot tell each other that the moment has " +
			"come: give the fault a time (at), or name its nodes")
	}
	return nil
}

// Apart tells the driver that the hosts share no memory (see CheckApart). Then a fault of the leader waits in
// the driver until a leader is known.
func (d *Driver) Apart() { d.apart = true }

// StateSize returns the size in bytes of the file of a state for so many clients.
func StateSize(clients int) int { return leadersAt + clients*leaderLen }

// OpenMirror creates and maps the state of a host that follows the state of the orchestrator's machine.
func OpenMirror(path string, clients int) (*SharedState, error) {
	if err := os.WriteFile(path, make([]byte, StateSize(clients)), 0o644); err != nil {
		return nil, err
	}
	return openSharedState(path)
}

// Decided encodes the decisions of the driver, for Follow: the victim, the beginning and the end of each
// fault, and how often the driver noted that a client does not lead.
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

var errMirror = errors.New("this is not a state of faults")

// Follow updates a mirror from the text of Decided. After an error it is a mixture of old and new.
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

// Seen encodes what the nodes wrote to a mirror, for Gather: how many messages each fault has hit, when the
// first, when the last of them arrives, and which nodes lead.
func (b *SharedState) Seen() (text []byte) {
	add := func(x uint64) { text = binary.AppendVarint(text, int64(x)) }
	for i := range b.faults {
		if hits := b.faults[i].hits.Load(); hits > 0 { // so it has noted the first hit
			add(uint64(i) + 1)
			add(hits)
			add(uint64(b.faults[i].hitAt.Load()))
			add(uint64(b.faults[i].until.Load()))
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

// Gather updates the state from the texts of Seen of all mirrors.
func (b *SharedState) Gather(seen [][]byte) error {
	hits, leaders := make([]uint64, len(b.faults)), make([][2]uint64, len(b.leaders))
	for _, text := range seen {
		r := varints{text: text}
		for i := r.next(); i != 0; i = r.next() {
			count, hitAt, until := r.next(), r.next(), r.next()
			if r.wrong || i < 1 || i > int64(len(hits)) {
				return errMirror
			}
			hits[i-1] += uint64(count)
			b.faults[i-1].acts(hitAt, until)
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
	wrong bool // the text ended early
}

// next returns the next number, or 0 and sets wrong if the text has ended.
func (r *varints) next() int64 {
	x, n := binary.Varint(r.text)
	if n <= 0 {
		r.wrong = true
		return 0
	}
	r.text = r.text[n:]
	return x
}
