package nodes

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A scribe notes the packets that it is shown. It delays each odd packet, and doubles each even one.
type scribe struct{ shown []Packet }

func (s *scribe) Shape(p *Packet, fate Fate) Fate {
	s.shown = append(s.shown, *p)
	if len(s.shown)%2 == 1 {
		return append(fate, 10*time.Nanosecond)
	}
	return append(fate, 0, 4*time.Nanosecond)
}

// Packets to a restarted node have new numbers, and do not wait for packets sent before the restart: with new
// Links, as in the process of a restarted node, and with the old ones, as in the simulator.
func TestPacketsToRestartedNode(t *testing.T) {
	for _, total := range []int{3, 5000} {
		s := &scribe{}
		links, fresh := NewLinks(total, s, false), NewLinks(total, s, false)
		links.Take(&Packet{From: 0, To: 1, Kind: 1, At: 100})
		links.Take(&Packet{From: 1, To: 0, At: 100})
		links.Restart(1, 2)
		fresh.Restart(1, 2)
		s.shown = nil
		a, _ := links.Take(&Packet{From: 0, To: 1, Kind: 1})
		if a[0] != 10 {
			t.Errorf("it arrives at %v", a)
		}
		links.Take(&Packet{From: 1, To: 0})
		fresh.Take(&Packet{From: 0, To: 1, Kind: 1})
		var numbers []string
		for _, p := range s.shown {
			numbers = append(numbers, fmt.Sprintf("%d>%d %d", p.From, p.To, p.Number))
		}
		if !slices.Equal(numbers, []string{"0>1 8589934593", "1>0 2", "0>1 8589934593"}) {
			t.Errorf("of %d nodes: %q", total, numbers)
		}
	}
}

// Packets are numbered on their link, however many links there are.
func TestPacketsAreNumbered(t *testing.T) {
	var want []Packet
	for _, total := range []int{3, 5000} { // links in an array, and in a map
		s := &scribe{}
		links := NewLinks(total, s, false)
		for _, p := range []Packet{{From: 0, To: 1}, {From: 1, To: 0}, {From: 0, To: 1, Kind: 1},
			{From: 0, To: 1}} {
			links.Take(&p)
		}
		var numbers []string
		for _, p := range s.shown {
			numbers = append(numbers, fmt.Sprintf("%d>%d %d", p.From, p.To, p.Number))
		}
		if !slices.Equal(numbers, []string{"0>1 1", "1>0 1", "0>1 2", "0>1 3"}) {
			t.Errorf("of %d nodes: %q", total, numbers)
		}
		if want == nil {
			want = s.shown
		}
		if !slices.Equal(want, s.shown) {
			t.Errorf("the packets of %d nodes are others: %v and %v", total, want, s.shown)
		}
	}
}

// A link keeps the order of its packets unless they may be reordered. Take reports whether they were.
func TestLinksKeepTheirOrder(t *testing.T) {
	for reorder, want := range map[bool]string{
		false: "[110] false [110 110] false",
		true:  "[110] false [101 105] true",
	} {
		links := NewLinks(2, &scribe{}, reorder)
		var got []string
		for _, at := range []int64{100, 101} {
			arrivals, reordered := links.Take(&Packet{From: 0, To: 1, At: at})
			got = append(got, fmt.Sprint(arrivals, reordered))
		}
		if text := got[0] + " " + got[1]; text != want {
			t.Errorf("reorder %v: %s, want %s", reorder, text, want)
		}
	}
}
