package stall

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"turnstile/nodes"
)

func TestReportFindsTheCircle(t *testing.T) {
	id := func(id nodes.ID) *nodes.ID { return &id }
	// 0 waits for the permission of 2, which has lent it to 1; 1 waits for 0. Node 3 does not answer, and 4, a
	// server, waits for nothing.
	r := Of([]*nodes.NodeStatus{
		{Client: "waiting", Machine: "x=1", WaitsFor: []nodes.ID{2}},
		{Client: "waiting", Machine: "x=2", WaitsFor: []nodes.ID{0}, Standing: "queued at position 2"},
		{Client: "idle", Machine: "x=3", LentTo: id(1), Token: true},
		nil,
		{Client: "none", Machine: "x=4"},
	}, 4)
	const want = `They wait in a circle: 0 -> 1 -> 0
Who waits for whom:
  0 -> 1 (which has the permission of 2)
  1 -> 0
The state of each node:
  node 0: client waiting; x=1
  node 1: client waiting, queued at position 2; x=2
  node 2: client idle, has the token; x=3
  node 3: does not answer
  server 4: client none; x=4
`
	if got := r.String(); got != want {
		t.Errorf("the report is\n%s\nnot\n%s", got, want)
	}
	text, err := yaml.Marshal(Reports{r, r})
	var read Reports
	if err := errors.Join(err, yaml.Unmarshal(text, &read)); err != nil || read.String() != want+want {
		t.Errorf("%v: what is stored is\n%s\nread as\n%v", err, text, read)
	}
	few := strings.Join(slices.Insert(strings.SplitAfter(want, "\n")[:8], 8, "  and 2 more: see x\n"), "")
	if got := r.Short(3, "x"); got != few {
		t.Errorf("the short report is\n%s\nnot\n%s", got, few)
	}
}

func TestReportWithoutCircle(t *testing.T) {
	const want = `Who waits for whom:
  no node says what it waits for
The state of each node:
  node 0: client waiting; x=1
`
	if got := Of([]*nodes.NodeStatus{{Client: "waiting", Machine: "x=1"}}, 1).String(); got != want {
		t.Errorf("the report is\n%s\nnot\n%s", got, want)
	}
}

// However large the cluster, a report lists few nodes: of the circle, with the token, and the longest waits.
func TestReportOfManyNodes(t *testing.T) {
	const n = 100_000
	states := make([]*nodes.NodeStatus, n)
	for id := range states { // the higher its number, the longer a node has waited
		states[id] = &nodes.NodeStatus{Client: "waiting", Since: int64(n - id), WaitsFor: []nodes.ID{200}}
	}
	for id := range 200 {
		states[id] = &nodes.NodeStatus{Client: "idle", Token: id == 9}
	}
	states[200].WaitsFor, states[500].WaitsFor = []nodes.ID{500}, nil
	for to := range nodes.ID(n) {
		states[500].WaitsFor = append(states[500].WaitsFor, to)
	}
	asked := 0
	r := OfBrief(states, n, func(id nodes.ID) *nodes.NodeStatus {
		asked++
		whole := *states[id]
		whole.Machine = strings.Repeat("x", n)
		return &whole
	})
	if asked != Most || len(r.States) != Most || r.LeftOut.Nodes != n-Most {
		t.Errorf("of %d nodes it asks for %d states, lists %d and leaves out %d", n, asked, len(r.States),
			r.LeftOut.Nodes)
	}
	if got, want := r.Nodes[:5], []nodes.ID{200, 500, 9, n - 1, n - 2}; !slices.Equal(got, want) {
		t.Errorf("the first of the listed nodes are %v, not %v", got, want)
	}
	for _, w := range []Wait{{500, 200, nodes.None}, {200, 500, nodes.None}} {
		if !slices.Contains(r.Waits, w) {
			t.Errorf("the wait %v of the circle is left out: %v", w, r.Waits)
		}
	}
	if all := len(r.Waits) + r.LeftOut.Waits; all != 2*n-202 {
		t.Errorf("it has %d waits, and leaves out %d", len(r.Waits), r.LeftOut.Waits)
	}
	if text, err := yaml.Marshal(r); err != nil || len(text) > 2*Most*mostText {
		t.Errorf("%v: it takes %d bytes", err, len(text))
	}
	const want = "  and 99,996 more, 56 of them in x\n"
	if got := r.Short(4, "x"); !strings.HasSuffix(got, want) {
		t.Errorf("the short report ends with\n%s\nnot\n%s", got[len(got)-2*len(want):], want)
	}
	if got := r.StateOf(11); got != "its state is left out" {
		t.Errorf("node 11: %s", got)
	}
}

// A circle may be as long as the cluster is large.
func TestReportOfALongCircle(t *testing.T) {
	states := make([]*nodes.NodeStatus, 1_000_000)
	for id := range states {
		states[id] = &nodes.NodeStatus{Client: "waiting", WaitsFor: []nodes.ID{nodes.ID((id + 1) % len(states))}}
	}
	r := Of(states, len(states))
	const begins, ends = "They wait in a circle: 0 -> 1 -> 2 -> ", " -> 58 -> 59 -> 999,940 more -> 0\n"
	if got := r.InCircle(); !strings.HasPrefix(got, begins) || !strings.HasSuffix(got, ends) {
		t.Error(got)
	}
}
