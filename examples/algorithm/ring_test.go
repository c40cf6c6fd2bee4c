package regional

import (
	"testing"

	"turnstile"
	"turnstile/nodes"
)

func TestRegionalRingKeepsItsPromises(t *testing.T) {
	if err := turnstile.Check(&Algorithm); err != nil {
		t.Error(err)
	}
}

// The ring is in the order of the regions that the configuration has.
func TestRegionalRingStaysInItsRegion(t *testing.T) {
	r := newRegional(nodes.Config{N: 4, Regions: []int{0, 1, 0, 1}}).(*regional)
	for id, want := range []nodes.ID{2, 3, 1, 0} {
		if r.next[id] != want {
			t.Errorf("node %d passes the token to node %d, want %d", id, r.next[id], want)
		}
	}
}
