package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// A fault of clocks hits the timers of a foreign program, and shows nothing of one that has set none. Of
// other rows nothing is recorded, and they are judged as ever.
func TestClocksOfProgramsThatSetNoTimer(t *testing.T) {
	set := func(running uint32, ever int64) *history.Event {
		return &history.Event{Kind: history.ClockSet, Count: running, Value: ever}
	}
	for _, x := range []struct {
		name        string
		forGood     bool
		began, over *history.Event
		misses      string // empty: it hits
	}{
		{"no timer", true, set(0, 0), nil, "it hit nothing: node 1 has set no timer"},
		{"none that runs", true, set(0, 3), nil, "it hit nothing: no timer that node 1 has set ran"},
		{"one that runs", true, set(1, 3), nil, ""},
		{"none while it lasted", false, set(0, 0), set(0, 0), "it hit nothing: node 1 has set no timer"},
		{"one that was set meanwhile", false, set(0, 0), set(0, 1), ""},
		{"not known how it ended", false, set(0, 0), nil, ""},
		{"of another row", true, nil, nil, ""},
	} {
		w := measuring()
		w.Safe, w.CostKnown, w.Identities = nodes.Timing, false, nil
		w.Faults = []Fault{{Text: "clock 1", ForGood: x.forGood, Breaks: nodes.Timing,
			Sets: func(id, _ nodes.ID) bool { return id == 1 }}}
		w.round()
		w.add(nodes.None, history.FaultEvent(port.FaultBeginning{Number: 1, Breaks: nodes.Timing,
			Victim: nodes.None, Nodes: 1}))
		if x.began != nil {
			w.add(1, *x.began)
		}
		w.together()
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1})
		if x.over != nil {
			w.add(1, *x.over)
		}
		w.round()
		w.end()
		v := w.judge()
		f := finding(t, v, "faults")
		if hits := x.misses == ""; (f.Outcome == Valid) != hits || !strings.Contains(f.Says, x.misses) ||
			v.OutsideModel != hits {
			t.Errorf("%s: %v: %s; outside its model: %v", x.name, f.Outcome, f.Says, v.OutsideModel)
		}
	}
}
