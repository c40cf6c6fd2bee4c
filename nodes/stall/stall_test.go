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
