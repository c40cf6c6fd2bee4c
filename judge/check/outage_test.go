package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// outage returns a sound run in which the broker was away for some time. Node 1 sent node 0 a request that
// was lost before the nodes reconnected, the last message of node 2 to node 1 was lost too, and f happened.
func outage(f func(w *world)) func() *world {
	return func() *world {
		w := newWorld(3)
		w.round()
		w.mark(history.Measuring)
		w.broke(nodes.NoLoss)
		for id := range nodes.ID(3) {
			w.add(id, history.Event{Kind: history.Disconnected, Count: 1})
		}
		w.lose(1, 0)
		w.log(0).ReceivedFrom[1]++ // since the next message comes
		w.log(0).Totals.Explained++
		for id := range nodes.ID(3) {
			w.add(id, history.Event{Kind: history.Reconnected, Count: 1})
		}
		w.round()
		w.lose(2, 1)
		w.restore()
		f(w)
		w.end()
		return w
	}
}

// lose sends a message that does not arrive.
func (w *world) lose(from, to nodes.ID) {
	w.totals(from).Kind(kindRequest).Sent++
	w.log(from).SentTo[to]++
}

// restore sets the floors of all streams.
func (w *world) restore() {
	for _, l := range w.Logs {
		l.Floor = append([]uint64(nil), l.SentTo...)
		l.Totals.MultiFloor = l.Totals.MultiSent
	}
}

func TestAnOutageExplainsWhatWasLostWithIt(t *testing.T) {
	v := outage(func(*world) {})().judge()
	if v.Outcome != Valid || v.LostUnintended != 0 || v.LostWithBroker != 2 {
		t.Errorf("%v: %s; %d lost with the broker, %d otherwise", v.Outcome, v.Reason, v.LostWithBroker,
			v.LostUnintended)
	}
	if says := finding(t, v, "loss").Says; !strings.HasPrefix(says, "2 messages were lost with connections") {
		t.Error(says)
	}
	v = outage(func(w *world) { // the broker goes away once more, and nobody hears of it again
		for _, l := range w.Logs {
			for i := range l.Floor {
				l.Floor[i] = history.AnyNumber
			}
		}
		w.lose(0, 1)
		w.lose(0, 1)
	})().judge()
	if v.Outcome != Valid || v.LostWithBroker != 4 {
		t.Errorf("%v: %s; %d lost with the broker", v.Outcome, v.Reason, v.LostWithBroker)
	}
}

// An outage explains no other lost messages, and no other differences of counts.
func TestAnOutageExplainsNothingElse(t *testing.T) {
	for _, m := range []mutant{
		{"a gap later in a stream", outage(func(w *world) {
			w.lose(1, 0)
			w.log(0).ReceivedFrom[1]++
			w.log(0).Totals.Gaps++
		}), "loss", Inconclusive, Inconclusive, "1 message on the way did not arrive"},
		{"a last message lost long after it", outage(func(w *world) { w.lose(0, 2) }),
			"loss", Inconclusive, Inconclusive, "link 0 -> 2: 5 sent, number 4 was the last"},
		{"one of two last messages lost long after it", outage(func(w *world) { w.lose(2, 1) }),
			"loss", Inconclusive, Inconclusive, "1 message on the way did not arrive"},
		{"a multicast lost long after it", outage(func(w *world) { w.log(0).Totals.MultiSent++ }),
			"loss", Inconclusive, Inconclusive, "multicasts 0 -> 1: 1 sent, number 0"},
		{"a message from nowhere", outage(func(w *world) { w.log(2).ReceivedFrom[0]++ }),
			"loss", Inconclusive, Inconclusive, "link 0 -> 2: 4 sent, number 5"},
		{"more explained than was lost", outage(func(w *world) { w.log(0).Totals.Explained++ }),
			"accounting", Inconclusive, Inconclusive, "3 lost with connections to the broker"},
		{"a message taken in and not handled", outage(func(w *world) { w.totals(0).Kind(kindReply).Delivered-- }),
			"accounting", Inconclusive, Inconclusive, "2 lost with connections to the broker"},
		{"no fault was on record", change(func(w *world) {
			w.add(1, history.Event{Kind: history.Disconnected, Count: 1})
			w.broke(nodes.NoLoss)
		}), "loss", Inconclusive, Inconclusive, "node 1 lost its connection to the broker"},
	} {
		v := m.world().judge()
		f := finding(t, v, m.fails)
		if f.Outcome != m.as || v.Outcome != m.verdict || !strings.Contains(f.Says, m.says) {
			t.Errorf("%s: the verdict is %v, and %s says %q (%v)", m.name, v.Outcome, m.fails, f.Says, f.Outcome)
		}
	}
}
