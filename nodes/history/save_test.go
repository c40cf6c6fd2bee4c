package history

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"turnstile/internal/soak"
	"turnstile/nodes"
)

// saved returns a history of three nodes, with a value for almost every field.
func saved() *History {
	h := &History{Logs: []*NodeLog{{Node: nodes.None}},
		Events: []Event{{At: 0, Kind: Marked, Count: Began, Node: nodes.None}}}
	for id := range nodes.ID(3) {
		l := &NodeLog{Node: id, StampError: 7}
		for i := range int(id) * 3 {
			h.Events = append(h.Events, Event{At: int64(id), Value: -1, Fence: 8, Entry: 4, Count: 5,
				Instance: 6, Kind: Entered, Node: id})
			l.Trace = append(l.Trace,
				MessageRecord{At: int64(i), Seq: 9, Node: id, Peer: nodes.None, Kind: 3, Sent: i%2 == 0, Lost: i%4 == 1})
		}
		l.Instance(1).Kind(3).Sent, l.Instance(0).Dropped = 8, uint64(id)
		l.Totals = Totals{1, 2, 3, 4, 5, uint64(id), 6, 7, 8, 9, 10, 11, uint64(id), 12 * uint64(id)}
		l.Incarnation = uint32(id)
		if id == 2 {
			l.Late = make([]uint64, LatenessBuckets)
			l.Late[5] = 1
			l.SentTo, l.ReceivedFrom, l.MultiFrom = []uint64{1, 0, 0}, []uint64{2, 0, 0}, []uint64{3, 0, 0}
			l.Floor = []uint64{0, AnyNumber, 0}
			for range l.Trace {
				l.Texts = append(l.Texts, Text{"hello", `{"type":"hello","x":"é"}`})
			}
			l.Last = "bye"
		}
		h.Logs = append(h.Logs, l)
	}
	return h
}

// content returns the uncompressed content of a stored history.
func content(t testing.TB, h *History) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, h.Header())
	h.Run(w)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWrittenHistoryReadsBack(t *testing.T) {
	h := saved()
	for range 3 * perPage { // more than one block
		h.Events = append(h.Events, Event{At: 9, Kind: Exited, Entry: uint32(len(h.Events))})
	}
	b := content(t, h)
	r := must(readContent(b))(t)
	back := &History{}
	if err := r.Run(back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	if r.Header != h.Header() || r.Header != (Header{Nodes: 3, StampError: 14}) {
		t.Errorf("the header is %+v", r.Header)
	}
	if !bytes.Equal(b, content(t, back)) {
		t.Error("the history read back is written in other bytes")
	}
}

// readContent begins to read a history from uncompressed content.
func readContent(b []byte) (*Reader, error) {
	s, err := newStored("h", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return &Reader{s.Header, s, func() error { return nil }}, nil
}

// wholeOf returns the error of reading all of a history.
func wholeOf(r *Reader, err error) error {
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Run(&History{})
}

// A garbled byte anywhere gives an error that says where.
func TestContentGarbledOrCutOff(t *testing.T) {
	whole := content(t, saved())
	for at := 0; at < len(whole); at += soak.Pick(31, 1, 1) {
		if err := wholeOf(readContent(whole[:at])); !isFormatError(err, "h") {
			t.Fatalf("cut to %d of %d bytes: error %v", at, len(whole), err)
		}
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := wholeOf(readContent(b)); !isFormatError(err, "h") {
			t.Fatalf("byte %d garbled: error %v", at, err)
		}
	}
	if err := wholeOf(readContent(append(bytes.Clone(whole), 0))); !isFormatError(err, "h") {
		t.Errorf("a byte too many: error %v", err)
	}
}

// Content whose checksums are right gives an error if it is no valid history.
func TestStoredLies(t *testing.T) {
	for want, lie := range map[string]func(w *Writer){
		"earlier than": func(w *Writer) {
			w.Add(Event{At: 5})
			w.Add(Event{At: 4})
			w.Close(nil)
		},
		"of node 5, but there are 2 nodes": func(w *Writer) { w.Add(Event{Node: 5}); w.Close(nil) },
		"what node 7 left":                 func(w *Writer) { w.Close([]*NodeLog{{Node: 7}}) },
		"what node 0 left":                 func(w *Writer) { w.block(logBlock, make([]byte, 80)) },
		"cut off":                          func(w *Writer) { w.Add(Event{}); w.flush() },
		"counts 2":                         func(w *Writer) { w.Add(Event{}); w.count++; w.Close(nil) },
		"type 1":                           func(w *Writer) { w.block(headerBlock, make([]byte, headerLen)) },
		"type 9":                           func(w *Writer) { w.block(9, nil) },
		"has 41 bytes":                     func(w *Writer) { w.block(eventsBlock, make([]byte, 41)) },
	} {
		var b bytes.Buffer
		lie(NewWriter(&b, Header{Nodes: 2}))
		err := wholeOf(readContent(b.Bytes()))
		if !isFormatError(err, "h") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	for _, h := range []Header{{Nodes: maxNodes + 1}, {StampError: -1}} {
		var b bytes.Buffer
		NewWriter(&b, h).Close(nil)
		if err := wholeOf(readContent(b.Bytes())); !isFormatError(err, "h") {
			t.Errorf("%+v: error %v", h, err)
		}
	}
}

// A log may claim any number of words. Reading it takes no more memory than its bytes do.
func FuzzWords(f *testing.F) {
	for _, l := range saved().Logs {
		var w words
		w.log(l)
		f.Add(w.b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, l := words{b: b, reading: true}, &NodeLog{}
		if r.log(l); r.cutOff || len(r.b) > 0 {
			return
		}
		var w words
		if w.log(l); len(w.b) > len(b) {
			t.Fatalf("%d bytes were read from %d", len(w.b), len(b))
		}
	})
}
