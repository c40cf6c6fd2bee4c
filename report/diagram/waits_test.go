package diagram

import (
	"strings"
	"testing"

	"turnstile/draw"
	"turnstile/nodes"
	"turnstile/nodes/stall"
)

// awaits is the state of a node that waits for others, and lent that of one that has lent its permission.
func awaits(peers ...nodes.ID) *nodes.NodeStatus {
	return &nodes.NodeStatus{Client: nodes.Waiting.String(), WaitsFor: peers}
}

func lent(to nodes.ID, peers ...nodes.ID) *nodes.NodeStatus {
	s := awaits(peers...)
	s.LentTo = &to
	return s
}

func TestWaitsAreDrawn(t *testing.T) {
	// Node 2 has the vote of node 1, and node 0 those of node 3 and server 4.
	idle := lent(2)
	idle.Client = nodes.Idle.String()
	states := []*nodes.NodeStatus{awaits(1), idle, awaits(3, 4), lent(0, 0), lent(0)}
	picture, err := Waits(stall.Reports{stall.Of(states, 4)}, WaitOptions{Title: "A deadlock",
		Permission: "vote", Last: nodes.None})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, "<desc>node 3 waits for node 0", ">node 2 holds the<", ">vote of node 1<",
		"node 2 waits for node 0: node 0 holds the votes of node 3 and server 4", ">Red: a cycle.<",
		">does not wait<",
		">Dashed: it points to the node that holds the vote which the other needs.<")
}

// What has no room beside the arrows is said below them, in whole sentences.
func TestWaitsOfManyNodesAreDrawn(t *testing.T) {
	const n = 24
	var states []*nodes.NodeStatus
	var all []nodes.ID
	for id := range nodes.ID(n) {
		all = append(all, id)
	}
	for id := range nodes.ID(n) {
		states = append(states, lent(id/2*2, all...))
	}
	picture, err := Waits(stall.Reports{stall.Of(states, n)}, WaitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">Node 20 holds the permissions of itself and node 21.<")
}

// Of too many nodes for a picture, some that nobody waits for are left out.
func TestWaitsOfTooManyNodesAreDrawn(t *testing.T) {
	states := []*nodes.NodeStatus{{Client: nodes.Idle.String(), Token: true}}
	for range 80 {
		states = append(states, awaits())
	}
	picture, err := Waits(stall.Reports{stall.Of(states, 81)}, WaitOptions{Token: true, Last: 79})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">Node 0 has the token.<", ">node 1 waits for node 0<", ">79</text>",
		">Nodes left out, since there are too many to read: 1.<", ">Nodes whose states the run did not keep: 21.<")
	states[0].Token = false
	reports := stall.Reports{stall.Of(states, 81)}
	if picture, err = Waits(reports, WaitOptions{Token: true, Last: 0}); err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">No node whose state the run kept has the token. Node 0 entered last.<", ">no token<")
}

// Clients that wait for a token wait for its holder, for the node that had it last, or for nobody.
func TestWaitsForATokenAreDrawn(t *testing.T) {
	holder := &nodes.NodeStatus{Client: nodes.Idle.String(), Token: true}
	for name, c := range map[string]struct {
		states []*nodes.NodeStatus
		last   nodes.ID
		says   []string
	}{
		"held": {[]*nodes.NodeStatus{awaits(), holder, awaits()}, 1,
			[]string{">Node 1 has the token.<", ">token<", ">node 0 waits for node 1<"}},
		"held twice": {[]*nodes.NodeStatus{awaits(), holder, holder}, 1,
			[]string{">There are several tokens: node 1 and node 2 have one each.<", ">node 0 waits for node 2<"}},
		"lost": {[]*nodes.NodeStatus{awaits(), awaits(), awaits()}, 1,
			[]string{">The token is lost: no node has it. Node 1 entered last.<", ">no token<",
				">node 1 waits for the token<"}},
		"with a dead node": {[]*nodes.NodeStatus{awaits(), nil, awaits()}, 1,
			[]string{">No node that answers has the token. Node 1 entered last, and does not answer.<", ">token?<",
				">node 0 waits for node 1<", ">does not answer<"}},
		"before any entry": {[]*nodes.NodeStatus{awaits(), nil, awaits()}, nodes.None,
			[]string{">No node that answers has the token.<", ">no token<"}},
	} {
		reports := stall.Reports{stall.Of(c.states, 3)}
		picture, err := Waits(reports, WaitOptions{Token: true, Last: c.last})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		holds(t, picture, c.says...)
	}
	reports := stall.Reports{stall.Of([]*nodes.NodeStatus{holder, holder}, 2)}
	if _, err := Waits(reports, WaitOptions{Token: true}); err == nil {
		t.Error("a picture of waits in which no node waits")
	}
}

// The sides of a cut have a color each, and stand beside each other on the ring.
func TestSidesOfACutAreDrawn(t *testing.T) {
	reports := stall.Reports{stall.Of([]*nodes.NodeStatus{awaits(1), awaits(0), awaits(0), awaits(1)}, 4)}
	picture, err := Waits(reports, WaitOptions{Cut: Cut{What: "cut 0,2/1 at 1s",
		Sides: [][]nodes.ID{{0, 2}, {1}}}})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, picture, ">a side of the cut: nodes 0, 2<", ">a side of the cut: nodes 1<",
		">While they waited, this cut was in force: cut 0,2/1 at 1s.<")
	for color, times := range map[string]int{draw.Looks[2].Color: 3, draw.Looks[3].Color: 2} { // with the legend
		fill := `fill="` + color + `"`
		if n := strings.Count(picture, fill+"/>") + strings.Count(picture, fill+"><title>"); n != times {
			t.Errorf("%d disks have the color %s, not %d:\n%s", n, color, times, picture)
		}
	}
	order := []string{">3</text>", ">0</text>", ">2</text>", ">1</text>"} // node 3 is on no side
	for i, id := range order[1:] {
		if strings.Index(picture, order[i]) > strings.Index(picture, id) {
			t.Errorf("%s comes before %s", id, order[i])
		}
	}
}
