package host

import "testing"

// A gap is explained only before the first message of a stream that comes after either end reconnected, and
// only up to the floor of the stream, unless that was set before the receiver reconnected.
func TestWhatAnOutageExplains(t *testing.T) {
	type step struct {
		redialled, restored bool // of the receiver, before the message comes
		message             envelope
		seen, explained     uint64
	}
	from := func(seq uint64, reconnects, restored uint32, owed uint64) envelope {
		return envelope{seq: seq, reconnects: reconnects, restored: restored, owed: owed}
	}
	for name, steps := range map[string][]step{
		"nothing was lost": {{message: from(1, 0, 0, 0)}, {message: from(5, 0, 0, 0), seen: 1}},
		"own connection": {
			{message: from(1, 0, 0, 0)},
			{redialled: true, message: from(5, 0, 0, 0), seen: 1, explained: 3},
			{message: from(7, 0, 0, 0), seen: 5},
		},
		"the sender's connection": {
			{message: from(1, 0, 0, 0)},
			{message: from(5, 1, 0, 0), seen: 1, explained: 3},
			{message: from(7, 1, 0, 0), seen: 5},
			{message: from(9, 2, 0, 0), seen: 7, explained: 1},
		},
		"both, one after the other": {
			{redialled: true, message: from(5, 0, 0, 0), seen: 1, explained: 3},
			{message: from(9, 1, 0, 0), seen: 5, explained: 3},
			{message: from(12, 1, 0, 0), seen: 9},
		},
		"the first that is owed is lost": {
			{redialled: true, restored: true, message: from(9, 1, 1, 2), seen: 3, explained: 4},
			{message: from(12, 1, 1, 5), seen: 9},
		},
		"all that is owed is lost": {
			{redialled: true, restored: true, message: from(9, 1, 1, 8), seen: 3},
		},
		"the receiver does not know yet that all are connected": {
			{redialled: true, message: from(9, 1, 1, 2), seen: 3, explained: 4},
		},
		"a floor from before the receiver was connected again": {
			{restored: true, message: from(4, 0, 1, 2), seen: 3},
			{redialled: true, message: from(9, 0, 1, 7), seen: 4, explained: 4},
		},
		"a floor from before, and the sender was connected again too": {
			{restored: true, message: from(4, 0, 1, 2), seen: 3},
			{redialled: true, message: from(9, 1, 1, 0), seen: 4, explained: 4},
			{restored: true, message: from(20, 1, 2, 3), seen: 9},
		},
		"more is owed than was ever sent": {
			{redialled: true, message: from(9, 1, 1, 100), seen: 3},
		},
	} {
		for _, multicast := range []bool{false, true} {
			o := newOutage(2, 2, 1)
			for i, s := range steps {
				if s.redialled {
					o.redialled(0)
				}
				if s.restored {
					o.restored++
				}
				s.message.from, s.message.multicast = 1, multicast
				if got := o.explain(&s.message, 0, 1, s.seen); got != s.explained {
					t.Errorf("%s, step %d: %d are explained, not %d", name, i+1, got, s.explained)
				}
			}
		}
	}
}
