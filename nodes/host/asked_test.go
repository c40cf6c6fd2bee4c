package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/internal/broker"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// theBooks are a resource process, played by the process of the test.
type theBooks struct {
	*host.Books
	broker *server.Server
	conn   *nats.Conn
	asked  *nats.Subscription
	at     *host.Broker
}

// keep plays a resource process that keeps the resources of a stack.
func keep(t *testing.T, stack *algorithm.Stack, entries uint64) *theBooks {
	t.Helper()
	s, err := broker.Start(broker.Config{Token: "other secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	conn, err := nats.Connect("", nats.InProcessServer(s), nats.Token("other secret"), nats.Name("the books"),
		nats.Timeout(host.JoinTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var capacities []int
	for _, i := range stack.Mutexes() {
		capacities = append(capacities, stack.Instances()[i].Config.Capacity())
	}
	k := &theBooks{broker: s, conn: conn, at: &host.Broker{URL: s.ClientURL(), Token: "other secret"},
		Books: host.NewBooks(host.Share{Run: "test", Nodes: stack.N(), Capacities: capacities, Entries: entries})}
	if k.asked, err = k.Serve(conn); err != nil {
		t.Fatal(err)
	}
	return k
}

// asking starts hosts of a stack that ask a resource process.
func asking(t *testing.T, stack *algorithm.Stack, entries uint64, change func(*host.Config)) (*stage,
	*theBooks) {
	t.Helper()
	k := keep(t, stack, entries)
	return beginStack(t, stack, func(c *host.Config) {
		c.Entries, c.Resource, c.ResourceAt = entries, "", k.at
		if change != nil {
			change(c)
		}
	}), k
}

// silence has the process hear questions from now on, and answer none, as if it stood still.
func (k *theBooks) silence(t *testing.T) {
	t.Helper()
	_, err := k.conn.SubscribeSync(host.SubjectsOf("test").Resource())
	if err == nil {
		err = k.asked.Unsubscribe()
	}
	if err == nil {
		err = k.conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func stackNamed(t *testing.T, name string, n int) *algorithm.Stack {
	t.Helper()
	spec, err := mutex.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return stackOf(t, spec, n)
}

// Nodes that ask a resource process enter one after the other, with three round trips for each entry. They
// publish each message once, as they do without a resource process.
func TestNodesAskTheResourceProcess(t *testing.T) {
	const entries = 60
	for algorithm, n := range map[string]int{"ricart-agrawala": 4, "central": 3, "token-ring": 1} {
		s, k := asking(t, stackNamed(t, algorithm, n), entries, nil)
		s.order(host.Order{Do: host.Issue, Begin: 1})
		s.awaitRest(entries)
		s.answers(1)
		got := k.Tickets()
		h := s.end()
		judge(t, h, entries)
		if algorithm != "token-ring" {
			published(t, h, algorithm, 1)
		}
		var trips, ns uint64
		for _, l := range h.Logs {
			trips, ns = trips+l.Totals.RoundTrips, ns+l.Totals.RoundTripNS
		}
		if trips != 3*entries || ns == 0 {
			t.Errorf("%s: %d round trips for %d entries, and they took %d ns", algorithm, trips, entries, ns)
		}
		if got.Issued < entries || got.StoppedAt == 0 || got.LeftAt <= got.StoppedAt {
			t.Errorf("%s: the process knows of %+v", algorithm, got)
		}
	}
}

// A baton is a mutex of two nodes that pass a token. A client inside is revoked when its lease runs out.
type baton struct{ Has, Waits, Inside bool }

type batonPass struct{}

func (b *baton) Start(env *nodes.Env) { b.Has = env.Self() == 0 }

func (b *baton) Request(env *nodes.Env) { b.Waits = true; b.grant(env) }

func (b *baton) grant(env *nodes.Env) {
	switch {
	case b.Has && b.Waits:
		b.Waits, b.Inside = false, true
		env.Grant()
		env.SetTimer(nodes.Timer{}, 0, time.Millisecond)
	case b.Has:
		b.pass(env)
	}
}

func (b *baton) pass(env *nodes.Env) {
	b.Has, b.Inside = false, false
	env.StopTimer(nodes.Timer{})
	env.Send(1-env.Self(), batonPass{})
}

func (b *baton) Release(env *nodes.Env)                              { b.pass(env) }
func (b *baton) Timeout(env *nodes.Env, _ nodes.Timer)               { env.Revoke(); b.pass(env) }
func (b *baton) Receive(env *nodes.Env, _ nodes.ID, _ nodes.Message) { b.Has = true; b.grant(env) }

// A client that is revoked, in any step of its section, leaves the register before another node hears of the
// revocation: otherwise the register would show two inside.
func TestTheRegisterHearsOfRevocationsFirst(t *testing.T) {
	spec := toy("baton", func() nodes.Machine { return &baton{} }, batonPass{})
	stack := stackOf(t, spec, 2)
	s, _ := asking(t, stack, 0, func(c *host.Config) {
		c.Workload = workload.Workload{Load: workload.Saturated}
		c.Workload.Hold.Set("uniform:0s,500us")
	})
	s.order(host.Order{Do: host.Issue, Begin: 1, End: int64(400 * time.Millisecond)})
	time.Sleep(10 * time.Millisecond)
	s.answers(1)
	w, err := history.Watch(s.log(0))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	await(t, "the end of issuing", func() bool { return w.State.Load() == uint64(history.Draining) })
	s.rest(2)
	h := s.end()
	how := map[history.Kind]int{}
	for _, e := range h.Events {
		how[e.Kind]++
		if e.Kind == history.Entered && e.Count != 1 {
			t.Fatalf("node %d enters, and the register shows %d inside", e.Node, e.Count)
		}
	}
	if how[history.Revoked] < 10 || how[history.Exited] < 10 {
		t.Errorf("%d revoked and %d exited", how[history.Revoked], how[history.Exited])
	}
	setting := check.SettingOf(stack)
	setting.Asked, setting.Real = true, true
	for _, f := range check.Judge(h, setting).Findings {
		if f.Outcome == check.Violated || strings.Contains(f.Says, "leaves without") {
			t.Errorf("%s: %s", f.Check, f.Says)
		}
	}
}

// A node that loses its connection to the process repeats its open questions. Each is answered once.
func TestQuestionsOutliveTheirConnection(t *testing.T) {
	const entries = 300
	s, k := asking(t, stackNamed(t, "ricart-agrawala", 3), entries, nil)
	s.order(host.Order{Do: host.Issue, Begin: 1})
	cuts := 0
	w, err := history.Watch(s.log(0))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for last := uint64(0); last < 30; last = w.Instances[0].Exits.Load() {
		list, err := k.broker.Connz(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Conns {
			if strings.HasPrefix(c.Name, "node ") && k.broker.DisconnectClientByID(c.Cid) == nil {
				cuts++
			}
		}
		await(t, "an entry", func() bool { return w.Instances[0].Exits.Load() > last })
	}
	s.awaitRest(entries)
	h := s.end()
	judge(t, h, entries)
	if cuts < 10 {
		t.Errorf("only %d connections were cut", cuts)
	}
}

// While a question is unanswered, the run is not at rest, but the node still obeys orders.
func TestOpenQuestions(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*stage)
	}{
		{"quit", func(*stage) {}},
		{"park", func(s *stage) { s.order(host.Order{Do: host.Park}) }},
		{"end", func(s *stage) { s.order(host.Order{Do: host.End, End: 1}) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, k := asking(t, stackNamed(t, "token-ring", 1), 0, nil)
			k.silence(t)
			s.order(host.Order{Do: host.Issue, Begin: 1})
			w, err := history.Watch(s.log(0))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			await(t, "a question", func() bool { return w.Pending.Load() == 1 })
			test.do(s)
			h := s.end()
			if sum := h.Logs[0].Sum(); sum.Requests != 1 || sum.Entries != 0 {
				t.Errorf("%d requests and %d entries", sum.Requests, sum.Entries)
			}
		})
	}
}

// A node ends with an error if the process takes it for dead, or does not know its run.
func TestNodesThatTheResourceRefuses(t *testing.T) {
	for says, refuse := range map[string]func(*theBooks) error{
		"takes this node for dead": func(k *theBooks) error { return k.TakeOut(0, 0) },
		"does not know this run":   func(k *theBooks) error { return k.asked.Drain() },
	} {
		s, k := asking(t, stackNamed(t, "token-ring", 1), 0, func(c *host.Config) {
			c.Workload.Hold = chance.Constant(time.Millisecond)
		})
		s.order(host.Order{Do: host.Issue, Begin: 1})
		if err := refuse(k); err != nil {
			t.Fatal(err)
		}
		if err := s.wait(s.ends[0]); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it ends with %v, which does not say %q", err, says)
		}
	}
}
