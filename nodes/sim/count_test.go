package sim

import (
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// loses is a network that loses what the first node sends from a time on.
type loses struct{ from int64 }

func (l loses) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	if p.From == 0 && p.At >= l.from {
		return fate
	}
	return append(fate, time.Millisecond)
}

// Each Counted event has the exact number of messages so far, and follows an event that requires it.
func TestMessagesAreCounted(t *testing.T) {
	o := options(t, "token-ring", 3)
	o.Entries, o.Warmup, o.Duration, o.Counts = 0, 10*time.Millisecond, 50*time.Millisecond, true
	const healed = 30 * time.Millisecond
	suffer(&o, chaos.Fault{Effect: &effect.Loss{Of: effect.Losses{}},
		Schedule: chaos.Schedule{At: 10 * time.Millisecond, For: 10 * time.Millisecond}})
	o.Shaper = loses{int64(healed)}
	h := mustRun(t, o)
	var sent int64 // messages sent before event e: token-ring records each one as an event
	var counted []time.Duration
	for i, e := range h.Events {
		if e.Kind == history.Sent {
			sent++
		}
		if e.Kind != history.Counted {
			continue
		}
		counted = append(counted, time.Duration(e.At))
		if e.Value != sent || h.Events[i-1].At != e.At || e.Fence != 0 && e.At <= int64(healed) {
			t.Errorf("at %v %d are counted and %d dropped, and there were %d", time.Duration(e.At), e.Value,
				e.Fence, sent)
		}
	}
	last := h.Events[len(h.Events)-1]
	if len(counted) != 5 || last.Kind != history.Counted || last.Fence != 1 {
		t.Errorf("they are counted at %v, last of all %+v", counted, last)
	}
	o.Counts = false
	for _, e := range mustRun(t, o).Events {
		if e.Kind == history.Counted {
			t.Fatal("they are counted though nobody asked for it")
		}
	}
}

// Heartbeats are not counted, neither of detectors nor of other machines.
func TestHeartbeatsAreNotCounted(t *testing.T) {
	algo, err := election.Find("omega")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Stack: stackOf(algo, algo.Explicit(nodes.Config{N: 3})), Seed: 1, Latency: time.Millisecond,
		Counts: true, Workload: workload.Workload{Load: workload.Campaign}, Duration: time.Second}
	h := mustRun(t, o)
	sent := uint64(0)
	for _, l := range h.Logs {
		for _, in := range l.Instances {
			for _, k := range in.Kinds {
				sent += k.Sent
			}
		}
	}
	last := h.Events[len(h.Events)-1]
	for _, e := range h.Events {
		if e.Kind == history.Counted {
			last = e
		}
	}
	if sent < 100 || last.Kind != history.Counted || last.Value != 0 {
		t.Errorf("of %d heartbeats %d are counted", sent, last.Value)
	}
}
