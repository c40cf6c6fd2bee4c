package host

import (
	"testing"

	"turnstile/nodes"
)

func TestEnvelopeRoundTrip(t *testing.T) {
	for _, want := range []envelope{
		{},
		{kind: 3, multicast: true, from: 1000, incarnation: 7, seq: 1 << 40, instance: 5},
		{kind: 15, from: nodes.ID(1<<31 - 1), incarnation: 1<<31 - 1, seq: 1<<64 - 1, instance: 1<<31 - 1},
		{from: 1, seq: 9, reconnects: 1, at: 1 << 40},
		{from: 1, seq: 9, incarnation: 1<<32 - 1, reconnects: 1<<32 - 1, restored: 1<<32 - 1, owed: 1<<64 - 1},
	} {
		b := want.append(nil)
		var got envelope
		rest, err := got.read(append(b, "body"...))
		if err != nil || got != want || string(rest) != "body" {
			t.Errorf("read back %+v with %q behind it (%v), want %+v with the body", got, rest, err, want)
		}
		for cut := range b {
			if _, err := got.read(b[:cut]); err == nil {
				t.Errorf("an envelope cut off after %d of %d bytes is read without an error", cut, len(b))
			}
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte{0xc3, 1, 5, 0, 7, 0, 1, 2, 3, 4, 5, 6, 7, 42})
	f.Add([]byte{0xc3, 1, 5, 3, 7, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 42})
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again envelope
		rest, err := e.read(b)
		if err != nil {
			return
		}
		if e.from < 0 || e.instance < 0 {
			t.Fatalf("% x is read as node %d, instance %d", b, e.from, e.instance)
		}
		back, err := again.read(append(e.append(nil), rest...))
		if err != nil || again != e || len(back) != len(rest) {
			t.Fatalf("% x is read as %+v and, written again, as %+v (%v)", b, e, again, err)
		}
	})
}
