package host

import (
	"fmt"

	"turnstile/nodes/workload"
)

// A resource is what a client shares with those of the other nodes. Each call leads to a call of the client,
// which may come at once, or after an answer has.
type resource interface {
	// draw draws a ticket, and leads to drew.
	draw()
	// enter raises the register by the client's units and reads the account and the words, and leads to entered.
	enter()
	// swap swaps one of the words for a value, and leads to swapped.
	swap(word int, value int64)
	// write writes the account one higher than it was read, unless that is refused, and leads to wrote.
	write()
	// leave lowers the register, and leads to left.
	leave()
}

// A mappedResource is one in memory that all processes map.
type mappedResource struct {
	*client
	words  *Resource
	shared *sharedResource
	share  *share // of this node
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
		m.host.err = fmt.Errorf("the account is full: where fence numbers count, a run has %d entries at most",
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
		// too many are inside: the trace keeps what led to it
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
