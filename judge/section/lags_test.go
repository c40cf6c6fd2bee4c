package section

import (
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// lagged folds a history in which nodes 0 to 2 were late, and fault 1 was in force from 1000 to 1400 ms.
func lagged(slows func(*Fault, nodes.ID) bool, all ...history.Event) *Fold {
	f := New(0, nil)
	f.Slows = slows
	f.Add(history.Event{At: 1000e6, Kind: history.FaultBegan, Count: 1, Node: nodes.None})
	f.Add(history.Event{At: 1400e6, Kind: history.FaultHealed, Count: 1, Node: nodes.None})
	for _, e := range all {
		f.Add(e)
	}
	f.Close(nil)
	return f
}

// late returns the event of a lag, in milliseconds.
func late(node nodes.ID, from, to int64, sender nodes.ID) history.Event {
	e := history.Lag{From: from * 1e6, To: to * 1e6, Sender: sender, Timers: 1}.Event(to * 1e6)
	e.Node = node
	return e
}

// The time in which nodes were late counts once, except where a fault of the run slowed them down.
func TestLateness(t *testing.T) {
	nobody := func(*Fault, nodes.ID) bool { return false }
	second := func(_ *Fault, id nodes.ID) bool { return id == 2 }
	for _, test := range []struct {
		name     string
		slows    func(*Fault, nodes.ID) bool
		all      []history.Event
		from, to int64
		of       []nodes.ID
		want     int64
	}{
		{"apart", nobody, []history.Event{late(0, 100, 110, -1), late(1, 200, 220, -1)}, 0, 900, nil, 30},
		{"at once", nobody, []history.Event{late(0, 100, 130, -1), late(1, 110, 120, -1)}, 0, 900, nil, 30},
		{"one of them", nobody, []history.Event{late(0, 100, 130, -1), late(1, 110, 140, -1)}, 0, 900,
			[]nodes.ID{1}, 30},
		{"both named", nobody, []history.Event{late(0, 100, 130, -1), late(1, 110, 140, -1)}, 0, 900,
			[]nodes.ID{1, 0}, 40},
		{"in part", nobody, []history.Event{late(0, 100, 130, -1)}, 120, 900, nil, 10},
		{"before", nobody, []history.Event{late(0, 100, 130, -1)}, 130, 900, nil, 0},
		{"a fault that slows nobody", nobody, []history.Event{late(2, 1000, 1400, -1)}, 0, 9000, nil, 400},
		{"a fault slows it", second, []history.Event{late(2, 1000, 1400, -1)}, 0, 9000, nil, 0},
		{"a fault slows what was late before", second, []history.Event{late(2, 900, 1400, -1)}, 0, 9000, nil, 100},
		{"a fault slows another", second, []history.Event{late(1, 1000, 1400, -1)}, 0, 9000, nil, 400},
		{"a fault slows the sender", second, []history.Event{late(1, 1000, 1400, 2)}, 0, 9000, nil, 0},
		{"what waited meanwhile", second, []history.Event{late(2, 1000, 1400, -1), late(2, 1390, 1500, -1)},
			0, 9000, nil, 0},
		{"for longer than the fault lasted", second, []history.Event{late(2, 1000, 1410, -1),
			late(2, 1405, 1790, -1), late(2, 1785, 1900, -1), late(2, 1895, 2000, -1)}, 0, 9000, nil, 105},
		{"later", second, []history.Event{late(2, 1000, 1400, -1), late(2, 1450, 1460, -1)}, 0, 9000, nil, 10},
	} {
		f := lagged(test.slows, test.all...)
		want := time.Duration(test.want) * time.Millisecond
		if got := f.LateIn(test.from*1e6, test.to*1e6, test.of...); got != want {
			t.Errorf("%s: late for %v, not %v", test.name, got, want)
		}
	}
	f := lagged(second, late(2, 1000, 1400, -1), late(1, 100, 150, -1))
	if most, _ := f.Timers().Quantile(1); most < 50e6 || most > 60e6 {
		t.Errorf("the latest timer ran out %v late: what the fault slowed down counts", time.Duration(most))
	}
	if longest := f.Longest(0, 9000e6); longest != 50*time.Millisecond {
		t.Errorf("a process was late for %v at most", longest)
	}
}
