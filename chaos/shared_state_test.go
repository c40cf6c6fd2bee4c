package chaos

import (
	"math"
	"testing"

	"turnstile/nodes"
)

// Each host applies what the driver decides, and the driver learns what the hosts' nodes see.
func TestMirrors(t *testing.T) {
	driver, a, b := NewSharedState(4), NewSharedState(4), NewSharedState(4)
	sync := func() {
		t.Helper()
		for _, mirror := range []*SharedState{a, b} {
			if err := mirror.Follow(driver.Decided()); err != nil {
				t.Fatal(err)
			}
		}
		if err := driver.Gather([][]byte{a.Seen(), b.Seen()}); err != nil {
			t.Fatal(err)
		}
	}
	up := func(nodes.ID) bool { return true }
	driver.faults[2].claim.Store(4)
	driver.faults[2].begin(0, 50)
	sync()
	for _, mirror := range []*SharedState{a, b} {
		f, other := &mirror.faults[2], &mirror.faults[1]
		if !f.inForce(49) || f.inForce(50) || f.victim() != 3 || other.inForce(9) {
			t.Errorf("it is in force from %d to %d", f.from.Load(), f.to.Load())
		}
	}
	a.faults[2].hits.Add(3)
	a.faults[2].acts(5, 9)
	b.faults[2].hits.Add(4)
	b.faults[2].acts(4, 7)
	b.faults[2].acts(6, 6)
	a.lead(1, 7, 1000)
	b.lead(2, 7, 999) // declared earlier than leader 1, which this host has not seen
	sync()
	if of := &driver.faults[2]; of.hits.Load() != 7 || of.hitAt.Load() != 4 || of.until.Load() != 9 ||
		driver.leads(up) != 1 {
		t.Errorf("%d hits from %d until %d, and node %d leads", of.hits.Load(), of.hitAt.Load(), of.until.Load(),
			driver.leads(up))
	}
	driver.follow(1) // it is about to come up again
	sync()
	if driver.leads(up) != 2 || a.leads(up) != nodes.None {
		t.Errorf("node %d leads", driver.leads(up))
	}
	a.lead(1, 8, 2000)
	sync()
	sync()
	if driver.leads(up) != 1 {
		t.Errorf("node %d leads, which has come up again", driver.leads(up))
	}
	driver.faults[2].heal(20)
	sync()
	if a.faults[2].inForce(20) || !a.faults[2].inForce(19) {
		t.Error("it is not healed on another host")
	}
	for length := range driver.Decided() {
		if a.Follow(driver.Decided()[:length]) == nil {
			t.Errorf("%d bytes are taken for a state", length)
		}
	}
	for length := range a.Seen() {
		if driver.Gather([][]byte{a.Seen()[:length]}) == nil {
			t.Errorf("%d bytes are taken for what nodes have seen", length)
		}
	}
	driver.faults[0].begin(1, math.MaxInt64)
	sync()
	if !b.faults[0].inForce(1 << 60) {
		t.Error("a fault that is never healed ends")
	}
}
