package mutex

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/rowtest"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// Where a minority is cut off it gets no new token, view or coordinator, and the majority does.
func TestMinoritiesGetNoEpoch(t *testing.T) {
	alike := func(row *row.Row) row.Row { return *row }
	for _, test := range []struct {
		rule string // that is changed; empty: none
		row  row.Row
	}{
		{"", alike(&tokenRingRegeneratingRow)},
		{"", alike(&suzukiKasamiFTRow)},
		{"", alike(&ricartViewRow)},
		{"", alike(&centralFailoverRow)},
		{"a minority makes a token", *rowtest.Rebuilt(&tokenRingRegeneratingRow,
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingMinor{r} })},
		{"a minority has a view", *rowtest.Rebuilt(&ricartViewRow,
			func(r ricartView) nodes.Machine { return &viewMinor{r} })},
	} {
		minor, major := 0, 0
		for seed := range uint64(20) {
			for _, e := range cutOff(t, &test.row, seed) {
				if e.At < 1e9 || e.At > 2e9 || test.row.Mutex.Epochs.Of(nodes.Config{N: 5}, e.Fence) == 0 {
					continue
				}
				if e.Node < 2 {
					minor++
				} else {
					major++
				}
			}
		}
		if (minor == 0) != (test.rule == "") || major == 0 {
			t.Errorf("%s, %q: %d entries of the minority in new epochs, %d of the majority", test.row.Name, test.rule,
				minor, major)
		}
	}
}

// cutOff returns the entries of a run of five nodes, of which nodes 0 and 1 are cut off after a second for a
// second.
func cutOff(t *testing.T, row *row.Row, seed uint64) (entries []history.Event) {
	t.Helper()
	stack := rowtest.StackOf(row, nodes.Config{N: 5}, besides(row, 5, row.Detects)...)
	o := sim.Options{Stack: stack, Seed: seed,
		Duration: 3 * time.Second,
		Workload: workload.Workload{Load: workload.Closed, Think: rowtest.Drawn("exponential:5ms"),
			Hold: rowtest.Drawn("exponential:1ms")}}
	cut := rowtest.Cut("0-1/2-4")
	rowtest.Over(&o, rowtest.NetworkOf("exponential:1ms"), chaos.Fault{Effect: &effect.CutLinks{Cut: cut},
		Schedule: chaos.Schedule{At: time.Second, For: time.Second}})
	h := rowtest.History(t, o)
	for _, e := range h.Events {
		if e.Kind == history.Entered {
			entries = append(entries, e)
		}
	}
	return entries
}
