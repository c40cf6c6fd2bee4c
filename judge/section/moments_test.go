package section

import (
	"math/rand/v2"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// Whatever excuses there are, as long as none begins between two turns: what is kept tells whether something
// happened that none of them covers.
func TestMomentsTellWhatHasNoExcuse(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		var turns, until [6]int64 // of each stretch: when it begins, and until when it has an excuse
		for i := range turns {
			turns[i] = int64(100 * (i + 1))
			until[i] = turns[i] + r.Int64N(150) - 25
		}
		outside := func(from, at int64) bool {
			i := at/100 - 1
			return i >= 0 && from < until[i]
		}
		var m Moments[int]
		var all [][2]int64
		for range r.IntN(12) {
			at := r.Int64N(700)
			from := at - r.Int64N(2)*r.Int64N(150)
			all = append(all, [2]int64{from, at})
			m.keep(int(at/100), from, at, 0)
		}
		free, first := false, int64(1000)
		for _, one := range all {
			free, first = free || !outside(one[0], one[1]), min(first, one[1])
		}
		least := m.Least(outside)
		switch {
		case (least == nil) != (len(all) == 0):
			t.Fatalf("seed %d: of %d there is %v", seed, len(all), least)
		case least != nil && outside(least.From, least.At) == free:
			t.Fatalf("seed %d: of %v, %d was kept; excused until %v", seed, all, least.At, until)
		case least != nil && !free && least.At != first:
			t.Fatalf("seed %d: all of %v are excused, and the first is not %d", seed, all, least.At)
		}
	}
}

// However often clients overlap, what is kept of it is as much as there are turns.
func TestMomentsTakeNoMemoryForEach(t *testing.T) {
	var m Moments[int]
	for i := range 10_000 {
		m.keep(i/1000, int64(i), int64(i), i)
	}
	if len(m.of) != 20 {
		t.Errorf("%d are kept", len(m.of))
	}
}

// A suspicion is wrong while its node is up, until it is taken back, or either of the two is down.
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
