package history

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"turnstile/nodes"
)

// event returns the i-th event of a made-up node; its fields differ from each other, and from event to event.
func event(node nodes.ID, i int) Event {
	return Event{
		At: int64(i) * 1000, Value: -int64(i), Fence: uint64(i) << 40, Entry: uint32(i + 1), Count: uint32(i) << 8,
		Instance: uint16(i % 7), Kind: Kind(1 + i%5), Node: node,
	}
}

func messageRecord(node nodes.ID, i int) MessageRecord {
	return MessageRecord{
		At: int64(i), Seq: uint32(i) + 7, Node: node, Peer: nodes.ID(i%3) - 1,
		Instance: uint16(i) + 1, Kind: uint8(i) | 0x80, Sent: i%2 == 0, Asks: i%4 == 0,
	}
}

// writeLog writes a log of count events, and closes it unless it is to look as if its writer died.
func writeLog(t testing.TB, path string, o Options, count int, close bool) {
	t.Helper()
	l := must(Create(path, o))(t)
	for i := range count {
		if err := l.Append(event(o.Node, i)); err != nil {
			t.Fatal(err)
		}
	}
	if o.Instances > 0 {
		l.Instance(0).Requests.Store(42)
	}
	if o.Nodes > 0 {
		l.SentTo(0).Add(3)
		l.ReceivedFrom(0).Add(4)
		l.MulticastFrom(0).Add(5)
		l.Floor(0).Add(6)
	}
	for i := range o.TraceLength / 2 {
		l.Trace(messageRecord(o.Node, i))
	}
	if close {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// must returns a function that returns v. The function fails the test given to it if err is not nil.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A wholeLog is all that a log holds.
type wholeLog struct {
	NodeLog
	Events []Event
}

func decodeBytes(name string, b []byte) (*wholeLog, error) {
	l, err := newLogReader(name, int64(len(b)), bytes.NewReader(b), pageLen)
	if err != nil {
		return nil, err
	}
	whole := &wholeLog{NodeLog: l.NodeLog}
	for {
		switch more, err := l.next(); {
		case err != nil:
			return nil, err
		case !more:
			return whole, nil
		}
		whole.Events = append(whole.Events, l.event)
	}
}

func readLog(t testing.TB, path string) *wholeLog {
	t.Helper()
	return must(decodeBytes(path, must(os.ReadFile(path))(t)))(t)
}

func TestAppendAndReadBack(t *testing.T) {
	const perChunk = pageLen / EventLen
	for _, count := range []int{0, 1, perChunk - 1, perChunk, perChunk + 1, 3*perChunk + 5} {
		for _, closed := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), "2.log")
			o := Options{Node: 2, Nodes: 3, Instances: 2, TraceLength: 8, StampError: 1 << 40}
			writeLog(t, path, o, count, closed)
			want := &wholeLog{NodeLog: NodeLog{
				Node: 2, StampError: 1 << 40,
				SentTo: []uint64{3, 0, 0}, ReceivedFrom: []uint64{4, 0, 0}, MultiFrom: []uint64{5, 0, 0},
				Floor: []uint64{6, 0, 0}}}
			want.Instances, want.Totals.TraceNext = []InstanceTotals{{Requests: 42}, {}}, 4
			want.Totals.EventCount = uint64(count)
			for i := range count {
				want.Events = append(want.Events, event(2, i))
			}
			for i := range 4 {
				want.Trace = append(want.Trace, messageRecord(2, i))
			}
			if diff := cmp.Diff(want, readLog(t, path)); diff != "" {
				t.Errorf("%d events, closed=%v: -want +got:\n%s", count, closed, diff)
			}
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.log")
	writeLog(t, there, Options{Nodes: 1}, 0, true)
	for name, o := range map[string]Options{
		"a file that exists":     {Nodes: 1},
		"a node out of range":    {Node: 3, Nodes: 3},
		"no such node":           {Node: -2, Nodes: 3},
		"too many nodes":         {Nodes: 1 << 24},
		"a negative trace":       {Nodes: 1, TraceLength: -1},
		"too many instances":     {Nodes: 1, Instances: maxInstances + 1},
		"a negative stamp error": {Nodes: 1, StampError: -1},
	} {
		path := filepath.Join(dir, "new.log")
		if name == "a file that exists" {
			path = there
		}
		if _, err := Create(path, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := os.Stat(there); err != nil {
		t.Errorf("what was there before is gone: %v", err)
	}
}

func TestTraceKeepsTheLatest(t *testing.T) {
	const size = 8
	for _, count := range []int{0, 1, size - 1, size, size + 1, 5*size + 3} {
		path := filepath.Join(t.TempDir(), "0.log")
		l := must(Create(path, Options{Nodes: 1, TraceLength: size}))(t)
		var want []MessageRecord
		for i := range count {
			l.Trace(messageRecord(0, i))
			want = append(want, messageRecord(0, i))
		}
		want = want[max(0, count-(size-1)):]
		if diff := cmp.Diff(want, readLog(t, path).Trace, cmp.Transformer("none", noneIfEmpty)); diff != "" {
			t.Errorf("%d messages: -want +got:\n%s", count, diff)
		}
		l.Close()
	}
}

func noneIfEmpty(p []MessageRecord) string {
	if len(p) == 0 {
		return ""
	}
	return cmp.Diff(nil, p)
}

func TestTraceFreezes(t *testing.T) {
	var frozen atomic.Int64
	path := filepath.Join(t.TempDir(), "0.log")
	l := must(Create(path, Options{Nodes: 1, TraceLength: 4, Frozen: &frozen}))(t)
	defer l.Close()
	l.Trace(messageRecord(0, 1))
	frozen.Store(1)
	for i := range 10 {
		l.Trace(messageRecord(0, 100+i))
	}
	if diff := cmp.Diff([]MessageRecord{messageRecord(0, 1)}, readLog(t, path).Trace); diff != "" {
		t.Errorf("a frozen trace changed: -want +got:\n%s", diff)
	}
	frozen.Store(0)
	l.Trace(messageRecord(0, 2))
	if got := len(readLog(t, path).Trace); got != 2 {
		t.Errorf("a thawed trace holds %d messages, want 2", got)
	}
}

// watched are the counters for watching a run, which are not stored.
var watched = map[string]bool{"Pending": true, "Timeouts": true, "GaveUp": true, "Obeyed": true}

// eachWord calls do for each word of a struct or array, except padding and the fields in watched.
func eachWord(v reflect.Value, name string, do func(name string, word any)) {
	switch v.Kind() {
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			eachWord(v.Index(i), name, do)
		}
	case reflect.Struct:
		if count, is := v.Addr().Interface().(*atomic.Uint64); is {
			do(name, count)
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i).Name; field != "_" && !watched[field] {
				eachWord(v.Field(i), field, do)
			}
		}
	default:
		do(name, v.Interface())
	}
}

// Totals are read from the bytes of counters: each word must be found under the name that it was counted by.
func TestTotalsAreWhatWasCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	l := must(Create(path, Options{Nodes: 1, Instances: 2}))(t)
	defer l.Close()
	type word struct {
		name  string
		value uint64
	}
	var counted, found []word
	for _, counters := range []any{l.Counters, &l.instances, &l.Late} {
		eachWord(reflect.ValueOf(counters).Elem(), "", func(name string, count any) {
			if name == "EventCount" { // there are no events
				counted = append(counted, word{name, 0})
				return
			}
			counted = append(counted, word{name, uint64(len(counted) + 1)})
			count.(*atomic.Uint64).Store(uint64(len(counted)))
		})
	}
	log := readLog(t, path)
	for _, totals := range []any{&log.Totals, &log.Instances, &log.Late} {
		eachWord(reflect.ValueOf(totals).Elem(), "", func(name string, value any) {
			found = append(found, word{name, value.(uint64)})
		})
	}
	if diff := cmp.Diff(counted, found, cmp.AllowUnexported(word{})); diff != "" {
		t.Errorf("-counted +found:\n%s", diff)
	}
}

func TestLatenessBuckets(t *testing.T) {
	for bucket := range LatenessBuckets {
		low := latenessOf(bucket)
		if got := LatenessBucket(low); got != bucket {
			t.Fatalf("bucket %d begins at %d ns, which is in bucket %d", bucket, low, got)
		}
		if bucket > 0 && LatenessBucket(low-1) != bucket-1 {
			t.Fatalf("%d ns is in bucket %d, want %d", low-1, LatenessBucket(low-1), bucket-1)
		}
	}
	for _, ns := range []int64{-1 << 63, -1, 0} {
		if got := LatenessBucket(ns); got != 0 {
			t.Errorf("%d ns is in bucket %d, want 0", ns, got)
		}
	}
	if got := LatenessBucket(1<<63 - 1); got != LatenessBuckets-1 {
		t.Errorf("the longest lateness is in bucket %d", got)
	}
	for range 10000 {
		ns := rand.Int64N(1 << (1 + rand.IntN(38)))
		if low := latenessOf(LatenessBucket(ns)); low > ns || ns-low > ns/8 {
			t.Fatalf("%d ns is in the bucket from %d ns", ns, low)
		}
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	l := must(Create(path, Options{Nodes: 1, Instances: 2, TraceLength: 4}))(t)
	c := must(Watch(path))(t)
	l.State.Store(uint64(Draining))
	l.Instance(1).Kinds[3].Sent.Add(7)
	if err := l.Append(event(0, 0)); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		sent := c.Instances[1].Kinds[3].Sent.Load()
		if c.State.Load() != uint64(Draining) || sent != 7 || c.EventCount.Load() != 1 {
			t.Errorf("watched state %d, sent %d, events %d", c.State.Load(), sent, c.EventCount.Load())
		}
	}
	check()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check() // counters stay readable after the log is closed
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Watch refuses a file that is not a log yet: reading beyond the end of the file would kill the watcher.
func TestWatchComesTooEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	if _, err := Watch(path); err == nil {
		t.Error("a file that does not exist: no error")
	}
	for _, size := range []int64{0, 10, 2 * pageLen} {
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Watch(path); !isFormatError(err, path) {
			t.Errorf("a file of %d zeros: error %v", size, err)
		}
	}
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	j := must(CreateJournal(filepath.Join(dir, "orchestrator.log"), 9, 5))(t)
	for _, err := range []error{
		j.Mark(10, Began), j.Gauge(20, ReadyUS, 99), j.Settle(19, 3, 12), j.Mark(40, Rested),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Mark(50, Interrupted); err == nil {
		t.Error("a closed journal takes marks")
	}
	h := must(Load(dir))(t)
	want := []Event{
		{At: 10, Kind: Marked, Count: Began, Node: nodes.None},
		{At: 20, Kind: Gauged, Count: ReadyUS, Value: 99, Node: nodes.None},
		{At: 20, Kind: Settled, Count: 3, Value: 12, Node: nodes.None},
		{At: 40, Kind: Marked, Count: Rested, Node: nodes.None},
	}
	if diff := cmp.Diff(want, h.Events); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReservedIsWhatANewLogTakes(t *testing.T) {
	for _, o := range []Options{{Node: nodes.None}, {Nodes: 1, TraceLength: 4096},
		{Node: 3, Nodes: 9000, Instances: 3, TraceLength: 256}} {
		path := filepath.Join(t.TempDir(), "a.log")
		l := must(Create(path, o))(t)
		if info := must(os.Stat(path))(t); info.Size() != o.Reserved() {
			t.Errorf("%+v: the log takes %d bytes, not %d", o, info.Size(), o.Reserved())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A shadow takes over the counters, word for word, and does not read the bytes after its snapshot.
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
		t.Error("counters of two instances are taken for one instance's")
	}
}
