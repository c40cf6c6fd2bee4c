package measure

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"turnstile/internal/figure"
	"turnstile/internal/soak"
	"turnstile/judge/section"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// byResource measures a history in which clients name one of several resources, of so many units.
func byResource(h *history.History, named, units int) *Measures {
	s := section.New(h.Header().StampError, func(uint16) int { return units })
	s.Named = named
	f := New(s, workload.Open)
	f.ByResource()
	h.Run(s)
	return &f.Measures
}

// Of several resources, the share of the window with somebody inside any of them, and the mean of their
// shares over all of them, match the definitions.
func TestSharesOfResources(t *testing.T) {
	const named, end = 3, 2000
	for seed := range soak.Pick[uint64](40, 150, 5_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		visits := randomVisits(r)
		window := section.Window{From: 100, To: 101 + r.Int64N(500)}
		tp := newTape().mark(window.From, history.Measuring).mark(window.To, history.Stopped).
			mark(end, history.Stalled)
		for _, v := range visits {
			tp.fenced(v)
		}
		for id, l := range tp.logs {
			for i := range l.events {
				if id >= 0 {
					l.events[i].Instance = uint16(id % (named - 1)) // nobody names the last
				}
			}
		}
		m := byResource(tp.history(), named, 1)
		var busy, sum int64
		for at := window.From; at < window.To; at++ {
			in := map[int]bool{}
			for _, v := range accepted(visits) {
				if holders([]plainVisit{v}, at) > 0 {
					in[int(v.node)%(named-1)] = true
				}
			}
			busy, sum = busy+int64(min(1, len(in))), sum+int64(len(in))
		}
		length := float64(window.Length())
		got := fmt.Sprintln(m.Utilisation, m.UtilisationMean)
		want := fmt.Sprintln(figure.Ratio(float64(busy), length), figure.Ratio(float64(sum), length*named))
		if len(visits) > 0 && got != want {
			t.Fatalf("seed %d: %s, not %s", seed, got, want)
		}
		if all := m.OfResources(); len(all) != named || all[named-1].Utilisation != figure.Number(0) {
			t.Fatalf("seed %d: of %d resources, %+v", seed, named, all)
		}
	}
}

// An arrival that never became a request waited until issuing ended: for its resource, and for requests of
// its size.
func TestArrivalsThatAreNotIssuedWait(t *testing.T) {
	tp := newTape().mark(0, history.Began).mark(100, history.Measuring).mark(1100, history.Stopped)
	tp.visit(1, 200, 210, 220, 230)
	tp.add(2, 1100, history.Unissued, 2, 600_000).add(2, 1100, history.Unissued, 0, 900_000)
	m := byResource(tp.history(), 1, 3)
	of := m.OfResources()[0]
	wantFigure(t, "unissued", of.Unissued, "2")
	wantFigure(t, "unserved", of.Unserved, "0")
	if longest, atLeast := of.WaitUSMax.Value(); of.WaitUSMax != m.Columns().WaitUSMax || longest < 499 {
		t.Errorf("the longest wait for the resource is %v (%v), and of all %v", of.WaitUSMax, atLeast,
			m.Columns().WaitUSMax)
	}
	sizes := m.OfSizes()
	if len(sizes) != 2 || sizes[0].Units != 1 || sizes[1].Units != 2 {
		t.Fatalf("%+v", sizes)
	}
	wantFigure(t, "unissued for one unit", sizes[0].Unissued, "0")
	wantFigure(t, "unissued for two units", sizes[1].Unissued, "1")
	if !sizes[1].WaitUSP50.IsBound() || sizes[0].WaitUSP50.IsBound() {
		t.Errorf("of one unit %v, of two %v", sizes[0].WaitUSP50, sizes[1].WaitUSP50)
	}
}
