package raft

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A testbed plays the testbed for the nodes: it delivers lines, fires timers and keeps disks.
type testbed struct {
	t      *testing.T
	names  []string
	values service.Values
	said   chan said
	latest map[string]said   // by node
	leads  map[uint64]string // by term

	mu     sync.Mutex
	inputs map[string]*io.PipeWriter // of the nodes that are up
	disks  map[string]json.RawMessage
	down   map[string]bool // by node: whether its output is dropped
	ended  sync.WaitGroup
}

// said is a report of a node: the leader that it follows, and the term.
type said struct {
	node, leader string
	term         uint64
}

func newTestbed(t *testing.T, n int, words ...string) *testbed {
	t.Helper()
	v, err := Service.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	b := &testbed{t: t, values: v, said: make(chan said, 10_000), latest: map[string]said{},
		leads: map[uint64]string{}, inputs: map[string]*io.PipeWriter{},
		disks: map[string]json.RawMessage{}, down: map[string]bool{}}
	for i := range n {
		b.names = append(b.names, fmt.Sprintf("n%d", i))
	}
	t.Cleanup(func() {
		for _, name := range b.names {
			b.stop(name)
		}
		b.ended.Wait()
	})
	return b
}

// start starts the program of a node.
func (b *testbed) start(name string) {
	in, input := io.Pipe()
	output, out := io.Pipe()
	b.mu.Lock()
	b.inputs[name], b.down[name] = input, false
	b.mu.Unlock()
	b.ended.Go(func() {
		defer out.Close()
		defer in.Close()
		if err := Service.Client(b.values, Service.Declare(b.values), in, out); err != nil {
			b.t.Errorf("%s: %v", name, err)
		}
	})
	b.ended.Go(func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			var l program.Line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				b.t.Error(err)
			}
			b.take(name, input, l)
		}
	})
	b.tell(input, name, program.Client, map[string]any{"type": "init", "node_id": name, "node_ids": b.names})
}

// stop ends the program of a node, as a kill does.
func (b *testbed) stop(name string) {
	delete(b.latest, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down[name] = true
	if input := b.inputs[name]; input != nil {
		input.Close()
		delete(b.inputs, name)
	}
}

func (b *testbed) tell(input *io.PipeWriter, name, src string, body any) {
	text, err := json.Marshal(map[string]any{"src": src, "dest": name, "body": body})
	if err != nil {
		b.t.Error(err)
	}
	go input.Write(append(text, '\n')) // in the background, since a pipe has no buffer
}

// take carries out a line.
func (b *testbed) take(name string, input *io.PipeWriter, l program.Line) {
	var body struct {
		Type   string
		Leader string
		Term   uint64
		MinMS  float64 `json:"min_ms"`
		Value  json.RawMessage
	}
	if err := json.Unmarshal(l.Body, &body); err != nil {
		b.t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.down[name]:
	case l.Dest == program.Client && body.Type == "elected":
		b.said <- said{name, body.Leader, body.Term}
	case l.Dest == program.Client:
	case l.Dest == program.Timer:
		time.AfterFunc(time.Duration(body.MinMS*float64(time.Millisecond)), func() {
			b.tell(input, name, program.Timer, map[string]any{"type": "timer", "id": tick})
		})
	case l.Dest == program.Disk && body.Type == "write":
		b.disks[name] = body.Value
	case l.Dest == program.Disk && b.disks[name] == nil:
		b.tell(input, name, program.Disk, map[string]any{"type": "error", "code": 20, "in_reply_to": 1})
	case l.Dest == program.Disk:
		b.tell(input, name, program.Disk, map[string]any{"type": "read_ok", "value": b.disks[name]})
	case b.inputs[l.Dest] != nil:
		b.tell(b.inputs[l.Dest], l.Dest, name, l.Body)
	}
}

// agree waits until these nodes follow the same leader in the same term, and returns the latest report of the
// first of them. It fails the test if two nodes lead in one term.
func (b *testbed) agree(names ...string) said {
	b.t.Helper()
	for late := time.After(10 * time.Second); ; {
		select {
		case s := <-b.said:
			b.latest[s.node] = s
			if s.node == s.leader {
				if other := b.leads[s.term]; other != "" && other != s.node {
					b.t.Fatalf("%s and %s lead in term %d", s.node, other, s.term)
				}
				b.leads[s.term] = s.node
			}
		case <-late:
			b.t.Fatalf("they do not agree: %v", b.latest)
		}
		first, all := b.latest[names[0]], true
		for _, name := range names {
			s := b.latest[name]
			all = all && s.leader != "" && s.leader == first.leader && s.term == first.term
		}
		if all && b.latest[first.leader].leader == first.leader {
			return first
		}
	}
}

// TestRaft lets three nodes elect a leader, and the other two a second leader when the first is killed. After
// a restart with its disk, the killed node follows the second leader.
func TestRaft(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{nil, {"pre-vote=off", "check-quorum=off"}} {
		t.Run(fmt.Sprint(words), func(t *testing.T) {
			t.Parallel()
			b := newTestbed(t, 3, append(words, "tick=10ms")...)
			for _, name := range b.names {
				b.start(name)
			}
			first := b.agree(b.names...)
			b.stop(first.leader)
			var others []string
			for _, name := range b.names {
				if name != first.leader {
					others = append(others, name)
				}
			}
			second := b.agree(others...)
			if second.term <= first.term {
				t.Errorf("the term was %d and then %d", first.term, second.term)
			}
			b.start(first.leader)
			if third := b.agree(first.leader, second.leader); third.term < second.term {
				t.Errorf("the term was %d and then %d", second.term, third.term)
			}
		})
	}
}

// TestTransfer lets a leader hand over to the next node, though nobody fails. If that node is down, the
// leader leads on in its term, and hands over to the third node.
func TestTransfer(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		t.Run(fmt.Sprint("down: ", down), func(t *testing.T) {
			t.Parallel()
			b := newTestbed(t, 3, "tick=10ms", "transfer=1s")
			for _, name := range b.names {
				b.start(name)
			}
			first := b.agree(b.names...)
			at := slices.Index(b.names, first.leader)
			heir, third := b.names[(at+1)%3], b.names[(at+2)%3]
			if down {
				b.stop(heir)
				heir = third
			}
			for next := first; next.leader != heir; {
				next = b.agree(first.leader, third)
				if next.term != first.term && (next.leader != heir || next.term != first.term+1) {
					t.Fatalf("after %s in term %d, %s leads in term %d, and not %s", first.leader, first.term,
						next.leader, next.term, heir)
				}
			}
		})
	}
}

// TestRestart restarts the only node: it comes up in a higher term than before, since it has kept its term.
func TestRestart(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, 1, "tick=5ms")
	var term uint64
	for range 3 {
		b.start("n0")
		if s := b.agree("n0"); s.term <= term {
			t.Errorf("the term was %d and then %d", term, s.term)
		} else {
			term = s.term
		}
		b.stop("n0")
		for len(b.said) > 0 {
			<-b.said // of the life before
		}
	}
}

// TestOptions checks that inconsistent options are refused.
func TestOptions(t *testing.T) {
	for _, words := range [][]string{{"election=3", "heartbeat=3"}, {"tick=0s"}, {"members=3"}} {
		if _, err := Service.Parse(words); err == nil {
			t.Errorf("it takes %v", words)
		}
	}
}
