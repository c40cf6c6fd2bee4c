package mutex

import (
	"slices"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// meanWaits returns how long each node waits on average with a scan.
func meanWaits(t *testing.T, scan string) []time.Duration {
	t.Helper()
	c := nodes.Config{N: 8}.With(scanOption.Name, scan)
	o := sim.Options{Stack: algotest.StackOf(&suzukiKasamiAlgorithm, c), Seed: 1, Entries: 8000,
		Workload: workload.Workload{Load: workload.Closed, Think: algotest.Drawn("exponential:10ms"),
			Hold: chance.Constant(3 * time.Millisecond)}}
	algotest.Over(&o, algotest.NetworkOf("exponential:1ms"))
	h := algotest.History(t, o)
	asked, sum, count := make([]int64, c.N), make([]int64, c.N), make([]int64, c.N)
	for _, e := range h.Events {
		switch e.Kind {
		case history.Requested:
			asked[e.Node] = e.At
		case history.Entered:
			sum[e.Node] += e.At - asked[e.Node]
			count[e.Node]++
		}
	}
	means := make([]time.Duration, c.N)
	for id := range means {
		means[id] = time.Duration(sum[id] / count[id])
	}
	return means
}

// A scan that always begins at node 0 has each node wait longer than all lower ones. Any other scan has all
// wait alike.
func TestFixedScanFavoursLowNodes(t *testing.T) {
	for _, scan := range scanOption.Values {
		means := meanWaits(t, scan)
		least, most := slices.Min(means), slices.Max(means)
		switch {
		case scan == scanFixed && !(slices.IsSorted(means) && most > least+least/10):
			t.Errorf("%s: nodes wait %v on average, and high ones should wait longer", scan, means)
		case scan != scanFixed && most > least+least/40:
			t.Errorf("%s: nodes wait %v on average, and should wait alike", scan, means)
		}
	}
}
