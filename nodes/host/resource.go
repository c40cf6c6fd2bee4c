package host

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Resource is the state that the clients of a run share, in memory that all its processes map.
type Resource struct {
	*resourceWords
	shared []sharedResource
	shares []share // the shares of all clients, by resource and node
	nodes  int
}

// Each word has a cache line of its own.
type resourceWords struct {
	issued    atomic.Uint64 // requests issued, when a run ends by entries
	_         [7]uint64
	stoppedAt atomic.Int64 // when the last request was issued, in the run's nanoseconds; 0: not yet
	_         [7]uint64
	leftAt    atomic.Int64 // when the latest critical section ended, when a run ends by entries
	_         [7]uint64
	frozen    atomic.Int64 // when a client first left while too many were inside; 0: never
	_         [7]uint64
}

// A sharedResource is the state that the clients of one mutex share: an account that each client reads on
// entry and writes one higher on exit, and a register of the units taken. With the stamps they are witnesses:
// a lost update (lost money) implies overlapping sections, which imply a register above the capacity.
type sharedResource struct {
	Taken   atomic.Int64 // units taken
	_       [7]uint64
	Account atomic.Int64
	_       [7]uint64
	Words   [workload.Steps]atomic.Int64 // see workload.Words
	_       [8 - workload.Steps]uint64
}

// With fence numbers, the account and the highest number of an entry share one word, so a process that dies
// cannot leave them half changed.
const accountBits = 28 // bits of the word for the account, below the fence number

// accountLimit is the value that an account with fence numbers may not reach.
const accountLimit = 1 << accountBits

// EnterUnder makes the account refuse later writes under lower fence numbers, and returns the account.
func (s *sharedResource) EnterUnder(fence uint64) (account int64) {
	for {
		word := s.Account.Load()
		highest, account := unpack(word)
		if fence <= highest || s.Account.CompareAndSwap(word, pack(fence, account)) {
			return account
		}
	}
}

// WriteUnder writes the account, unless a client has entered under a higher fence number. It returns the
// account afterwards, and whether it refused.
func (s *sharedResource) WriteUnder(fence uint64, account int64) (holds int64, refused bool) {
	for {
		word := s.Account.Load()
		highest, holds := unpack(word)
		if fence < highest {
			return holds, true
		}
		if s.Account.CompareAndSwap(word, pack(highest, account)) {
			return account, false
		}
	}
}

func pack(fence uint64, account int64) int64 { return int64(fence<<accountBits | uint64(account)) }

func unpack(word int64) (fence uint64, account int64) {
	return uint64(word) >> accountBits, word & (accountLimit - 1)
}

// A share is the units that one client has taken of a resource, as the client records it, and its stage in
// changing the register. The orchestrator reads it if the client's process is killed.
type share struct {
	word atomic.Uint64 // the units, and above them the stage
	_    [7]uint64
}

// The stages of a client in changing the register, in order. The first stage is outside.
const (
	outside  = iota
	entering // it is about to add its units to the register, or has done so
	within   // it has added its units to the register
	leaving  // it is about to take its units off the register, or has done so
)

// Entering says that the client is about to add units to the register, or has done so.
func (s *share) Entering(units int32) { s.set(entering, units) }

// Within says that the client has added units to the register.
func (s *share) Within(units int32) { s.set(within, units) }

// Leaving says that the client is about to take units off the register, or has done so.
func (s *share) Leaving(units int32) { s.set(leaving, units) }

func (s *share) set(stage uint64, units int32) { s.word.Store(stage<<32 | uint64(uint32(units))) }

// resourceLen returns the length of the file for so many resources and nodes.
func resourceLen(resources, nodes int) int {
	return int(unsafe.Sizeof(resourceWords{})) + resources*int(unsafe.Sizeof(sharedResource{})) +
		resources*nodes*int(unsafe.Sizeof(share{}))
}

// CreateResource makes the file for so many resources, and nodes with clients, at path.
func CreateResource(path string, resources, nodes int) error {
	if err := os.WriteFile(path, make([]byte, resourceLen(resources, nodes)), 0o644); err != nil {
		return fmt.Errorf("creating the shared resource: %w", err)
	}
	return nil
}

// OpenResource maps the file of CreateResource at path, until the process ends.
func OpenResource(path string, resources, nodes int) (*Resource, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the shared resource: %w", err)
	}
	defer file.Close()
	b, err := unix.Mmap(int(file.Fd()), 0, resourceLen(resources, nodes), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	words := (*resourceWords)(unsafe.Pointer(&b[0]))
	first := (*sharedResource)(unsafe.Add(unsafe.Pointer(words), unsafe.Sizeof(*words)))
	shares := (*share)(unsafe.Add(unsafe.Pointer(first), uintptr(resources)*unsafe.Sizeof(*first)))
	return &Resource{words, unsafe.Slice(first, resources), unsafe.Slice(shares, resources*nodes), nodes}, nil
}

// Tickets returns the progress of a run that ends by entries.
func (r *Resource) Tickets() Tickets {
	return Tickets{r.issued.Load(), r.stoppedAt.Load(), r.leftAt.Load()}
}

// Of returns the shared state of a mutex, by its number among the mutexes.
func (r *Resource) Of(number int) *sharedResource { return &r.shared[number] }

// Share returns the share of a node in the resource with a number.
func (r *Resource) Share(number int, id nodes.ID) *share { return &r.shares[number*r.nodes+int(id)] }

// TakeOut takes a node whose process has ended out of the register. If the node died amid a change of the
// register, TakeOut returns the units by which the register may be wrong.
func (r *Resource) TakeOut(number int, id nodes.ID) (unknown int32) {
	share := r.Share(number, id)
	word := share.word.Load()
	switch units := int32(uint32(word)); word >> 32 {
	case within:
		r.Of(number).Taken.Add(-int64(units))
	case entering, leaving:
		unknown = units
	}
	share.set(outside, 0)
	return unknown
}

// A resource is the state that a client shares with the clients of other nodes. Each method calls a method of
// the client when it is done: at once, or when an answer comes.
type resource interface {
	// draw draws a ticket, and calls drew.
	draw()
	// enter raises the register by the client's units, reads the account and the words, and calls entered.
	enter()
	// swap swaps a word for a value, and calls swapped.
	swap(word int, value int64)
	// write writes the account one higher than it was read, unless that is refused, and calls wrote.
	write()
	// leave lowers the register, and calls left.
	leave()
}

// A mappedResource is a resource in memory that all processes map.
type mappedResource struct {
	*client
	words  *Resource
	shared *sharedResource
	share  *share // the share of this node's client
}

// draw implements resource.
func (m *mappedResource) draw() {
	ticket := m.words.issued.Add(1)
	if ticket == m.host.config.Entries {
		m.words.stoppedAt.Store(m.host.clock.Now())
	}
	m.drew(ticket)
}

// enter implements resource.
func (m *mappedResource) enter() {
	m.share.Entering(m.units)
	taken := m.shared.Taken.Add(int64(m.units))
	m.share.Within(m.units)
	m.host.now = m.host.clock.Now()
	if m.fenced {
		m.money = m.shared.EnterUnder(m.fence)
	} else {
		m.money = m.shared.Account.Load()
	}
	var words workload.Words
	for i := range words {
		words[i] = m.shared.Words[i].Load()
	}
	m.entered(taken, words)
}

// swap implements resource.
func (m *mappedResource) swap(word int, value int64) {
	found := m.shared.Words[word].Swap(value)
	m.host.now = m.host.clock.Now()
	m.swapped(found)
}

// write implements resource.
func (m *mappedResource) write() {
	written, refused := m.money+1, false
	switch {
	case !m.fenced:
		m.shared.Account.Store(written)
	case written == accountLimit:
		m.host.err = fmt.Errorf("the account is full: with fence numbers a run has at most %d entries",
			accountLimit-1)
		return
	default:
		written, refused = m.shared.WriteUnder(m.fence, written)
	}
	m.wrote(written, refused)
}

// leave implements resource.
func (m *mappedResource) leave() {
	if m.shared.Taken.Load() > int64(m.capacity) {
		// A violation of exclusion: the traces stop here.
		m.words.frozen.CompareAndSwap(0, m.host.clock.Now())
	}
	m.share.Leaving(m.units)
	m.shared.Taken.Add(-int64(m.units))
	m.share.set(outside, 0)
	if m.host.config.Entries > 0 {
		m.words.leftAt.Store(m.leftAt)
	}
	m.left()
}
