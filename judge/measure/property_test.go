package measure

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"turnstile/internal/soak"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A plainVisit is one request as the naive measures see it; times are in microseconds, -1 is never.
type plainVisit struct {
	node                        nodes.ID
	due, asked, entered, exited int64
	refused                     bool // the resource refused the write of its exit
}

// randomVisits are visits of clients that may be inside together and overtake each other at will; the last
// visit of each client may be cut short.
func randomVisits(r *rand.Rand) []plainVisit {
	var visits []plainVisit
	used := map[int64]bool{}
	after := func(at int64) int64 { // no two things happen at once
		for at += 1 + r.Int64N(40); used[at]; at++ {
		}
		used[at] = true
		return at
	}
	for node := range nodes.ID(1 + r.IntN(5)) {
		at := int64(0)
		for range r.IntN(20) {
			v := plainVisit{node: node, entered: -1, exited: -1}
			v.asked = after(at)
			v.due = max(at, v.asked-r.Int64N(50))
			visits = append(visits, v)
			last := &visits[len(visits)-1]
			if r.IntN(15) == 0 {
				break
			}
			last.entered = after(v.asked)
			if r.IntN(30) == 0 {
				break
			}
			last.exited = after(last.entered)
			last.refused = r.IntN(4) == 0
			at = last.exited
		}
	}
	return visits
}

// fenced is a visit with a fence number.
func (t *tape) fenced(v plainVisit) {
	t.visit(v.node, v.due, v.asked, v.entered, v.exited)
	events := t.log(v.node).events
	for i := range events {
		if e := &events[i]; e.Kind == history.Entered {
			e.Fence = 1
		} else if e.Kind == history.Exited && e.At == 1000*v.exited && v.refused {
			e.Count = 1
		}
	}
}

func TestAgainstNaiveMeasures(t *testing.T) {
	for seed := range soak.Pick[uint64](150, 400, 20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		visits := randomVisits(r)
		window := section.Window{From: 100, To: 101 + r.Int64N(500)}
		tp := newTape().mark(window.From, history.Measuring).mark(window.To, history.Stopped).
			mark(2000, history.Stalled)
		for _, v := range visits {
			tp.fenced(v)
		}
		m := of(tp.history(), workload.Open)
		got := fmt.Sprintln(m.OverlapUS, m.Utilisation, m.OvertakenMax, m.OvertakenMean, m.Unserved,
			m.Wait.Count(), m.Wait.Censored(), m.SynchronizationDelay.Count(), m.Uncontended.Count(), m.JainIndex)
		if want := naive(visits, window, 2000); got != want {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, got, want)
		}
	}
}
