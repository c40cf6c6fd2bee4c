package stall

import (
	"reflect"
	"testing"

	"turnstile/nodes"
)

func TestGraphReadsReport(t *testing.T) {
	id := func(id nodes.ID) *nodes.ID { return &id }
	waits, circle, states, err := Graph(Report([]*nodes.NodeStatus{
		{Client: "waiting", Machine: "x=1", WaitsFor: []nodes.ID{2}},
		{Client: "waiting", Machine: "x=2", WaitsFor: []nodes.ID{0}},
		{Client: "idle", Machine: "x=3\n      was told last: {\"a\": 1}", LentTo: id(1)},
	}, 3))
	if want := []Wait{{0, 1, 2}, {1, 0, nodes.None}}; err != nil || !reflect.DeepEqual(waits, want) {
		t.Errorf("%v waits, want %v: %v", waits, want, err)
	}
	if want := []nodes.ID{0, 1, 0}; !reflect.DeepEqual(circle, want) {
		t.Errorf("the circle is %v, not %v", circle, want)
	}
	want := []string{"client waiting; x=1", "client waiting; x=2", "client idle; x=3"}
	if !reflect.DeepEqual(states, want) {
		t.Errorf("the states are %q, not %q", states, want)
	}
	if _, _, _, err := Graph("0 -> 1"); err == nil {
		t.Error("any text is a report")
	}
}
