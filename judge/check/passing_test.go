package check

import (
	"math/rand/v2"
	"testing"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// naivePasses counts the entries that pass over the open request of each client, client by client.
type naivePasses struct {
	away  away
	known map[nodes.ID]bool
	times map[nodes.ID]uint64
}

func (p *naivePasses) entered(by nodes.ID) {
	for id := range p.known {
		if id != by && !p.away.all() && !p.away.has(id) {
			p.times[id]++
		}
	}
}

// randomAbsence draws an event that takes nodes away or brings them back.
func randomAbsence(r *rand.Rand, n int) history.Event {
	process := []uint32{uint32(r.IntN(n)), history.Broker, history.Orchestrator}[r.IntN(3)]
	kind := []history.Kind{history.Paused, history.Resumed, history.Disconnected, history.Reconnected,
		history.FaultBegan, history.FaultHealed}[r.IntN(6)]
	e := history.Event{Kind: kind, Node: nodes.None, Count: process}
	switch kind {
	case history.Disconnected, history.Reconnected:
		e.Node = nodes.ID(r.IntN(n))
	case history.FaultBegan, history.FaultHealed:
		e.Count = uint32(r.IntN(4)) // one that nobody asked for, two that cut, one that does not
	}
	return e
}

// However nodes go away and come back, a request is passed over by the entries made while its node was there.
func TestPassesAreThoseOfEveryEntry(t *testing.T) {
	cuts := func(half nodes.ID) func(id, _ nodes.ID) bool {
		return func(id, _ nodes.ID) bool { return id%2 == half }
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 34))
		n, entry := 1+r.IntN(6), uint32(0)
		asked := []Fault{{Cuts: true, Hits: cuts(0)}, {Cuts: true, Hits: cuts(1)}, {}}
		f := newFairFold(&section.Fold{}, Promise{}, asked)
		naive := naivePasses{awayBy(asked), map[nodes.ID]bool{}, map[nodes.ID]uint64{}}
		resource := &section.Resource{}
		for at := range int64(200) {
			id := nodes.ID(r.IntN(n))
			s := &section.Section{Resource: resource, Node: id, Asked: at, Entered: at, Ended: at,
				State: section.Abandoned}
			switch {
			case r.IntN(3) == 0:
				e := randomAbsence(r, n)
				f.add(&e)
				naive.away.add(&e)
			case !naive.known[id]:
				entry++
				s.Entry = entry
				f.asked(s)
				f.quiet()
				naive.known[id], naive.times[id] = true, 0
			default:
				if got, want := f.lines[0].clients[id].passed(f.lines[0].passing), naive.times[id]; got != want {
					t.Fatalf("seed %d, at %d: node %d was passed over %d times, not %d", seed, at, id, got, want)
				}
				if r.IntN(4) == 0 {
					f.ended(s)
				} else {
					f.entered(s)
					naive.entered(id)
				}
				delete(naive.known, id)
			}
		}
	}
}
