package history

import (
	"slices"
	"sync/atomic"
	"testing"

	"turnstile/nodes"
)

// Timers and messages that are a little late are counted; those that are later are joined to lags, which have
// events.
func TestLagsHaveEvents(t *testing.T) {
	const ms = int64(1e6)
	var got []Lag
	var at []int64
	l := Lags{Append: func(e Event) { got, at = append(got, e.Lag()), append(at, e.At) }}
	counts := make([]atomic.Uint64, LatenessBuckets)
	l.Add(counts, 10*ms, 12*ms, nodes.None) // late by little
	l.Add(counts, 20*ms, 30*ms, nodes.None) // a lag
	l.Add(counts, 25*ms, 31*ms, 4)          // joins it, by a message of another node
	l.Idle(32 * ms)                         // too soon after the beginning
	l.Add(counts, 100*ms, 140*ms, 4)        // of one sender
	l.Add(counts, 120*ms, 141*ms, 4)        // who goes on
	l.Idle(142 * ms)                        // too soon after the event at 140 ms
	l.Add(counts, 150*ms, 160*ms, nodes.None)
	l.Idle(161 * ms) // too soon again
	l.Flush(170 * ms)
	want := []Lag{{20 * ms, 31 * ms, nodes.None, 1}, {100 * ms, 141 * ms, 4, 0},
		{150 * ms, 160 * ms, nodes.None, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("the lags are %+v, not %+v", got, want)
	}
	if !slices.Equal(at, []int64{140 * ms, 160 * ms, 170 * ms}) {
		t.Errorf("they were recorded at %v", at)
	}
	if n := counts[LatenessBucket(2*ms)].Load(); n != 1 {
		t.Errorf("%d were late by little, not 1", n)
	}
}
