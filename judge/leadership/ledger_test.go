package leadership

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The entries of each node cover the run without gaps. They end where faults begin or are healed, and list
// the nodes that the node could reach.
func TestTheLedger(t *testing.T) {
	f := folded(t, &algorithm.Leadership{Terms: true}, `
		-5 0 elect 2 1
		0 - begin
		1 1 elect 2 1
		2 2 elect 2 1
		20 0 elect 2 1
		30 0 elect - 1
		40 0 elect 0 2
		50 1 pause
		60 1 resume
		70 1 kill
		75 1 elect 0 2
		80 1 restart
		90 2 elect 0 2
		100 - stop
		110 2 elect 1 3`)
	cut := func(a, b nodes.ID) bool { return (a == 0) != (b == 0) }
	faults := []Fault{{Number: 1, From: 25e6, To: 85e6, Separates: cut}, {Number: 2, From: 45e6, To: 200e6}}
	var got strings.Builder
	sums := map[nodes.ID]int64{}
	for _, e := range f.Ledger(faults, 4, 0, f.End) {
		fmt.Fprintf(&got, "%d %v %d/%d %s-%s two %s side %v faults %v\n", e.Node, e.State, e.Leader, e.Term,
			ms(e.From), ms(e.To), ms(e.TwoLeaders), e.Side, e.Faults)
		sums[e.Node] += e.To - e.From
	}
	const want = `0 follows 2/1 0ms-25ms two 0ms side [] faults []
0 follows 2/1 25ms-30ms two 0ms side [0] faults [1]
0 no_leader -1/1 30ms-40ms two 0ms side [0] faults [1]
0 leads 0/2 40ms-45ms two 5ms side [0] faults [1]
0 leads 0/2 45ms-85ms two 40ms side [0] faults [1 2]
0 leads 0/2 85ms-100ms two 5ms side [] faults [2]
1 no_leader -1/0 0ms-1ms two 0ms side [] faults []
1 follows 2/1 1ms-25ms two 0ms side [] faults []
1 follows 2/1 25ms-45ms two 5ms side [1 2 3] faults [1]
1 follows 2/1 45ms-50ms two 5ms side [1 2 3] faults [1 2]
1 stopped 2/1 50ms-60ms two 10ms side [1 2 3] faults [1 2]
1 follows 2/1 60ms-70ms two 10ms side [1 2 3] faults [1 2]
1 down -1/0 70ms-80ms two 10ms side [1 2 3] faults [1 2]
1 no_leader -1/0 80ms-85ms two 5ms side [1 2 3] faults [1 2]
1 no_leader -1/0 85ms-100ms two 5ms side [] faults [2]
2 no_leader -1/0 0ms-2ms two 0ms side [] faults []
2 leads 2/1 2ms-25ms two 0ms side [] faults []
2 leads 2/1 25ms-45ms two 5ms side [1 2 3] faults [1]
2 leads 2/1 45ms-85ms two 40ms side [1 2 3] faults [1 2]
2 leads 2/1 85ms-90ms two 5ms side [] faults [2]
2 follows 0/2 90ms-100ms two 0ms side [] faults [2]
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	for id, sum := range sums {
		if sum != 100e6 {
			t.Errorf("the stretches of node %d are %s long, not all of the 100 ms", id, ms(sum))
		}
	}
}
