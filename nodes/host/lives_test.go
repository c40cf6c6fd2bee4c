package host_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A numbered message is made up by the test: a reply of node 1 to a request that node 0 never made.
type numbered struct {
	incarnation uint32
	seq         uint64
	multicast   bool
}

func (n numbered) bytes() []byte {
	first := byte(1 | 0x40)
	if n.multicast {
		first |= 0x80
	}
	b := binary.AppendUvarint([]byte{first, 1}, n.seq)
	return stamped(append(binary.AppendUvarint(b, uint64(n.incarnation)<<1), 0), 99)
}

// hears has node 0, in an incarnation, receive messages, and returns the history.
func hears(t *testing.T, incarnation uint32, messages []numbered) *history.History {
	t.Helper()
	s := begin(t, "ricart-agrawala", 2, func(c *host.Config) {
		if c.Node == 0 {
			c.Incarnation = incarnation
		}
	})
	s.issueLater()
	for _, m := range messages {
		if err := s.conn.Publish(s.names.Node(0), m.bytes()); err != nil {
			t.Fatal(err)
		}
	}
	w, err := history.Watch(s.log(0))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if w.Instances[0].Kinds[1].Delivered.Load() == uint64(len(messages)) {
			return s.end()
		}
		if time.Now().After(deadline) {
			t.Fatal("not all messages are taken in")
		}
	}
}

// A stream belongs to an incarnation of its sender, and a node that has restarted cannot know what went to
// its earlier incarnation.
func TestStreamsBelongToIncarnations(t *testing.T) {
	for _, test := range []struct {
		name        string
		incarnation uint32
		messages    []numbered
		began       []history.Event
		want        history.Totals
		last        uint64
	}{
		{"one incarnation", 0, []numbered{{0, 1, false}, {0, 2, false}}, nil, history.Totals{}, 2},
		{"gaps and repeats", 0,
			[]numbered{{0, 1, false}, {0, 3, false}, {0, 3, false}, {0, 2, false}, {0, 4, false}}, nil,
			history.Totals{Gaps: 1, Repeats: 2}, 4},
		{"the sender restarts", 0, []numbered{{0, 1, false}, {1, 1, false}, {0, 2, false}, {3, 2, false}},
			[]history.Event{{Kind: history.LinkBegan, Entry: 1, Value: 1, Fence: 1},
				{Kind: history.LinkBegan, Entry: 3, Value: 2, Fence: 1}}, history.Totals{Strays: 1}, 2},
		{"the receiver has restarted", 1,
			[]numbered{{0, 7, false}, {0, 8, false}, {0, 10, false}, {0, 10, false}},
			[]history.Event{{Kind: history.LinkBegan, Value: 7}}, history.Totals{Gaps: 1, Repeats: 1}, 10},
		{"multicasts have a stream of their own", 0, []numbered{{0, 1, false}, {1, 4, true}, {0, 2, false}},
			[]history.Event{{Kind: history.MulticastBegan, Entry: 1, Value: 4}}, history.Totals{}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := hears(t, test.incarnation, test.messages)
			var began []history.Event
			for _, e := range h.Events {
				if e.Kind == history.LinkBegan || e.Kind == history.MulticastBegan {
					if e.Count != 1 || e.Node != 0 {
						t.Errorf("node %d has heard from node %d", e.Node, e.Count)
					}
					e.At, e.Count = 0, 0
					began = append(began, e)
				}
			}
			if !slices.Equal(began, test.began) {
				t.Errorf("the streams began with %+v, not %+v", began, test.began)
			}
			got := h.Logs[0].Totals
			got = history.Totals{Gaps: got.Gaps, Repeats: got.Repeats, Strays: got.Strays}
			if got != test.want || h.Logs[0].ReceivedFrom[1] != test.last {
				t.Errorf("%+v, and number %d was the last, not %+v and %d", got, h.Logs[0].ReceivedFrom[1], test.want,
					test.last)
			}
		})
	}
}

// TakeOut counts out a node that died inside. After a death amid a change, the register is uncertain.
func TestTheDeadLeaveTheRegister(t *testing.T) {
	for stage, test := range []struct {
		unknown int32
		taken   int64
	}{{0, 7}, {2, 7}, {0, 5}, {2, 7}} {
		path := t.TempDir() + "/resource"
		if err := host.CreateResource(path, 2, 3); err != nil {
			t.Fatal(err)
		}
		r, err := host.OpenResource(path, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		r.Of(1).Taken.Store(7)
		share := r.Share(1, 2)
		[...]func(int32){func(int32) {}, share.Entering, share.Within, share.Leaving}[stage](2)
		if unknown := r.TakeOut(1, 2); unknown != test.unknown || r.Of(1).Taken.Load() != test.taken {
			t.Errorf("at stage %d: unknown by %d, and %d are taken", stage, unknown, r.Of(1).Taken.Load())
		}
		if unknown := r.TakeOut(1, 2); unknown != 0 || r.Of(1).Taken.Load() != test.taken {
			t.Errorf("after stage %d its next incarnation does not begin outside", stage)
		}
	}
}
