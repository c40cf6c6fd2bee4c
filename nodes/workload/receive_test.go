package workload_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

func receive(t *testing.T, text string) workload.Receive {
	t.Helper()
	r, err := workload.ParseReceive(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A Receive is read from the text that it is written as. The error for a wrong text says what is right.
func TestWaysToReceive(t *testing.T) {
	for _, text := range []string{"agent", "interrupt", "handler", "poll:5ms", "poll:1m0s"} {
		if r := receive(t, text); r.String() != text || r.IsZero() != (text == "agent") {
			t.Errorf("%s is read as %+v", text, r)
		}
	}
	for text, says := range map[string]string{
		"":              `there is no way "" to receive messages: take agent (at once), interrupt`,
		"pull:5ms":      `there is no way "pull:5ms" to receive messages: take agent`,
		"Agent":         "take agent",
		"handler:5ms":   "only poll has a time: write handler, or poll:5ms",
		"poll":          "as in poll:5ms",
		"poll:":         "as in poll:5ms",
		"poll:5":        "as in poll:5ms",
		"poll:0":        "above 0s",
		"poll:-1ms":     "above 0s",
		"poll:24h0m1ns": "at most 24h",
	} {
		if r, err := workload.ParseReceive(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want %q", text, r, err, says)
		}
	}
}

// An inbox keeps messages while the application does not receive, and gives them back in order.
func TestInbox(t *testing.T) {
	const computes, computed = 100, 200
	for by, takes := range map[string][3]bool{ // while the client is inside, computes, and otherwise
		"agent": {true, true, true}, "interrupt": {false, true, true}, "handler": {false, false, true},
	} {
		b := workload.NewInbox[int](receive(t, by), chance.Dice(1), 3)
		b.Computes(computes, computed)
		for i, at := range []int64{50, 150, 50} {
			if b.Keeps(at, i == 0) == takes[i] {
				t.Errorf("%s at %d, inside: %v: keeps %v", by, at, i == 0, b.Keeps(at, i == 0))
			}
		}
		for _, at := range []int64{computes, computed} { // it begins to compute, and has computed
			if b.Keeps(at, false) {
				t.Errorf("%s at %d keeps a message", by, at)
			}
		}
		for m := range 3 {
			if poll := b.Keep(m, 50); poll != 0 {
				t.Errorf("%s polls at %d", by, poll)
			}
		}
		if !b.Keeps(50, false) {
			t.Errorf("%s: a message overtakes waiting ones", by)
		}
		if m, ok := b.Take(50, true); ok && by != "agent" {
			t.Errorf("%s hands out %d while the client is inside", by, m)
		}
		var got []int
		for m, ok := b.Take(50, false); ok; m, ok = b.Take(50, false) {
			got = append(got, m)
		}
		if first := len(got) - 2; first < 0 || !slices.Equal(got[first:], []int{1, 2}) || !b.Empty() {
			t.Errorf("%s hands out %v", by, got)
		}
	}
}

// A node polls periodically: the first waiting message sets the poll, which takes all messages by then.
func TestInboxPolls(t *testing.T) {
	const period = int64(5 * time.Millisecond)
	firsts := map[int64]bool{}
	for id := range nodes.ID(20) {
		b := workload.NewInbox[int](receive(t, "poll:5ms"), chance.Dice(1), id)
		first := b.Keep(0, 0)
		firsts[first] = true
		switch late := b.Keep(1, first-1); {
		case first < 0 || first >= period || late != 0:
			t.Fatalf("node %d polls at %d first, and at %d besides", id, first, late)
		case !b.Keeps(first, false):
			t.Errorf("node %d: a message overtakes waiting ones", id)
		}
		if m, ok := b.Take(first-1, false); ok {
			t.Errorf("node %d has %d before it polls", id, m)
		}
		for want := range 2 {
			if m, ok := b.Take(first, true); !ok || m != want {
				t.Errorf("node %d polls and has %d, %v", id, m, ok)
			}
		}
		if b.Keeps(first+7*period, true) || !b.Keeps(first+7*period+1, false) {
			t.Errorf("node %d does not keep a message just when it does not poll", id)
		}
		if next := b.Keep(2, first+7*period+1); next != first+8*period {
			t.Errorf("node %d polls at %d, and not at %d", id, next, first+8*period)
		}
		if lost := b.Lose(); !slices.Equal(lost, []int{2}) || !b.Empty() {
			t.Errorf("node %d loses %v", id, lost)
		}
	}
	if len(firsts) < 20 {
		t.Errorf("20 nodes poll at %d moments", len(firsts))
	}
}

// An inbox that is opened hands out waiting messages in any state of the client.
func TestInboxOpens(t *testing.T) {
	for _, by := range []string{"handler", "poll:1h"} {
		b := workload.NewInbox[int](receive(t, by), chance.Dice(1), 0)
		b.Keep(1, 1)
		b.Open()
		if m, ok := b.Take(1, true); !ok || m != 1 || b.Keeps(1, true) {
			t.Errorf("%s: %d, %v", by, m, ok)
		}
	}
}

// Runs are refused in which messages would wait for ever.
func TestCheckReceive(t *testing.T) {
	open, saturated := workload.Workload{Load: workload.Open}, workload.Workload{Load: workload.Saturated}
	for _, test := range []struct {
		w         workload.Workload
		by        string
		resources int
		says      string
	}{
		{saturated, "poll:2s", 1, "the run of 1s is shorter"},
		{saturated, "poll:1s", 4, ""},
		{open, "handler", 4, "take agent or poll:5ms, or another load"},
		{open, "interrupt", 1, ""},
		{open, "poll:5ms", 4, ""},
		{saturated, "handler", 4, ""},
	} {
		test.w.Receive = receive(t, test.by)
		err := test.w.CheckReceive(test.resources, time.Second)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s, %d resources, %s: %v", test.w.Load, test.resources, test.by, err)
		}
	}
}
