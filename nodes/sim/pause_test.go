package sim

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/nodes/history"
)

// A node that stands still does nothing, and catches up afterwards.
func TestNodesThatStandStill(t *testing.T) {
	o := options(t, "ricart-agrawala", 3, slow(t))
	const at, until = 20 * time.Millisecond, 50 * time.Millisecond
	over(&o, latency(t, "2ms"), chaos.Fault{Pause: chaos.Target{Nodes: chaos.Group{1}}, At: at, For: until - at})
	h := &history.History{}
	if _, err := Run(o, h); err != nil {
		t.Fatal(err)
	}
	before, after, noted, rested := 0, 0, 0, false
	for _, e := range h.Events {
		switch when := time.Duration(e.At); {
		case e.Kind == history.Paused && when == at || e.Kind == history.Resumed && when == until:
			noted++
		case e.Kind == history.Marked:
			rested = rested || e.Count == history.Rested
		case e.Node != 1:
		case when < at:
			before++
		case when < until:
			t.Errorf("at %v node 1 has %v", when, e.Kind)
		default:
			after++
		}
	}
	if !rested || before == 0 || after == 0 || noted != 2 {
		t.Errorf("%d events before, %d after, %d of the pause itself; at rest: %v", before, after, noted, rested)
	}
}
