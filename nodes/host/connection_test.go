package host_test

import (
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"turnstile/internal/broker"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A flooder broadcasts many messages each millisecond, and sends each to its successor too. It pauses while
// its peers are far behind: a node whose inbox is full ends with an error.
type flooder struct {
	sent, ticks uint64
	heard       []uint64 // the latest number from each node
}

type flood struct{ Sent uint64 }

// ahead is how much higher the number of a flooder may be than the lowest of the numbers that it has heard.
// An inbox has space for at least 4096 messages.
const ahead = 300

func (f *flooder) Start(env *nodes.Env) {
	f.heard = make([]uint64, env.N())
	f.again(env)
}

func (f *flooder) again(env *nodes.Env) {
	env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
}

func (f *flooder) Timeout(env *nodes.Env, _ nodes.Timer) {
	f.heard[env.Self()] = f.sent
	for range 30 {
		if f.sent < slices.Min(f.heard)+ahead {
			f.flood(env)
		}
	}
	if f.ticks++; f.ticks%10 == 0 { // even if ahead: messages that bring newer numbers may be lost
		f.flood(env)
	}
	f.again(env)
}

func (f *flooder) flood(env *nodes.Env) {
	f.sent++
	env.Broadcast(flood{f.sent})
	env.Send(nodes.ID((int(env.Self())+1)%env.N()), flood{f.sent})
}

func (f *flooder) Receive(_ *nodes.Env, from nodes.ID, m nodes.Message) {
	f.heard[from] = m.(flood).Sent
}

// flooders starts hosts that reconnect, and returns the watched counters of their logs.
func flooders(t *testing.T, n int, change func(*host.Config)) (*stage, []*history.Watched) {
	t.Helper()
	spec := toy("flooder", func() nodes.Machine { return &flooder{} }, flood{})
	s := beginStack(t, stackOf(t, spec, n), func(c *host.Config) {
		c.Reconnect = true
		if change != nil {
			change(c)
		}
	})
	var watched []*history.Watched
	for id := range nodes.ID(n) {
		w, err := history.Watch(s.log(id))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		watched = append(watched, w)
	}
	s.order(host.Order{Do: host.Issue, Begin: 1})
	return s, watched
}

// await waits until the function is returns true; what says in the error what was awaited.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// awaitMore waits until every node has handled hundreds of messages more.
func awaitMore(t *testing.T, watched []*history.Watched) {
	t.Helper()
	for _, w := range watched {
		delivered := &w.Instances[0].Kinds[0].Delivered
		before := delivered.Load()
		await(t, "messages", func() bool { return delivered.Load() > before+500 })
	}
}

// answers orders all nodes to report, and waits until each has answered.
func (s *stage) answers(round int) {
	s.t.Helper()
	s.order(host.Order{Do: host.Report, Round: round})
	for missing := s.total; missing > 0; {
		if s.note().Round == round {
			missing--
		}
	}
}

// rest parks the nodes, and waits until all messages have arrived that were not lost.
func (s *stage) rest(round int) {
	s.t.Helper()
	s.order(host.Order{Do: host.Park})
	s.answers(round)
	s.answers(round + 1)
}

// account checks that each message that was sent was either handled or lost with a connection.
func account(t *testing.T, h *history.History) (explained, refused uint64) {
	t.Helper()
	var sent, delivered uint64
	for _, l := range h.Logs {
		sum := l.Sum()
		sent, delivered = sent+sum.Kinds[0].Sent, delivered+sum.Kinds[0].Delivered
		explained, refused = explained+l.Totals.Explained, refused+l.Totals.Refused
		if l.Totals.Gaps+l.Totals.Repeats > 0 {
			t.Errorf("node %d: %d gaps that nothing explains, %d repeats", l.Node, l.Totals.Gaps, l.Totals.Repeats)
		}
		for _, to := range h.Logs {
			if l == to {
				continue
			}
			if sent, got := l.SentTo[to.Node], to.ReceivedFrom[l.Node]; sent != got || sent < l.Floor[to.Node] {
				t.Errorf("%d -> %d: %d sent and %d received, with a floor of %d", l.Node, to.Node, sent, got,
					l.Floor[to.Node])
			}
		}
	}
	if sent != delivered+explained || refused > explained {
		t.Errorf("%d messages were sent, %d handled, %d explained, %d of them refused", sent, delivered, explained,
			refused)
	}
	return explained, refused
}

// A broker ends while hundreds of messages are on their way, and comes back. Nothing is sent late, and
// exactly the messages that were lost count as explained.
func TestHostsOutliveTheirBroker(t *testing.T) {
	for name, multicast := range map[string]bool{"links": false, "multicast": true} {
		t.Run(name, func(t *testing.T) {
			s, watched := flooders(t, 3, func(c *host.Config) { c.Multicast = multicast })
			for outage := range uint64(2) {
				awaitMore(t, watched)
				s.stopBroker()
				for _, w := range watched {
					await(t, "the loss is noticed", func() bool { return w.Disconnects.Load() == outage+1 })
					refused := w.Refused.Load()
					await(t, "messages are refused", func() bool { return w.Refused.Load() > refused+100 })
				}
				s.tell(0, host.Order{Do: host.Report, Round: 99}) // which is never answered
				s.startBroker()
				for _, w := range watched {
					await(t, "all are connected", func() bool { return w.Reconnects.Load() == outage+1 })
				}
				s.answers(int(outage) + 1)
				s.order(host.Order{Do: host.Restored, Round: int(outage) + 1})
			}
			awaitMore(t, watched)
			s.rest(10)
			h := s.end()
			account(t, h)
			var events []history.Event
			for _, e := range h.Events {
				if e.Node == 1 && e.Kind != history.Lagged {
					events = append(events, history.Event{Kind: e.Kind, Count: e.Count})
				}
			}
			want := []history.Event{{Kind: history.Disconnected, Count: 1}, {Kind: history.Reconnected, Count: 1},
				{Kind: history.Disconnected, Count: 2}, {Kind: history.Reconnected, Count: 2}}
			if len(events) != len(want) {
				t.Fatalf("node 1 has recorded %+v", events)
			}
			for i := range want {
				if events[i] != want[i] {
					t.Errorf("node 1 has recorded %+v", events)
				}
			}
		})
	}
}

func (s *stage) stopBroker() {
	s.t.Helper()
	address, err := url.Parse(s.broker.ClientURL())
	if err != nil {
		s.t.Fatal(err)
	}
	if s.port, err = strconv.Atoi(address.Port()); err != nil {
		s.t.Fatal(err)
	}
	s.broker.Shutdown()
	s.broker.WaitForShutdown()
}

func (s *stage) startBroker() {
	var err error
	if s.broker, err = broker.Start(broker.Config{Token: "secret", Port: s.port}); err != nil {
		s.t.Error(err)
		return
	}
	s.t.Cleanup(s.broker.Shutdown)
}

// Only streams to and from a node whose connection is reset lose messages.
func TestOneConnectionIsReset(t *testing.T) {
	var way *stretch
	s, watched := flooders(t, 3, func(c *host.Config) {
		if c.Node == 1 {
			way = stretchTo(t, c.URL)
			c.URL = "nats://" + way.Addr().String()
		}
	})
	const resets = 3
	for i := range uint64(resets) {
		awaitMore(t, watched)
		s.order(host.Order{Do: host.Outage})
		for _, w := range watched {
			await(t, "orders are obeyed", func() bool { return w.Instances[0].Obeyed.Load() == 1+3*i+1 })
		}
		(<-way.near).Close()
		await(t, "node 1 is connected", func() bool { return watched[1].Reconnects.Load() == i+1 })
		s.answers(int(i) + 1)
		s.order(host.Order{Do: host.Restored, Round: int(i) + 1})
	}
	awaitMore(t, watched)
	s.rest(10)
	h := s.end()
	account(t, h)
	for _, l := range h.Logs {
		if reset := l.Node == 1; (l.Totals.Disconnects == resets) != reset || l.Totals.Refused > 0 && !reset {
			t.Errorf("node %d: %+v", l.Node, l.Totals)
		}
	}
}

// A node that comes up while its broker is away connects to it once the broker is back.
func TestANodeComesUpBeforeItsBroker(t *testing.T) {
	s := begin(t, "ricart-agrawala", 1, func(c *host.Config) {
		c.Reconnect = true
		away := &stage{t: t}
		away.startBroker()
		c.URL = away.broker.ClientURL()
		away.stopBroker()
		time.AfterFunc(50*time.Millisecond, away.startBroker)
	})
	for _, l := range s.end().Logs {
		if l.Totals.Disconnects+l.Totals.Reconnects > 0 {
			t.Errorf("it has counted %+v", l.Totals)
		}
	}
}

// Where brokers are cut off from each other, no connection is lost, but messages are.
func TestPartedBrokersExplainTheNextGap(t *testing.T) {
	s := begin(t, "ricart-agrawala", 2, func(c *host.Config) { c.Reconnect = true })
	s.issueLater()
	w, err := history.Watch(s.log(0))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	say := func(seq byte) { // node 1 sends a reply to a request that was never made, which is ignored
		t.Helper()
		handled := w.Instances[0].Kinds[1].Delivered.Load()
		if err := s.conn.Publish(s.names.Node(0), stamped([]byte{1, 1, seq}, 99)); err != nil {
			t.Fatal(err)
		}
		await(t, "the message", func() bool { return w.Instances[0].Kinds[1].Delivered.Load() > handled })
	}
	say(1)
	say(3)
	s.order(host.Order{Do: host.Outage})
	s.order(host.Order{Do: host.Parted})
	await(t, "orders", func() bool { return w.Instances[0].Obeyed.Load() == 3 })
	say(9)
	say(13)
	if got := s.end().Logs[0].Totals; got.Explained != 5 || got.Gaps != 4 || got.Disconnects != 0 {
		t.Errorf("%d messages are explained, not 5, and %d are not, instead of 4", got.Explained, got.Gaps)
	}
}
