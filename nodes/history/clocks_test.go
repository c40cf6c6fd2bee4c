package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/offset"
	"turnstile/nodes"
)

// stamped writes the log of a node with an event of a kind at each of the times.
func stamped(t *testing.T, dir, name string, id nodes.ID, kind Kind, times ...int64) {
	t.Helper()
	l := must(Create(filepath.Join(dir, name), Options{Node: id, Nodes: 3, TraceLength: 4, StampError: 50}))(t)
	for _, at := range times {
		if err := l.Append(Event{At: at, Kind: kind, Value: at - 5, Count: 1}); err != nil {
			t.Fatal(err)
		}
		l.Trace(MessageRecord{At: at, Node: id, Sent: true})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// jumpy is a clock that is 1,000 ns ahead from the time 0 of the run, jumps between 400 and 600 and is 2,000
// ns ahead afterwards. The run's zero is at 10,000 by the reference, and at 500 by what the node was told.
func jumpy(ids ...nodes.ID) Clock {
	return Clock{Host: "b", Nodes: ids, Zero: 500, Reference: 10_000, Pieces: offset.Pieces{
		{From: 10_000, Offset: 1000, Bound: 30}, {From: 10_400, Offset: 1000, Rate: 5, Bound: 260, Unknown: true},
		{From: 10_600, Offset: 2000, Bound: 40},
	}}
}

// show is what the clock of jumpy shows at a time of the run, less what the node takes for the zero.
func show(at int64) int64 {
	if at >= 600 {
		return at + 12_000 - 500
	}
	return at + 11_000 - 500
}

func TestStampsOfAnotherClockAreCorrected(t *testing.T) {
	dir := t.TempDir()
	stamped(t, dir, "a.log", 0, Requested, 100, 300, 500, 700)
	stamped(t, dir, "b.log", 1, Requested, show(50), show(350), show(650), show(660))
	if err := WriteClocks(dir, 0, []Clock{jumpy(1)}); err != nil {
		t.Fatal(err)
	}
	h := must(Load(dir))(t)
	bound := func(at int64, id uint32, err int64, clock uint64) Event {
		return Event{At: at, Kind: ClockBound, Count: id, Value: err, Fence: clock, Entry: 50, Node: nodes.None}
	}
	asked := func(at int64, id nodes.ID) Event {
		return Event{At: at, Kind: Requested, Value: at - 5, Count: 1, Node: id}
	}
	want := []Event{bound(50, 0, 50, 0), bound(50, 1, 90, 1), asked(50, 1), asked(100, 0), asked(300, 0),
		asked(350, 1), bound(400, 1, 310, NoClock), asked(500, 0), bound(600, 1, 101, 1), asked(650, 1),
		asked(660, 1), asked(700, 0)}
	if diff := cmp.Diff(want, h.Events); diff != "" {
		t.Error(diff)
	}
	if e := h.Logs[1].StampError; e != 90 || h.Logs[0].StampError != 50 || h.Header().StampError != 140 {
		t.Errorf("stamps of the logs err by %d and %d ns, two of them by %d", h.Logs[0].StampError, e,
			h.Header().StampError)
	}
	if at := h.Logs[1].Trace[0].At; at != 350 {
		t.Errorf("the oldest message that was kept was sent at %d", at)
	}

	path := filepath.Join(t.TempDir(), "history.zst")
	if err := Store(path, dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, must(Load(path))(t)); diff != "" {
		t.Error("the stored history differs:", diff)
	}
}

// Events of a host while its clock jumps stay in the order of its log, within the stretch of unknown offset.
func TestStampsNeverFall(t *testing.T) {
	dir := t.TempDir()
	var times []int64
	for at := int64(380); at < 400; at++ {
		times = append(times, show(at))
	}
	for at := show(399); at < show(600); at += 7 {
		times = append(times, at)
	}
	stamped(t, dir, "b.log", 1, Exited, append(times, show(600), show(601))...)
	if err := WriteClocks(dir, 0, []Clock{jumpy(1)}); err != nil {
		t.Fatal(err)
	}
	h := must(Load(dir))(t)
	if !slices.IsSortedFunc(h.Events, func(a, b Event) int { return int(a.At - b.At) }) {
		t.Error("stamps fall")
	}
	unknown := false
	for _, e := range h.Events {
		if e.Kind == ClockBound {
			unknown = e.Fence == NoClock
		} else if unknown != (e.At >= 400 && e.At < 600) {
			t.Errorf("an event at %d is in a stretch that is unknown: %v", e.At, unknown)
		}
	}
}

// Nothing is known of stamps if the clock of their host was never measured, or was measured only later.
func TestStampsOfAClockThatIsNotKnown(t *testing.T) {
	for name, clock := range map[string]Clock{
		"never": {Host: "b", Nodes: []nodes.ID{1}},
		"later": {Host: "b", Nodes: []nodes.ID{1}, Pieces: offset.Pieces{{From: 1000, Bound: 7}}},
	} {
		dir := t.TempDir()
		stamped(t, dir, "b.log", 1, Exited, 500)
		if err := WriteClocks(dir, 0, []Clock{clock}); err != nil {
			t.Fatal(err)
		}
		h := must(Load(dir))(t)
		e := h.Events[0]
		if e.Kind != ClockBound || e.Value != Unknowable || e.Fence != NoClock || len(h.Events) != 2 {
			t.Errorf("%s: %+v", name, h.Events)
		}
	}
}

func TestClocksThatAreNone(t *testing.T) {
	dir := t.TempDir()
	stamped(t, dir, "b.log", 1, Exited, 500)
	path := filepath.Join(dir, ClocksFile)
	twice, early := []Clock{jumpy(1), jumpy(2, 1)}, []Clock{jumpy(1)}
	early[0].Pieces[2].From = 3
	for want, clocks := range map[string][]Clock{
		"node 1 has the clock of b, and that of b":            twice,
		"piece 3 of the clock of b is wrong":                  early,
		"these are the clocks of another trial than the logs": nil,
	} {
		origin := uint64(0)
		if clocks == nil {
			origin = 7
		}
		if err := WriteClocks(dir, origin, clocks); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	if err := WriteClocks(dir, 0, []Clock{jumpy(1)}); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(path))(t)
	for at := range whole {
		garbled := slices.Clone(whole)
		garbled[at] ^= 1
		if err := os.WriteFile(path, garbled, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("byte %d garbled: %v", at, err)
		}
	}
	for length := range whole {
		if err := os.WriteFile(path, whole[:length], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Fatalf("cut off after %d bytes: it was read", length)
		}
	}
}
