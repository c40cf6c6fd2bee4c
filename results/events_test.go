package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// printedEvents are events of every kind, and what they have beside the columns of all events.
var printedEvents = []struct {
	history.Event
	has map[string]any
}{
	{history.Event{Kind: history.Requested, Entry: 7, Value: 30, Count: 2},
		map[string]any{"entry": 7.0, "due_ns": 30.0, "units": 2.0}},
	{history.Event{Kind: history.Entered, Entry: 7, Value: 41, Count: 1, Fence: 9},
		map[string]any{"entry": 7.0, "account": 41.0, "register": 1.0, "fence": 9.0}},
	{history.Event{Kind: history.Entered, Entry: 1},
		map[string]any{"entry": 1.0, "account": 0.0, "register": 0.0}},
	{history.Event{Kind: history.Exited, Entry: 7, Value: 42}, map[string]any{"entry": 7.0, "account": 42.0}},
	{history.Event{Kind: history.Exited, Entry: 7, Value: 42, Count: 1},
		map[string]any{"entry": 7.0, "account": 42.0, "refused": 1.0}},
	{history.Event{Kind: history.Revoked, Entry: 8, Value: 43}, map[string]any{"entry": 8.0, "account": 43.0}},
	{history.Event{Kind: history.Exited, Entry: 7, Value: 42, Fence: 5<<32 | 3},
		map[string]any{"entry": 7.0, "account": 42.0, "steps": 5.0, "spoilt": 3.0}},
	{history.Event{Kind: history.Unissued, Value: 99}, map[string]any{"due_ns": 99.0}},
	{history.Event{Kind: history.Sent, Count: 1}, map[string]any{"kind": "reply"}},
	{history.Event{Kind: history.Sent, Count: 5}, map[string]any{"kind": "5"}},
	{history.Event{Kind: history.Sent, Count: 1, Value: 1},
		map[string]any{"kind": "reply", "type": "my hello", "says": `{"x":"é, \""}`}},
	{history.Event{Kind: history.Breached, Count: history.EndedItself, Value: 1},
		map[string]any{"breach": "ended_itself", "type": "my hello", "says": `{"x":"é, \""}`}},
	{history.Event{Kind: history.Elected, Value: 3, Count: 2}, map[string]any{"term": 3.0, "leader": 2.0}},
	{history.Event{Kind: history.Elected, Value: 3, Count: history.NoLeader},
		map[string]any{"term": 3.0, "leader": -1.0}},
	{history.Event{Kind: history.Suspected, Count: 4}, map[string]any{"suspect": 4.0}},
	{history.Event{Kind: history.Trusted, Count: 4}, map[string]any{"suspect": 4.0}},
	{history.Event{Kind: history.Crashed}, nil},
	{history.Event{Kind: history.Crashed, Count: 2}, map[string]any{"in_doubt": 2.}},
	{history.Event{Kind: history.Killed}, nil},
	{history.Event{Kind: history.LinkBegan, Count: 2, Entry: 1, Value: 7, Fence: 30},
		map[string]any{"sender": 2., "incarnation": 1., "first": 7., "last_before": 30.}},
	{history.Event{Kind: history.MulticastBegan, Count: 2, Value: 7},
		map[string]any{"sender": 2., "incarnation": 0., "first": 7., "last_before": 0.}},
	{history.Event{Kind: history.Campaigned}, nil},
	{history.Event{Kind: history.Observed}, nil}, // only played schedules record it
	{history.Event{Kind: history.Restarted, Count: 1}, map[string]any{"restarts": 1.0}},
	{history.Event{Kind: history.Marked, Count: history.Rested}, map[string]any{"mark": "rested"}},
	{history.Event{Kind: history.Marked, Count: history.Stalled, Value: 800},
		map[string]any{"mark": "stalled", "messages": 800.0}},
	{history.Event{Kind: history.Gauged, Count: history.ReadyUS, Value: 5},
		map[string]any{"gauge": "ready_us", "value": 5.0}},
	{history.Event{Kind: history.Settled, Count: 4, Value: 6},
		map[string]any{"requester": 4.0, "messages": 6.0}},
	{history.Event{Kind: history.Paused, Count: 2}, map[string]any{"process": "2"}},
	{history.Event{Kind: history.FaultBegan, Count: 3, Value: int64(nodes.NoLoss)},
		map[string]any{"fault": 3., "nodes_hit": 0., "assumptions": "no_loss"}},
	{history.Event{Kind: history.FaultBegan, Count: 3, Value: int64(nodes.NoCrash), Entry: 1, Fence: 1},
		map[string]any{"fault": 3., "victim": 0., "nodes_hit": 1., "assumptions": "no_crash"}},
	{history.FaultEvent(port.FaultEvent{At: 0, Number: 3, Breaks: nodes.ServersUp, Victim: nodes.None,
		Servers: []int{0, 2}}), map[string]any{"fault": 3., "nodes_hit": 0., "servers_hit": "0 2",
		"assumptions": "servers_that_are_up"}},
	{history.FaultEvent(port.FaultEvent{Number: 3, Healed: true, Hits: 7, Until: 5000}),
		map[string]any{"fault": 3., "messages_hit": 7., "until_ns": 5000.}},
	{history.Event{Kind: history.Counted, Value: 70, Fence: 2}, map[string]any{"messages": 70., "dropped": 2.}},
	{history.Event{Kind: history.Disconnected, Count: 2}, map[string]any{"connection": 2.}},
	{history.Event{Kind: history.Reconnected, Count: 2}, map[string]any{"connection": 2.}},
	{history.Event{Kind: history.Resumed, Count: history.Broker}, map[string]any{"process": "broker"}},
	{history.Event{Kind: history.Resumed, Count: history.BrokerAmong(1, 3)},
		map[string]any{"process": "broker 1"}},
	{history.Event{Kind: history.Resumed, Count: history.Proxies}, map[string]any{"process": "proxies"}},
	{history.Event{Kind: history.Resumed, Count: history.Orchestrator},
		map[string]any{"process": "orchestrator"}},
	{history.Event{Kind: history.ClockBound, Count: 3, Value: 900, Entry: 50, Fence: 1},
		map[string]any{"of_node": 3., "errs_ns": 900., "errs_on_host_ns": 50., "clock": 1.}},
	{history.Event{Kind: history.ClockBound, Count: 3, Value: 900000, Entry: 50, Fence: history.NoClock},
		map[string]any{"of_node": 3., "errs_ns": 900000., "errs_on_host_ns": 50.}},
	{history.Event{Kind: history.ToldLost, Entry: 8}, map[string]any{"entry": 8.}},
	{history.Event{Kind: history.TryRefused, Entry: 8, Value: 77}, map[string]any{"entry": 8., "tried_ns": 77.}},
	{history.Event{Kind: history.GaveUp, Entry: 8}, map[string]any{"entry": 8.}},
	{history.Event{Kind: history.ClockSet, Count: 2, Value: 7}, map[string]any{"timers": 2., "timers_set": 7.}},
	{history.Event{Kind: history.Lagged, Value: 90, Fence: 10, Entry: 3, Count: 1},
		map[string]any{"late_ns": 90., "handled_ns": 10., "late_timers": 3., "sent_by": 1.}},
	{history.Event{Kind: history.AssumptionBroken, Value: int64(nodes.NoLoss | nodes.FIFO)},
		map[string]any{"assumptions": "no_loss FIFO_links"}},
}

// printEvents prints those events, and returns the columns that each should have.
func printEvents(t *testing.T, w *EventWriter) (want []map[string]any) {
	w.Says = func(e *history.Event) (says history.Text) {
		if (e.Kind == history.Sent || e.Kind == history.Breached) && e.Value == 1 {
			says = history.Text{Type: "my hello", Body: `{"x":"é, \""}`}
		}
		return says
	}
	for i, p := range printedEvents {
		p.At, p.Node, p.Instance = int64(i)*5, nodes.ID(i%3-1), uint16(i%2)
		has := map[string]any{"trial": 2.0, "at_ns": float64(p.At), "node": float64(p.Node),
			"instance": float64(p.Instance), "event": p.Kind.String()}
		maps.Copy(has, p.has)
		want = append(want, has)
		if err := w.Write(2, &p.Event); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

func TestEventsAsJSON(t *testing.T) {
	var b bytes.Buffer
	want := printEvents(t, NewEventWriter(&b, true, []string{"request", "reply"}))
	var got []map[string]any
	for line := range strings.Lines(b.String()) {
		o := map[string]any{}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ReadEvents reads the events that an EventWriter has written.
func TestEventsAreReadAgain(t *testing.T) {
	var b bytes.Buffer
	kinds := []string{"request", "reply"}
	printEvents(t, NewEventWriter(&b, true, kinds))
	next := 0
	_, err := ReadEvents(&b, kinds, func(got history.Event) error {
		want := printedEvents[next].Event
		want.At, want.Node, want.Instance = int64(next)*5, nodes.ID(next%3-1), uint16(next%2)
		if want.Kind == history.Sent || want.Kind == history.Breached {
			want.Value = 0 // it tells this test whether the event has a text
		}
		if next++; got != want {
			t.Errorf("read %+v, want %+v", got, want)
		}
		return nil
	})
	if err != nil || next != len(printedEvents) {
		t.Errorf("%d of %d events, %v", next, len(printedEvents), err)
	}
}

func TestEventsAsCSV(t *testing.T) {
	var b bytes.Buffer
	want := printEvents(t, NewEventWriter(&b, false, []string{"request", "reply"}))
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != len(want)+1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, line := range lines[1:] {
		for at, cell := range line {
			text := ""
			if v, there := want[i][lines[0][at]]; there {
				text = fmt.Sprint(v)
			}
			if cell != text {
				t.Errorf("event %d has %s %q, not %q", i, lines[0][at], cell, text)
			}
		}
	}
}

// The first hit of a fault is kept to the microsecond, and for an hour. Other histories may be more exact.
func TestFirstHits(t *testing.T) {
	const hour = int64(time.Hour)
	for _, x := range []struct{ at, hit, want int64 }{{9000, 2000, 2000}, {9000, 9000, 9000}, {9000, 2100, 3000},
		{9000, 9001, 9000}, {9000, 0, 0}, {hour, 1000, 1000}, {2 * hour, 1000, 0}} {
		var b bytes.Buffer
		e := history.FaultEvent(port.FaultEvent{At: x.at, Number: 1, Healed: true, Hits: 1, HitAt: x.hit})
		if err := NewEventWriter(&b, true, nil).Write(1, &e); err != nil || e.FirstHit() != x.want {
			t.Errorf("a hit at %d of a fault until %d is at %d, %v", x.hit, x.at, e.FirstHit(), err)
		}
		if says := fmt.Sprintf(`"first_hit_ns":%d`, x.want); strings.Contains(b.String(), says) != (x.want > 0) {
			t.Errorf("a hit at %d of a fault until %d is written as %s", x.hit, x.at, b.String())
		}
	}
	for hit, want := range map[string]int64{"3000": 3000, "2100": 3000, "9000": 9000, "0": -1, "9001": -1,
		"2.5": -1} {
		line := `{"at_ns":9000,"node":-1,"event":"fault_healed","fault":1,"first_hit_ns":` + hit + "}"
		got := int64(-1)
		_, err := ReadEvents(strings.NewReader(line), nil, func(e history.Event) error {
			got = e.FirstHit()
			return nil
		})
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("first_hit_ns %s is read as %d, %v", hit, got, err)
		}
	}
}

func TestEveryKindOfEventIsPrintedHere(t *testing.T) {
	printed := map[history.Kind]bool{}
	for _, p := range printedEvents {
		printed[p.Kind] = true
	}
	for k := history.Kind(1); !strings.HasPrefix(k.String(), "kind "); k++ {
		if !printed[k] {
			t.Errorf("nothing says which columns %v has", k)
		}
	}
}

type fullDisk struct{ error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.error }

func TestEventsThatCannotBeWrittenAreAnError(t *testing.T) {
	full := errors.New("full")
	for _, json := range []bool{false, true} {
		w := NewEventWriter(fullDisk{full}, json, nil)
		if err := w.Write(1, &history.Event{}); !errors.Is(err, full) {
			t.Errorf("the error is %v", err)
		}
	}
}

// Printing takes no memory for each event.
func BenchmarkEventWriter(b *testing.B) {
	w := NewEventWriter(io.Discard, false, nil)
	e := history.Event{Kind: history.Entered, Entry: 7, Value: 41, Count: 1}
	b.ReportAllocs()
	for b.Loop() {
		w.Write(1, &e)
	}
}
