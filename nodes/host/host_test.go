package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/internal/broker"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// A stage runs hosts in this process, over a real broker, and plays the orchestrator.
type stage struct {
	t      *testing.T
	broker *server.Server
	port   int        // of a broker that was stopped
	conn   *nats.Conn // for messages that the test makes up
	names  host.Subjects
	orders []*io.PipeWriter // by node
	notes  chan host.Note
	ends   []chan error
	dir    string
	total  int
}

// begin puts n clients on a stage and the servers that they need, and waits until all are up.
func begin(t *testing.T, algorithm string, n int, change func(*host.Config)) *stage {
	t.Helper()
	spec, err := mutex.Find(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return beginStack(t, stackOf(t, spec, n), change)
}

// stackOf returns the stack of one algorithm.
func stackOf(t *testing.T, spec *algorithm.Algorithm, n int) *algorithm.Stack {
	t.Helper()
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: spec, Config: nodes.Config{N: n}})
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// beginStack starts hosts of a stack, and a broker.
func beginStack(t *testing.T, stack *algorithm.Stack, change func(*host.Config)) *stage {
	t.Helper()
	broker, err := broker.Start(broker.Config{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Shutdown)
	conn, err := nats.Connect(broker.ClientURL(), nats.Token("secret"), nats.Timeout(host.JoinTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s := &stage{t: t, broker: broker, conn: conn, names: host.SubjectsOf("test"),
		notes: make(chan host.Note, 64), dir: t.TempDir()}
	resource := filepath.Join(s.dir, "resource")
	if err := host.CreateResource(resource, len(stack.Mutexes()), stack.N()); err != nil {
		t.Fatal(err)
	}
	anchor := host.DropAnchor()
	zero := anchor.Now()
	s.total = stack.Total()
	for id := range nodes.ID(s.total) {
		c := host.Config{Run: "test", URL: broker.ClientURL(), Token: "secret", Node: id, Zero: zero,
			Seed:     7,
			Workload: workload.Workload{Load: workload.Saturated}, Log: s.log(id), TraceLength: 256,
			Resource: resource, Saved: filepath.Join(s.dir, fmt.Sprintf("node-%d.saved", id))}
		if change != nil {
			change(&c)
		}
		end := make(chan error, 1)
		s.ends = append(s.ends, end)
		orders, toNode := io.Pipe()
		s.orders = append(s.orders, toNode)
		t.Cleanup(func() { toNode.Close() })
		go func() {
			end <- host.Run(c, stack.Stack, orders,
				noteWriter{host.NoteReader{On: func(n host.Note) { s.notes <- n }}})
		}()
	}
	for range s.total {
		s.note()
	}
	return s
}

// A noteWriter reads the notes of a node.
type noteWriter struct{ host.NoteReader }

func (w noteWriter) Write(b []byte) (int, error) { w.Sift(b); return len(b), nil }

func (s *stage) log(id nodes.ID) string { return filepath.Join(s.dir, fmt.Sprintf("node-%d.log", id)) }

func (s *stage) note() host.Note {
	s.t.Helper()
	select {
	case n := <-s.notes:
		return n
	case <-time.After(20 * time.Second):
		s.t.Fatal("no node has anything to say")
	}
	panic("unreachable")
}

// order gives an order to all nodes.
func (s *stage) order(o host.Order) {
	for id := range s.orders {
		s.tell(nodes.ID(id), o)
	}
}

// tell gives an order to one node.
func (s *stage) tell(id nodes.ID, o host.Order) {
	s.t.Helper()
	if err := json.NewEncoder(s.orders[id]).Encode(o); err != nil {
		s.t.Fatal(err)
	}
}

// issueLater has all nodes issue requests in a time that never comes.
func (s *stage) issueLater() { s.order(host.Order{Do: host.Issue, Begin: int64(1000 * time.Hour)}) }

// awaitRest waits until the sums of the counters say that all is over.
func (s *stage) awaitRest(entries uint64) {
	s.t.Helper()
	var counters []*history.InstanceCounters
	for id := range nodes.ID(s.total) {
		w, err := history.Watch(s.log(id))
		if err != nil {
			s.t.Fatal(err)
		}
		defer w.Close()
		for i := range w.Instances {
			counters = append(counters, &w.Instances[i])
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		var sent, delivered, exits uint64
		for _, c := range counters {
			exits += c.Exits.Load()
			delivered += c.Dropped.Load()
			for k := range c.Kinds {
				delivered += c.Kinds[k].Delivered.Load()
			}
		}
		for _, c := range counters {
			sent += c.Copied.Load()
			for k := range c.Kinds {
				sent += c.Kinds[k].Sent.Load()
			}
		}
		if exits == entries && sent == delivered {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%d entries, %d messages sent, %d delivered: not at rest", exits, sent, delivered)
		}
	}
}

// end has the nodes quit and reads their history.
func (s *stage) end() *history.History {
	s.t.Helper()
	s.order(host.Order{Do: host.Quit})
	for id, end := range s.ends {
		if err := s.wait(end); err != nil {
			s.t.Errorf("node %d: %v", id, err)
		}
	}
	h, err := history.Load(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

func (s *stage) wait(end chan error) error {
	select {
	case err := <-end:
		return err
	case <-time.After(20 * time.Second):
		s.t.Fatal("a node does not end")
	}
	return nil
}

func TestHostsRunAnAlgorithm(t *testing.T) {
	for _, test := range []struct {
		name, algorithm string
		change          func(*host.Config)
	}{
		{"plain", "ricart-agrawala", nil},
		{"server", "central", nil},
		{"multicast", "lamport", func(c *host.Config) { c.Multicast = true }},
		{"latency", "lamport", func(c *host.Config) {
			c.Shaper, _ = (&chaos.Network{Latency: chance.Constant(300 * time.Microsecond)}).Shaper(7, nil, nil, nil)
		}},
		{"hold", "maekawa", func(c *host.Config) { c.Workload.Hold = chance.Constant(50 * time.Microsecond) }},
		{"think", "suzuki-kasami", func(c *host.Config) {
			c.Workload.Load = workload.Closed
			c.Workload.Think.Set("exponential:200us")
		}},
		{"open", "ricart-agrawala", func(c *host.Config) {
			c.Workload.Load, c.Workload.Rate = workload.Open, 2000
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			const n, entries = 4, 60
			s := begin(t, test.algorithm, n, func(c *host.Config) {
				c.Entries = entries
				if test.change != nil {
					test.change(c)
				}
			})
			s.order(host.Order{Do: host.Issue, Begin: 1})
			s.awaitRest(entries)
			h := s.end()
			judge(t, h, entries)
			atATime := map[string]uint64{"multicast": n - 1}[test.name]
			published(t, h, test.algorithm, max(1, atATime))
		})
	}
}

// judge checks the witnesses itself, without package judge/check, which has the checks of real runs.
func judge(t *testing.T, h *history.History, entries int) {
	t.Helper()
	var entered, inside int
	for _, e := range h.Events {
		switch e.Kind {
		case history.Entered:
			if inside++; inside > 1 || e.Count != 1 || e.Value != int64(entered) {
				t.Fatalf("at entry %d, %d inside, the register shows %d and the account %d",
					entered, inside, e.Count, e.Value)
			}
			entered++
		case history.Exited:
			inside--
		}
	}
	if entered != entries {
		t.Errorf("%d entries, not %d", entered, entries)
	}
	for _, l := range h.Logs {
		if l.Totals.Gaps+l.Totals.Repeats != 0 {
			t.Errorf("node %d: %d gaps, %d repeats", l.Node, l.Totals.Gaps, l.Totals.Repeats)
		}
	}
}

// If a node is ordered to issue a request before it has begun, it starts its machines first.
func TestHostStartsBeforeItsFirstRequest(t *testing.T) {
	s := begin(t, "raymond", 3, func(c *host.Config) {
		c.Workload = workload.Workload{Load: workload.Sequential}
	})
	s.issueLater()
	s.tell(2, host.Order{Do: host.Ask})
	s.awaitRest(1)
	for _, l := range s.end().Logs {
		if want := uint64(l.Node) / 2; l.Sum().Entries != want {
			t.Errorf("node %d has %d entries, not %d", l.Node, l.Sum().Entries, want)
		}
	}
}

// A token that comes before the order to begin does not pass the node by.
func TestHostBeginsBeforeItHears(t *testing.T) {
	s := begin(t, "token-ring", 2, func(c *host.Config) { c.Workload.Hold = chance.Constant(time.Hour) })
	token := stamped([]byte{0, 0, 1}, 1) // of kind 0, from node 0, its message 1, after 1 hop
	if err := s.conn.Publish(s.names.Node(1), token); err != nil {
		t.Fatal(err)
	}
	s.conn.Flush()
	time.Sleep(20 * time.Millisecond) // as a rule it is there by then
	s.tell(1, host.Order{Do: host.Issue})
	inside := false
	for deadline := time.Now().Add(10 * time.Second); !inside && time.Now().Before(deadline); {
		s.tell(1, host.Order{Do: host.Report})
		inside = s.note().Status.Client == "inside"
	}
	if sent := s.end().Logs[1].Instance(0).Kind(0).Sent; !inside || sent != 0 {
		t.Fatalf("node 1 is inside: %v; it has sent %d tokens on before", inside, sent)
	}
}

// A node whose client waits says since when.
func TestStatusSaysSinceWhenAClientWaits(t *testing.T) {
	s := begin(t, "ricart-agrawala", 2, func(c *host.Config) { c.Workload.Hold = chance.Constant(time.Hour) })
	s.issueLater()
	for id, client := range []string{"inside", "waiting"} {
		s.tell(nodes.ID(id), host.Order{Do: host.Ask})
		status := &nodes.NodeStatus{}
		for deadline := time.Now().Add(20 * time.Second); status.Client != client; {
			if time.Now().After(deadline) {
				t.Fatalf("the client of node %d is %s, not %s", id, status.Client, client)
			}
			s.tell(nodes.ID(id), host.Order{Do: host.Report})
			status = s.note().Status
		}
		if waits := client == "waiting"; waits != (status.Since > 0) {
			t.Errorf("the client of node %d is %s since %v", id, client, time.Duration(status.Since))
		}
	}
	s.end()
}

// The open load stops issuing at its end, and every arrival that was due by then is on record.
func TestOpenLoadRecordsWhatItCouldNotIssue(t *testing.T) {
	const rate, end = 1000, 100 * time.Millisecond
	var config host.Config
	s := begin(t, "ricart-agrawala", 1, func(c *host.Config) {
		c.Workload = workload.Workload{Load: workload.Open, Rate: rate,
			Hold: chance.Constant(20 * time.Millisecond)}
		config = *c
	})
	anchor := host.DropAnchor()
	begun := anchor.Now() - config.Zero
	s.order(host.Order{Do: host.Issue, Begin: begun, End: begun + int64(end)})
	for {
		s.order(host.Order{Do: host.Report})
		if n := s.note(); n.Status != nil && n.Status.Client == "idle" &&
			anchor.Now()-config.Zero > begun+int64(2*end) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	var dues []int64
	for _, e := range s.end().Events {
		if e.Kind == history.Requested || e.Kind == history.Unissued {
			dues = append(dues, e.Value)
		}
	}
	want, due := 0, begun
	for count := uint64(1); ; count++ {
		due = config.Workload.Next(chance.Dice(config.Seed), 0, count, due, 0)
		if due >= begun+int64(end) {
			break
		}
		if want < len(dues) && dues[want] != due {
			t.Fatalf("arrival %d is on record as due at %d, not %d", count, dues[want], due)
		}
		want++
	}
	if len(dues) != want {
		t.Errorf("%d arrivals on record, not %d", len(dues), want)
	}
}

// unstamped is the time in the envelope of a message that no host sent: the run's zero.
const unstamped = "\x00\x00\x00\x00\x00\x00\x00\x00"

// stamped returns a message with the time in its envelope.
func stamped(envelope []byte, body ...byte) []byte {
	return slices.Concat(envelope, []byte(unstamped), body)
}

func TestHostRefusesGarbage(t *testing.T) {
	for _, test := range []struct{ name, message, says string }{
		{"empty", "", "no envelope"},
		{"garbled envelope", "\x00\xff", "garbled"},
		{"stranger", "\x00\x63\x01" + unstamped + "\x05", "node 99"},
		{"no such instance", "\x40\x01\x01\x00\x07" + unstamped + "\x05", "instance 7"},
		{"no such kind", "\x0f\x01\x01" + unstamped + "\x05", "no kind 15"},
		{"garbled message", "\x00\x01\x01" + unstamped, "request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := begin(t, "ricart-agrawala", 2, nil)
			if err := s.conn.Publish(s.names.Node(0), []byte(test.message)); err != nil {
				t.Fatal(err)
			}
			s.conn.Flush()
			if err := s.wait(s.ends[0]); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the host ends with %v, which does not say %q", err, test.says)
			}
			s.order(host.Order{Do: host.Quit})
			s.wait(s.ends[1])
		})
	}
}
