package spacetime

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/internal/chance"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

func stack(t *testing.T, name string, n int) *algorithm.Stack {
	t.Helper()
	found, err := (catalog.Table{}).Find(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := algorithm.Assemble(algorithm.Instance{Algorithm: found, Config: nodes.Config{N: n}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// extract returns the extract of a history with these events and these records of messages.
func extract(t *testing.T, algorithm string, n int, w section.Window, events []history.Event,
	seen ...history.MessageRecord) *Extract {
	t.Helper()
	h := history.History{Events: events}
	for id := range n {
		h.Logs = append(h.Logs, &history.NodeLog{Node: nodes.ID(id)})
	}
	for _, m := range seen {
		l := h.Logs[m.Node]
		l.Trace = append(l.Trace, m)
		l.Totals.TraceNext++
	}
	f := New(h.Header(), stack(t, algorithm, n), w)
	h.Run(f)
	return &f.Extract
}

var whole = section.Window{To: math.MaxInt64}

func sends(at int64, from, to nodes.ID, seq uint32) history.MessageRecord {
	return history.MessageRecord{At: at, Node: from, Peer: to, Seq: seq, Sent: true}
}

func gets(at int64, from, to nodes.ID, seq uint32) history.MessageRecord {
	return history.MessageRecord{At: at, Node: to, Peer: from, Seq: seq}
}

func loses(at int64, from, to nodes.ID, seq uint32) history.MessageRecord {
	return history.MessageRecord{At: at, Node: to, Peer: from, Seq: seq, Lost: true}
}

func TestMessagesAreMatched(t *testing.T) {
	message := func(number uint32, to nodes.ID, fate Fate, sent, over int64) Message {
		return Message{To: to, Fate: fate, Number: number, Sent: sent, Over: over}
	}
	for name, c := range map[string]struct {
		seen   []history.MessageRecord
		window section.Window
		want   []Message
	}{
		"one after the other": {seen: []history.MessageRecord{sends(1, 0, 1, 1), sends(2, 0, 1, 2),
			gets(5, 0, 1, 1), gets(6, 0, 1, 2)},
			want: []Message{message(1, 1, Handled, 1, 5), message(2, 1, Handled, 2, 6)}},
		"overtaken": {seen: []history.MessageRecord{sends(1, 0, 1, 1), sends(2, 0, 1, 2), gets(5, 0, 1, 2),
			gets(6, 0, 1, 1)}, want: []Message{message(1, 1, Handled, 1, 6), message(2, 1, Handled, 2, 5)}},
		"lost": {seen: []history.MessageRecord{sends(1, 0, 1, 1), loses(3, 0, 1, 1)},
			want: []Message{message(1, 1, Lost, 1, 3)}},
		"on its way": {seen: []history.MessageRecord{sends(1, 0, 1, 1)},
			want: []Message{message(1, 1, Pending, 1, Unknown)}},
		"copied": {seen: []history.MessageRecord{sends(1, 0, 1, 1), gets(3, 0, 1, 1), gets(4, 0, 1, 1)},
			want: []Message{message(1, 1, Handled, 1, 3), message(1, 1, Handled, 1, 4)}},
		"of an earlier life": {seen: []history.MessageRecord{sends(1, 0, 1, 1), gets(2, 0, 1, 1), sends(8, 0, 1, 1),
			gets(9, 0, 1, 1)}, want: []Message{message(1, 1, Handled, 1, 2), message(1, 1, Handled, 8, 9)}},
		"a multicast": {seen: []history.MessageRecord{sends(1, 0, nodes.None, 1), gets(3, 0, 1, 1),
			gets(4, 0, 2, 1)},
			want: []Message{message(0, 1, Handled, 1, 3), message(0, 2, Handled, 1, 4)}},
		"its send was not kept": {seen: []history.MessageRecord{gets(3, 0, 1, 7)},
			want: []Message{message(0, 1, Handled, Unknown, 3)}},
		"outside the window": {seen: []history.MessageRecord{sends(1, 0, 1, 1), gets(2, 0, 1, 1),
			sends(9, 0, 1, 2)},
			window: section.Window{From: 3, To: 8}},
		"across the window": {seen: []history.MessageRecord{sends(1, 0, 1, 1), gets(9, 0, 1, 1)},
			window: section.Window{From: 3, To: 8}, want: []Message{message(1, 1, Handled, 1, 9)}},
	} {
		w := whole
		if c.window.Known() {
			w = c.window
		}
		got := slices.Clone(extract(t, "ricart-agrawala", 3, w, nil, c.seen...).Messages)
		for i := range got {
			got[i].sent, got[i].over = 0, 0
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestClocksFollowMessages(t *testing.T) {
	x := extract(t, "ricart-agrawala", 3, whole,
		[]history.Event{{At: 4, Node: 1, Kind: history.Requested, Entry: 1}},
		sends(1, 0, 1, 1), gets(4, 0, 1, 1), sends(4, 1, 2, 1), gets(6, 1, 2, 1))
	want := [][][]uint32{{{1, 0, 0}}, {{1, 1, 0}, {1, 2, 0}, {1, 3, 0}}, {{1, 3, 1}}}
	var got [][][]uint32
	for _, steps := range x.ClockedSteps() {
		var clocks [][]uint32
		for _, s := range steps {
			clocks = append(clocks, s.Clock)
		}
		got = append(got, clocks)
	}
	if !slices.EqualFunc(got, want, func(a, b [][]uint32) bool { return slices.EqualFunc(a, b, slices.Equal) }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// If two stamps contradict each other, every step still gets its clock.
func TestClocksStandStampsThatErr(t *testing.T) {
	x := extract(t, "ricart-agrawala", 2, whole, nil, gets(1, 1, 0, 1), sends(2, 0, 1, 1), gets(1, 0, 1, 1),
		sends(2, 1, 0, 1))
	for id, steps := range x.ClockedSteps() {
		if len(steps) != 2 || steps[1].Clock[id] != 2 {
			t.Errorf("node %d: %+v", id, steps)
		}
	}
}

func TestWhatShouldNotBeIsFound(t *testing.T) {
	enter := func(at int64, id nodes.ID) history.Event {
		return history.Event{At: at, Node: id, Kind: history.Entered, Entry: 1, Count: 1}
	}
	ask := func(at int64, id nodes.ID) history.Event {
		return history.Event{At: at, Node: id, Kind: history.Requested, Entry: 1, Count: 1, Value: at}
	}
	exit := func(at int64, id nodes.ID) history.Event {
		return history.Event{At: at, Node: id, Kind: history.Exited, Entry: 1, Value: 1}
	}
	x := extract(t, "ricart-agrawala", 2, whole, []history.Event{ask(1, 0), ask(2, 1), enter(3, 0), enter(5, 1),
		exit(8, 0), exit(9, 1)})
	if len(x.Together) != 1 || x.First == nil || x.First.What != Inside ||
		x.First.Window != x.Together[0].Window ||
		x.Together[0].Window != (section.Window{From: 5, To: 8}) || x.First.Since != 1 {
		t.Errorf("%+v, the first %+v", x.Together, x.First)
	}
	x = extract(t, "ricart-agrawala", 2, whole, []history.Event{ask(1, 0), ask(2, 1), enter(3, 0), exit(5, 0),
		enter(5, 1), exit(9, 1)})
	if len(x.Together) != 0 || x.First != nil {
		t.Errorf("one after the other: %+v, the first %+v", x.Together, x.First)
	}
	elects := func(at int64, id nodes.ID) history.Event {
		return history.Event{At: at, Node: id, Kind: history.Elected, Count: uint32(id), Value: 1}
	}
	began := history.Event{At: 0, Node: nodes.None, Kind: history.Marked, Count: history.Began}
	stopped := history.Event{At: 9, Node: nodes.None, Kind: history.Marked, Count: history.Stopped}
	x = extract(t, "raft-election", 2, whole, []history.Event{began, elects(3, 0), elects(5, 1), stopped})
	if len(x.Together) != 1 || x.Together[0].May || x.First == nil || x.First.What != Leading ||
		len(x.Reigns) != 2 {
		t.Errorf("in one term: %+v, the first %+v", x.Together, x.First)
	}
}

func TestInversionsAreOfRequestsThatHappenedBefore(t *testing.T) {
	event := func(at int64, id nodes.ID, kind history.Kind) history.Event {
		return history.Event{At: at, Node: id, Kind: kind, Entry: 1, Count: 1}
	}
	// Node 1 asks after it has heard of the request of node 0, and enters before node 0. Node 2 asks last, and
	// has heard of neither request.
	events := []history.Event{event(1, 0, history.Requested), event(5, 1, history.Requested),
		event(6, 2, history.Requested), event(7, 1, history.Entered), event(8, 0, history.Entered),
		event(9, 2, history.Entered)}
	x := extract(t, "ricart-agrawala", 3, whole, events, sends(2, 0, 1, 1), gets(4, 0, 1, 1))
	if n, known := x.Inversions(); n != 1 || !known {
		t.Errorf("%d inversions (known: %v), not 1: node 1 before 0", n, known)
	}
	x = extract(t, "ricart-agrawala", 3, section.Window{From: 2, To: 9}, events)
	if n, known := x.Inversions(); known {
		t.Errorf("%d inversions of a part of a run", n)
	}
}

// A trace that stopped lacks later messages, and a trace that was overwritten lacks earlier ones.
func TestWhatIsNotKnownIsSaid(t *testing.T) {
	h := history.History{}
	for id := range nodes.ID(2) {
		at := 10 * int64(id)
		l := &history.NodeLog{Node: id, Instances: []history.InstanceTotals{{Kinds: []history.KindTotals{
			{Publishes: 1, Delivered: 3}}}}, Trace: []history.MessageRecord{sends(at+1, id, 1-id, 1),
			gets(at+2, 1-id, id, 1)}}
		l.Totals.TraceNext = 3
		h.Logs = append(h.Logs, l)
	}
	f := New(h.Header(), stack(t, "ricart-agrawala", 2), whole)
	h.Run(f)
	if f.Complete != 11 || f.Until != 12 {
		t.Errorf("all messages are known from %d to %d, not from 11 to 12", f.Complete, f.Until)
	}
}

// A carrier has packets arrive after one to three milliseconds, some of them twice, and one not at all.
type carrier struct{ loses uint64 }

func (c carrier) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	late := time.Duration(1+p.Number%3) * time.Millisecond
	switch {
	case p.Number == c.loses:
		return fate
	case p.Number%40 == 0:
		return append(fate, late, late)
	}
	return append(fate, late)
}

// simulated returns the extract of a window of a simulated run, whose messages come from the logs or, if
// passing is set, as they pass.
func simulated(t *testing.T, entries uint64, w section.Window, loses uint64, passing bool) *Extract {
	t.Helper()
	o := sim.Options{Stack: stack(t, "suzuki-kasami", 4), Seed: 1, Entries: entries, Shaper: carrier{loses},
		Trace:    !passing,
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(time.Millisecond)}}
	f := New(history.Header{Nodes: 4}, o.Stack, w)
	if passing {
		o.Messages = f.Message
	}
	if _, err := sim.Run(o, f); err != nil {
		t.Fatal(err)
	}
	return &f.Extract
}

func TestMessagesAreTheSameWhenTheyPass(t *testing.T) {
	for _, w := range []section.Window{whole, {From: 50_000_000, To: 90_000_000}, {From: 0, To: 50_500_000}} {
		logged, passed := simulated(t, 300, w, 60, false), simulated(t, 300, w, 60, true)
		if len(passed.Messages) < 20 || !slices.Equal(logged.Messages, passed.Messages) {
			t.Errorf("%v: %d messages in the logs, and %d as they pass", w, len(logged.Messages), len(passed.Messages))
		}
	}
}

// The messages of a window take the same memory however long the run is.
func TestMessagesOutsideTheWindowAreLetGo(t *testing.T) { // not in parallel, since it measures the memory
	held := func(entries uint64) int {
		memory := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := memory()
		at := int64(entries) * 1_000_000 // more than a millisecond passes for each entry
		x := simulated(t, entries, section.Window{From: at, To: at + 10_000_000}, 0, true)
		with := memory()
		runtime.KeepAlive(x)
		return with - before
	}
	if short, long := held(500), held(8000); long-short > 100_000 {
		t.Errorf("a run with 7,500 entries more takes %d bytes more", long-short)
	}
}
