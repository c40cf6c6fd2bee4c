package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/soak"
	"turnstile/nodes"
)

func isFormatError(err error, file string) bool {
	var f *formatError
	return errors.As(err, &f) && f.File == file && f.Offset >= 0 && strings.Contains(err.Error(), file)
}

// smallLog returns the bytes of a closed log of three events, and where its events begin.
func smallLog(t testing.TB) (b []byte, events int) {
	path := filepath.Join(t.TempDir(), "1.log")
	writeLog(t, path, Options{Node: 1, Nodes: 2, TraceLength: 4}, 3, true)
	return must(os.ReadFile(path))(t), int((&preamble{nodes: 2, trace: 4}).headerLen())
}

func TestTruncatedAnywhere(t *testing.T) {
	b, _ := smallLog(t)
	for length := 0; length < len(b); length += soak.Pick(31, 7, 1) {
		_, err := decodeBytes("1.log", b[:length])
		if !isFormatError(err, "1.log") {
			t.Fatalf("cut to %d of %d bytes: error %v", length, len(b), err)
		}
		if at := err.(*formatError).Offset; at > int64(length) {
			t.Fatalf("cut to %d bytes: error at %d", length, at)
		}
	}
}

func TestTornTail(t *testing.T) {
	whole, events := smallLog(t)
	path := filepath.Join(t.TempDir(), "1.log")
	writeLog(t, path, Options{Node: 1, Nodes: 2, TraceLength: 4}, 3, false)
	torn := must(os.ReadFile(path))(t)
	want := must(decodeBytes("", whole))(t)
	for cut := 0; cut < EventLen; cut++ {
		b := slices.Clone(torn)
		e := event(1, 3)
		putEvent(b[events+3*EventLen:], 3, &e)
		clear(b[events+3*EventLen+cut : events+4*EventLen])
		got, err := decodeBytes("1.log", b)
		if cut <= EventLen-4 {
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("a tail of %d bytes: %v %s", cut, err, diff)
			}
		}
	}
	b := slices.Clone(torn)
	copy(b[events+5*EventLen:], whole[events:events+EventLen])
	if _, err := decodeBytes("1.log", b); !isFormatError(err, "1.log") {
		t.Errorf("an event after a hole: error %v", err)
	}
}

func TestGarbled(t *testing.T) {
	whole, events := smallLog(t)
	step := soak.Pick(31, 1, 1)
	for at := 0; at < len(whole); at += step {
		if at >= preambleLen+int(countersLen) && at < events-500 {
			at += 500 // larger steps: each try sums the whole header
		}
		for bit := range 8 {
			b := slices.Clone(whole)
			b[at] ^= 1 << bit
			_, err := decodeBytes("1.log", b)
			if !isFormatError(err, "1.log") {
				t.Fatalf("bit %d of byte %d garbled: error %v", bit, at, err)
			}
			if got := err.(*formatError).Offset; at >= events && got != int64(events+(at-events)/EventLen*EventLen) {
				t.Fatalf("byte %d garbled: error at %d", at, got)
			}
		}
	}
	swapped := slices.Clone(whole)
	copy(swapped[events:], whole[events+EventLen:events+2*EventLen])
	copy(swapped[events+EventLen:], whole[events:events+EventLen])
	if _, err := decodeBytes("1.log", swapped); !isFormatError(err, "1.log") {
		t.Errorf("two events swapped: error %v", err)
	}
}

func TestEventsOfALogAreInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.log")
	l := must(Create(path, Options{Node: 1, Nodes: 2}))(t)
	for _, at := range []int64{5, 5, 4} {
		if err := l.Append(Event{At: at, Kind: Requested}); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	_, err := Load(filepath.Dir(path))
	if !isFormatError(err, path) || !strings.Contains(err.Error(), "earlier") {
		t.Errorf("error %v", err)
	}
}

// Merging puts events in the order of time, and events of one time in the order of their logs.
func TestMergeIsAStableSort(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		var want []Event
		count := 1 + r.IntN(8)
		for node := range count {
			l := must(Create(filepath.Join(dir, fmt.Sprintf("%d.log", 9-node)),
				Options{Node: nodes.ID(node), Nodes: count}))(t)
			at := int64(0)
			for i := range r.IntN(20) {
				at += r.Int64N(3)
				e := Event{At: at, Kind: Requested, Node: nodes.ID(node), Entry: uint32(i)}
				want = append(want, e)
				if err := l.Append(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b Event) int { return int(a.At - b.At) })
		if diff := cmp.Diff(want, must(Load(dir))(t).Events); diff != "" {
			t.Fatalf("seed %d: -want +got:\n%s", seed, diff)
		}
	}
}

type gather struct {
	events []Event
	closed int
}

func (g *gather) Add(e Event)      { g.events = append(g.events, e) }
func (g *gather) Close([]*NodeLog) { g.closed++ }

func TestRunFeedsEveryFold(t *testing.T) {
	h := &History{Logs: []*NodeLog{{}}, Events: []Event{{At: 1}, {At: 2}, {At: 3}}}
	var a, b gather
	h.Run(&a, &b)
	if len(a.events) != 3 || a.closed != 1 || !slices.Equal(a.events, b.events) || b.closed != 1 {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestHeader(t *testing.T) {
	for want, bounds := range map[int64][]int64{0: nil, 5: {5}, 9: {4, 5}, 10: {5, 1, 5, 2}} {
		h := &History{}
		for _, e := range bounds {
			h.Logs = append(h.Logs, &NodeLog{StampError: e})
		}
		if got := h.Header().StampError; got != want {
			t.Errorf("%v: %d, want %d", bounds, got, want)
		}
	}
	mapped := &NodeLog{Node: 1, SentTo: make([]uint64, 5)}
	for want, logs := range map[int][]*NodeLog{
		0: {{Node: nodes.None}},
		3: {{Node: nodes.None}, {Node: 0}, {Node: 1}, {Node: 2}},
		5: {{Node: nodes.None}, mapped}, // the others died before they had logs
	} {
		if got := (&History{Logs: logs}).Header().Nodes; got != want {
			t.Errorf("%d nodes, not %d", got, want)
		}
	}
}

func FuzzDecodeLog(f *testing.F) {
	b, events := smallLog(f)
	f.Add(b[:preambleLen], []byte{}, []byte{}, uint8(0), uint8(0))
	f.Add([]byte{}, b[preambleLen:preambleLen+100], b[events:], uint8(2), uint8(4))
	// This preamble claims more nodes and messages than there are bytes, and has a right checksum.
	greedy := make([]byte, preambleLen)
	p := preamble{node: 1, nodes: maxNodes - 1, trace: maxTrace - 1}
	p.header = p.headerLen()
	p.put(greedy)
	f.Add(greedy, []byte{1}, []byte{}, uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, start, counters, events []byte, nodeCount, trace uint8) {
		if len(start) < preambleLen { // a random preamble never has a right checksum
			p := preamble{nodes: uint32(nodeCount) + 1, trace: uint32(trace)}
			p.header = p.headerLen()
			start = make([]byte, p.header)
			p.put(start)
			copy(start[preambleLen:], counters)
		}
		b := append(start, events...)
		l, err := decodeBytes("f", b)
		if err != nil && !isFormatError(err, "f") {
			t.Fatal(err)
		}
		if err == nil && 8*len(l.SentTo)+messageRecordLen*len(l.Trace)+EventLen*len(l.Events) > len(b) {
			t.Fatalf("%d bytes hold %d nodes, %d messages, %d events",
				len(b), len(l.SentTo), len(l.Trace), len(l.Events))
		}
	})
}
