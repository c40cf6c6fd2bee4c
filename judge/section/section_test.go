package section

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// sections keeps all that have ended.
type sections []Section

func (*sections) Add(history.Event)        {}
func (*sections) Close([]*history.NodeLog) {}
func (*sections) Asked(*Section)           {}
func (*sections) Entered(*Section)         {}
func (all *sections) Ended(s *Section) {
	*all = append(*all, *s)
}

// folded folds events, the resources being of a capacity.
func folded(events []history.Event, capacity int, stampError int64) (*Fold, sections) {
	var all sections
	f := New(stampError, func(uint16) int { return capacity })
	f.Observe(&all)
	for _, e := range events {
		f.Add(e)
	}
	f.Close(nil)
	return f, all
}

func request(at int64, id nodes.ID, units uint32) history.Event {
	return history.Event{At: at, Kind: history.Requested, Node: id, Value: at, Count: units}
}

func happens(at int64, id nodes.ID, kind history.Kind) history.Event {
	return history.Event{At: at, Kind: kind, Node: id}
}

func TestHowSectionsEnd(t *testing.T) {
	var events []history.Event
	for id := range nodes.ID(7) {
		events = append(events, request(int64(id), id, 1))
	}
	for id := range nodes.ID(4) {
		e := happens(10, id, history.Entered)
		e.Fence = uint64(id) + 7
		events = append(events, e)
	}
	events = append(events,
		happens(20, 0, history.Exited), happens(21, 1, history.Revoked), happens(22, 2, history.Crashed),
		happens(23, 4, history.Crashed), happens(24, 4, history.Restarted),
		history.Event{At: 30, Kind: history.Unissued, Node: 4, Value: 28}, // its node is up again
		history.Event{At: 30, Kind: history.Unissued, Node: 2, Value: 5},  // waited until its node crashed
		history.Event{At: 30, Kind: history.Unissued, Node: 2, Value: 25}, // its node was down: no client
		happens(40, nodes.None, history.Marked))
	f, all := folded(events, 9, 0)
	type end struct {
		node  nodes.ID
		state State
		ended int64
		fence uint64
	}
	var got []end
	for _, s := range all {
		got = append(got, end{s.Node, s.State, s.Ended, s.Fence})
	}
	want := []end{{0, Exited, 20, 7}, {1, Revoked, 21, 8}, {2, Crashed, 22, 9}, {4, Abandoned, 23, 0},
		{4, Unissued, 30, 0}, {2, Unissued, 22, 0}, {3, Unended, 40, 10}, {5, Unserved, 40, 0},
		{6, Unserved, 40, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("sections end as\n%v\nnot\n%v", got, want)
	}
	if f.Entries != 4 || f.Resources[0].Exits != 1 || f.Irregular != 1 { // the exit must write Read+1
		t.Errorf("%d entries, %d exits, %v", f.Entries, f.Resources[0].Exits, f.Irregularities)
	}
}

// A stay is a section as the naive definitions see it.
type stay struct {
	node          nodes.ID
	units         uint32
	entered, left int64
}

// stays are the stays of a few clients that enter at will.
func stays(r *rand.Rand, capacity int) (all []stay, events []history.Event) {
	for node := range nodes.ID(1 + r.IntN(6)) {
		for at := r.Int64N(50); at < 500; at += 1 + r.Int64N(200) {
			s := stay{node, uint32(1 + r.IntN(capacity)), at, at + 1 + r.Int64N(60)}
			at = s.left
			all = append(all, s)
			events = append(events, request(s.entered, node, s.units),
				happens(s.entered, node, history.Entered), happens(s.left, node, history.Exited))
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Node, b.Node))
	})
	return all, events
}

// naive returns for how long more than the capacity was held, and how many stays held units then.
func naive(all []stay, capacity int) (overlap int64, violations uint64) {
	violating := map[int]bool{}
	for at := range int64(700) {
		var inside []int
		held := 0
		for i, s := range all {
			if s.entered <= at && at < s.left {
				inside = append(inside, i)
				held += int(s.units)
			}
		}
		if held > capacity {
			overlap++
			for _, i := range inside {
				violating[i] = true
			}
		}
	}
	return overlap, uint64(len(violating))
}

func TestOverlapsAreOfUnits(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		capacity := 1 + r.IntN(4)
		all, events := stays(r, capacity)
		f, _ := folded(events, capacity, 0)
		res := f.Resources[0]
		overlap, violations := naive(all, capacity)
		if res.Overlap != overlap || res.Violations != violations || (res.First != nil) != (overlap > 0) {
			t.Fatalf("seed %d: %d sections overlap for %d, not %d for %d", seed, res.Violations, res.Overlap,
				violations, overlap)
		}
	}
}

// An overlap that is no longer than the stamps may err is in doubt, even if another one follows at once.
func TestOverlapsInDoubt(t *testing.T) {
	events := []history.Event{
		request(0, 0, 1), request(0, 1, 1), request(0, 2, 1),
		happens(10, 0, history.Entered), happens(95, 1, history.Entered), happens(100, 0, history.Exited),
		happens(100, 2, history.Entered), happens(105, 1, history.Exited), happens(200, 2, history.Exited),
	}
	f, _ := folded(events, 1, 5)
	if r := f.Resources[0]; r.Violations != 0 || r.Overlap != 0 || r.UncertainOverlaps != 2 || r.Closest != 5 {
		t.Errorf("%d violations for %d, %d in doubt, for %d", r.Violations, r.Overlap, r.UncertainOverlaps,
			r.Closest)
	}
	f, _ = folded(events, 1, 4)
	if r := f.Resources[0]; r.Violations != 3 || r.Overlap != 10 || r.First.From != 95 {
		t.Errorf("%d violations for %d, the first at %d", r.Violations, r.Overlap, r.First.From)
	}
}

// Even if one client waits for long, the line takes memory only for waiting sections, and counts right.
func TestLineOfOneThatStarves(t *testing.T) {
	const entries = 100_000
	var events []history.Event
	events = append(events, request(0, 0, 1))
	for i := range int64(entries) {
		id := nodes.ID(1 + i%3)
		events = append(events, request(10*i+1, id, 1), happens(10*i+2, id, history.Entered),
			happens(10*i+3, id, history.Exited))
	}
	f, all := folded(events, 1, 0)
	if last := all[len(all)-1]; last.State != Unserved || last.Overtaken != entries {
		t.Errorf("one that starves was overtaken %d times, not %d", last.Overtaken, entries)
	}
	if places := cap(f.Resources[0].line.waiting); places > 256 {
		t.Errorf("the line has %d places for one that waits", places)
	}
	if len(f.spare) > 4 {
		t.Errorf("%d sections are kept", len(f.spare))
	}
}

// If arrivals become requests late, the client is busy, or it is free and its process is late.
func TestWhyClientsAreBehind(t *testing.T) {
	arrival := func(due, asked, ended int64) []history.Event {
		r := request(asked, 0, 1)
		r.Value = due
		return []history.Event{r, happens(asked, 0, history.Entered), happens(ended, 0, history.Exited)}
	}
	begin := history.Event{Kind: history.Marked, Count: history.Measuring, Node: nodes.None}
	unissued := func(at, due int64) history.Event {
		return history.Event{At: at, Kind: history.Unissued, Node: 0, Value: due}
	}
	for _, test := range []struct {
		name         string
		events       []history.Event
		queued, late int64
	}{
		{"on time", slices.Concat(arrival(10, 10, 20), arrival(30, 30, 40)), 0, 0},
		{"busy", slices.Concat(arrival(10, 10, 50), arrival(20, 50, 90), []history.Event{
			unissued(90, 30), unissued(90, 40)}), 30 + 40, 0},
		{"its process stood still, and then it caught up", slices.Concat(arrival(10, 110, 111),
			arrival(20, 111, 112), arrival(30, 112, 113)), 100 + 1 + 1, 100},
		{"its process stood still to the end", []history.Event{unissued(90, 10), unissued(90, 40)}, 80, 80},
	} {
		f, _ := folded(slices.Concat([]history.Event{begin}, test.events), 1, 0)
		if f.Queued != test.queued || f.Late != test.late {
			t.Errorf("%s: behind for %d, %d of it free; not %d and %d", test.name, f.Queued, f.Late,
				test.queued, test.late)
		}
	}
}

// If an entry reads a value at the time at which an exit wrote it, no node that died inside has written it.
func TestWhatIsReadWhenItIsWritten(t *testing.T) {
	enter := func(at int64, id nodes.ID, read int64) history.Event {
		e := happens(at, id, history.Entered)
		e.Count, e.Value = 1, read
		return e
	}
	exit := func(at int64, id nodes.ID, written int64) history.Event {
		e := happens(at, id, history.Exited)
		e.Value = written
		return e
	}
	for read, lost := range map[int64]uint64{30: 0, 20: 1} { // node 2 reads when node 1 writes, or earlier
		events := []history.Event{request(0, 0, 1), request(0, 1, 1), request(0, 2, 1), enter(5, 0, 0),
			happens(6, 0, history.Crashed), enter(10, 1, 0), enter(read, 2, 1), exit(30, 1, 1), exit(40, 2, 2),
			happens(50, nodes.None, history.Marked)}
		f, _ := folded(events, 1, 0)
		if got := f.Resources[0].Lost(); got != lost {
			t.Errorf("read at %d: %d updates are lost, not %d", read, got, lost)
		}
	}
}

// Between two turns a broken assumption may hold again, but no other one breaks. So the kept incidents tell
// whether any incident was inside the model.
func TestMomentsTellWhatIsInsideTheModel(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		var turns, until [6]int64 // of each stretch: when it begins, and until when it is outside the model
		for i := range turns {
			turns[i] = int64(100 * (i + 1))
			until[i] = turns[i] + r.Int64N(150) - 25
		}
		outside := func(from, at int64, _ bool) bool {
			i := at/100 - 1
			return i >= 0 && from < until[i]
		}
		var m Moments[int]
		var all [][2]int64
		for range r.IntN(12) {
			at := r.Int64N(700)
			from := at - r.Int64N(2)*r.Int64N(150)
			all = append(all, [2]int64{from, at})
			m.keep(int(at/100), from, at, false, 0)
		}
		free, first := false, int64(1000)
		for _, one := range all {
			free, first = free || !outside(one[0], one[1], false), min(first, one[1])
		}
		least := m.Least(outside)
		switch {
		case (least == nil) != (len(all) == 0):
			t.Fatalf("seed %d: of %d there is %v", seed, len(all), least)
		case least != nil && outside(least.From, least.At, false) == free:
			t.Fatalf("seed %d: of %v, %d was kept; excused until %v", seed, all, least.At, until)
		case least != nil && !free && least.At != first:
			t.Fatalf("seed %d: all of %v are excused, and the first is not %d", seed, all, least.At)
		}
	}
}

// However many incidents there are, Moments keep at most two for each stretch.
func TestMomentsTakeNoMemoryForEach(t *testing.T) {
	var m Moments[int]
	for i := range 10_000 {
		m.keep(i/1000, int64(i), int64(i), false, i)
	}
	if len(m.of) != 20 {
		t.Errorf("%d are kept", len(m.of))
	}
}

// A suspicion is wrong while the suspected node is up, until it is withdrawn or one of the two goes down.
func TestWhileSuspicionsAreWrong(t *testing.T) {
	const crashed, restarted, suspected, trusted = history.Crashed, history.Restarted, history.Suspected,
		history.Trusted
	end := happens(100, nodes.None, history.Marked)
	for name, test := range map[string]struct {
		events []history.Event
		want   []Window
	}{
		"right":          {[]history.Event{happens(10, 2, crashed), said(14, 0, suspected, 2)}, nil},
		"taken back":     {[]history.Event{said(5, 0, suspected, 2), said(9, 0, trusted, 2)}, []Window{{5, 9}}},
		"to the end":     {[]history.Event{said(5, 0, suspected, 2)}, []Window{{5, 100}}},
		"it goes down":   {[]history.Event{said(5, 0, suspected, 2), happens(9, 2, crashed)}, []Window{{5, 9}}},
		"the other does": {[]history.Event{said(5, 0, suspected, 2), happens(9, 0, crashed)}, []Window{{5, 9}}},
		"one of two only": {[]history.Event{said(5, 0, suspected, 2), said(6, 1, suspected, 2),
			said(9, 0, trusted, 2), said(12, 1, trusted, 2)}, []Window{{5, 12}}},
		"twice": {[]history.Event{said(5, 0, suspected, 2), said(9, 0, trusted, 2), said(20, 0, suspected, 1),
			said(21, 0, suspected, 1), said(22, 0, trusted, 1)}, []Window{{5, 9}, {20, 22}}},
		"up again": {[]history.Event{happens(10, 2, crashed), said(14, 0, suspected, 2),
			happens(20, 2, restarted)}, nil},
	} {
		f := New(0, nil)
		for _, e := range append(test.events, end) {
			f.Add(e)
		}
		f.Close(nil)
		if len(f.Wrongs) != len(test.want) {
			t.Errorf("%s: %v, not %v", name, f.Wrongs, test.want)
			continue
		}
		for i, w := range test.want {
			if got := f.Wrongs[i]; got.Window != w || got.By != 0 || got.Of == 0 {
				t.Errorf("%s: %v, not %v", name, f.Wrongs, test.want)
			}
		}
	}
}

// A process that stood still when it was killed stands still no more.
func TestADeathEndsAPause(t *testing.T) {
	f := New(0, nil)
	paused := happens(10, nodes.None, history.Paused)
	paused.Count = 2
	for _, e := range []history.Event{paused, happens(20, 2, history.Crashed),
		happens(50, nodes.None, history.Marked)} {
		f.Add(e)
	}
	f.Close(nil)
	if len(f.Pauses) != 1 || f.Pauses[0].To != 20 {
		t.Errorf("%+v", f.Pauses)
	}
}
