package mailbox

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A kit makes semaphores and mailboxes, of either sort.
type kit struct {
	name      string
	semaphore func(permits int) Semaphore
	mailbox   func(size int) Mailbox
}

// kits returns the primitives, each made of the other, and each made of the other that is made of it.
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
// mailboxes keep the same promises, whichever is made of the other.
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

// keepsPermits returns an error unless at most so many processes are inside a semaphore, and as many can be.
func keepsPermits(s Semaphore, permits int) error {
	var inside, most, entries atomic.Int32
	var all sync.WaitGroup
	for range permits + 3 {
		all.Go(func() {
			for range 40 {
				s.P()
				for now := inside.Add(1); ; {
					before := most.Load()
					if now <= before || most.CompareAndSwap(before, now) {
						break
					}
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
	if int(most.Load()) > permits || entries.Load() != int32(permits+3)*40 {
		return fmt.Errorf("up to %d were inside, in %d entries", most.Load(), entries.Load())
	}
	return nil
}

// keepsMessages returns an error unless each message arrives once, those of a sender in order, and a full box
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
