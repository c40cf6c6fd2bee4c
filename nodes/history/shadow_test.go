package history

import (
	"bytes"
	"path/filepath"
	"testing"

	"turnstile/nodes"
)

// A shadow on another machine has the same counters, word for word, and none of the next node's.
func TestShadowsAreTheCounters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node.log")
	l, err := Create(path, Options{Node: 1, Nodes: 3, Instances: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := Watch(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	far := NewShadow(2)
	for round := range uint64(3) {
		l.Pending.Store(int64(round) - 1)
		l.Instance(1).Exits.Store(300 * round)
		l.Instance(1).Kinds[nodes.MaxKinds-1].Bytes.Store(round << 60)
		b := w.Snapshot([]byte("before"))
		rest, err := far.Set(append(bytes.TrimPrefix(b, []byte("before")), "next"...))
		if err != nil || string(rest) != "next" {
			t.Fatalf("%q, %v", rest, err)
		}
		for part, words := range w.words() {
			for i := range words {
				if got, want := far.words()[part][i].Load(), words[i].Load(); got != want {
					t.Errorf("round %d: word %d of part %d is %d, not %d", round, i, part, got, want)
				}
			}
		}
	}
	b := w.Snapshot(nil)
	for length := range b {
		if _, err := far.Set(b[:length]); err == nil {
			t.Errorf("%d of %d bytes are taken for counters", length, len(b))
		}
	}
	if _, err := NewShadow(1).Set(b); err == nil {
		t.Error("counters of two instances are taken for those of one")
	}
}
