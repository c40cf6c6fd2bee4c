package cluster

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
	"turnstile/internal/proc"
	"turnstile/internal/soak"
	"turnstile/nodes/host"
)

// join connects to a broker as nodes do.
func join(t *testing.T, b *Brokers, i int) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(b.URL(i), nats.Token(b.Token()), nats.NoReconnect(),
		nats.Timeout(host.JoinTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// hearers connect a client to each broker, and subscribe it to its own subject.
func hearers(t *testing.T, b *Brokers) (conns []*nats.Conn, subs []*nats.Subscription) {
	t.Helper()
	want := make([]int, b.Count())
	for i := range b.Count() {
		conn := join(t, b, i)
		sub, err := conn.SubscribeSync(fmt.Sprint("to.", i))
		if err == nil {
			err = conn.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		conns, subs, want[i] = append(conns, conn), append(subs, sub), b.Count()
	}
	if err := b.AwaitSubscriptions(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	return conns, subs
}

// passes reports whether a message from a client of one broker reaches a client of another within a time.
func passes(t *testing.T, conns []*nats.Conn, subs []*nats.Subscription, from, to int,
	within time.Duration) bool {
	t.Helper()
	text := nats.NewInbox()
	err := conns[from].Publish(fmt.Sprint("to.", to), []byte(text))
	if err == nil {
		err = conns[from].Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(within); ; {
		m, err := subs[to].NextMsg(time.Until(deadline))
		if err != nil {
			return false
		}
		if string(m.Data) == text {
			return true
		}
	}
}

// expect checks between which brokers messages pass: within groups only, if groups are given.
func expect(t *testing.T, conns []*nats.Conn, subs []*nats.Subscription, group ...int) {
	t.Helper()
	for from := range conns {
		for to := range conns {
			want, within := len(group) == 0 || group[from] == group[to], 20*time.Second
			if !want {
				within = 50 * time.Millisecond
			}
			if got := passes(t, conns, subs, from, to, within); got != want {
				t.Errorf("a message from a client of broker %d to one of broker %d passes: %v", from, to, got)
			}
		}
	}
}

func TestBrokersPassOn(t *testing.T) {
	t.Parallel()
	for name, proxies := range map[string]*Proxies{"straight": {}, "through proxies": launchProxies(t)} {
		b := launchBrokers(t, 3, proxies)
		conns, subs := hearers(t, b)
		expect(t, conns, subs)
		for i, conn := range conns {
			if found := conn.DiscoveredServers(); len(found) > 0 {
				t.Errorf("%s: broker %d tells its clients of %v", name, i, found)
			}
		}
		for i := range 3 {
			if c, err := b.counts(t.Context(), i); err != nil || c.Routes != 2 || c.Subscriptions != 3 {
				t.Errorf("%s: broker %d knows %+v, %v", name, i, c, err)
			}
		}
		for _, conn := range conns {
			conn.Close()
		}
		if err := b.AwaitSubscriptions(t.Context(), make([]int, 3)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// All messages of one client to another arrive, in order, with different sizes and broadcasts among them.
func TestBrokersKeepTheOrder(t *testing.T) {
	t.Parallel()
	b := launchBrokers(t, 3, launchProxies(t))
	conns, _ := hearers(t, b)
	const count = 20_000
	heard := make(chan *nats.Msg, 2*count)
	for _, subject := range []string{"one", "all"} {
		if _, err := conns[2].ChanSubscribe(subject, heard); err != nil {
			t.Fatal(err)
		}
	}
	if err := conns[2].Flush(); err != nil {
		t.Fatal(err)
	}
	if err := b.AwaitSubscriptions(t.Context(), []int{5, 5, 5}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := range count {
			subject := "one"
			if i%3 == 0 {
				subject = "all"
			}
			conns[0].Publish(subject, fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", i*7%900)))
		}
		conns[0].Flush()
	}()
	for i := range count {
		select {
		case m := <-heard:
			if !strings.HasPrefix(string(m.Data), fmt.Sprint(i, " ")) {
				t.Fatalf("instead of message %d, %.10s comes", i, m.Data)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("message %d does not come", i)
		}
	}
}

// Nothing passes a cut, however often brokers try to open routes, at the configured addresses or at others
// that they hear of.
func TestNothingPassesACut(t *testing.T) {
	t.Parallel()
	b := launchBrokers(t, 3, launchProxies(t))
	conns, subs := hearers(t, b)
	cut := func(number int, routes ...[2]int) {
		t.Helper()
		if err := b.Cut(t.Context(), number, routes); err != nil {
			t.Fatal(err)
		}
	}
	heal := func(number int) {
		t.Helper()
		if err := b.Heal(t.Context(), number); err != nil {
			t.Fatal(err)
		}
	}
	routed := func() {
		t.Helper()
		if err := b.AwaitRoutes(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, route := range [][2]int{{0, 3}, {-1, 0}, {1, 1}, {1, 0}} {
		if err := b.Cut(t.Context(), 9, [][2]int{route}); err == nil {
			t.Errorf("%v are cut off from each other", route)
		}
	}
	cut(1, [2]int{0, 1}, [2]int{0, 2})
	routed() // only the route between 1 and 2 is left
	expect(t, conns, subs, 0, 1, 1)
	for range soak.Pick(0, 5, 240) { // brokers try to open routes at least once a second
		time.Sleep(500 * time.Millisecond)
		expect(t, conns, subs, 0, 1, 1)
	}
	cut(2, [2]int{1, 2}) // now each broker is alone
	expect(t, conns, subs, 0, 1, 2)
	// Routes take a second to open. Brokers forward only messages of clients, so no message takes two routes.
	heal(1)
	routed()
	if err := b.AwaitSubscriptions(t.Context(), []int{3, 2, 2}); err != nil { // subscriptions within reach
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}} {
		if !passes(t, conns, subs, pair[0], pair[1], 20*time.Second) {
			t.Errorf("no message from %d to %d passes", pair[0], pair[1])
		}
	}
	for i := range soak.Pick(1, 3, 60) { // broker 0, which reaches both, must not tell 2 how to reach 1
		if i > 0 {
			time.Sleep(500 * time.Millisecond)
		}
		if passes(t, conns, subs, 1, 2, 50*time.Millisecond) || passes(t, conns, subs, 2, 1, 50*time.Millisecond) {
			t.Error("a message passes the cut")
		}
	}
	heal(2)
	routed()
	if err := b.AwaitSubscriptions(t.Context(), []int{3, 3, 3}); err != nil {
		t.Fatal(err)
	}
	expect(t, conns, subs)
}

// Messages on a stalled route arrive when the stall is healed.
func TestRoutesStall(t *testing.T) {
	t.Parallel()
	b := launchBrokers(t, 3, launchProxies(t))
	conns, subs := hearers(t, b)
	stall := ConnectionFault{Number: 1, Names: []string{routeName(0, 1), routeName(1, 2)}, Stall: true}
	if err := b.proxies.Begin(t.Context(), stall); err != nil {
		t.Fatal(err)
	}
	expect(t, conns, subs, 0, 1, 0)
	if err := b.Heal(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[int]int{0: 1, 1: 2} {
		if m, err := subs[to].NextMsg(20 * time.Second); err != nil || len(m.Data) == 0 {
			t.Errorf("what %d was sent meanwhile from %d does not come: %v", to, from, err)
		}
	}
	expect(t, conns, subs)
}

// A killed broker comes back as the same server, and the others pass messages on meanwhile.
func TestBrokerComesBack(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 3} {
		b := launchBrokers(t, count, &Proxies{})
		token := b.Token()
		for _, i := range []int{count - 1, 0} { // the last opens all its routes; the others open the routes of 0
			p, url := b.Process(i), b.URL(i)
			if err := b.Kill(i); err != nil {
				t.Fatal(err)
			}
			if b.Running(i) || !p.Fate().Dismissed || b.Kill(i) == nil {
				t.Error("it is not seen to be dead")
			}
			if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://")); err == nil {
				conn.Close()
				t.Error("somebody else has its port")
			}
			if count > 1 {
				if err := b.AwaitRoutes(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Restart(t.Context(), i); err != nil {
				t.Fatal(err)
			}
			if b.URL(i) != url || b.Token() != token || b.Process(i) == p {
				t.Errorf("it comes back at %s, not %s", b.URL(i), url)
			}
			if err := b.AwaitRoutes(t.Context()); err != nil {
				t.Fatal(err)
			}
			conns, subs := hearers(t, b)
			expect(t, conns, subs)
			for _, conn := range conns {
				conn.Close()
			}
		}
		if err := b.Restart(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "kill it first") {
			t.Errorf("restarted while it runs, the error is %v", err)
		}
	}
}

func TestBrokerThatHasLostItsPort(t *testing.T) {
	t.Parallel()
	b := launchBrokers(t, 1, &Proxies{})
	if err := b.Kill(0); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", strings.TrimPrefix(b.URL(0), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	err = b.Restart(t.Context(), 0)
	const says = "starting the broker: the broker cannot listen: listen tcp 127.0.0.1:"
	if err == nil || !strings.HasPrefix(err.Error(), says) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the error is %v", err)
	}
	l.Close()
	if err := b.Restart(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// launchBrokers starts this program as several brokers.
func launchBrokers(t testing.TB, count int, proxies *Proxies) *Brokers {
	t.Helper()
	program := []string{os.Args[0], playing, "broker"}
	b, err := LaunchBrokers(t.Context(), []Host{NewLauncher()}, program, "the broker", count, proxies, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// launchBroker starts this program as a broker.
func launchBroker(t *testing.T) (p *proc.Process, url, token string) {
	t.Helper()
	b := launchBrokers(t, 1, &Proxies{})
	return b.all[0].worker.Node.(node).Process, b.URL(0), b.Token()
}

func TestBrokerWantsItsCredential(t *testing.T) {
	t.Parallel()
	_, at, token := launchBroker(t)
	conn, err := nats.Connect(at, nats.Token(token), nats.Timeout(host.JoinTimeout))
	if err != nil {
		t.Fatalf("refused with the right credential: %v", err)
	}
	conn.Close()
	for name, options := range map[string][]nats.Option{
		"wrong": {nats.Token(broker.NewToken())}, "empty": {nats.Token("")}, "none": nil,
		"as a user": {nats.UserInfo(token, "")},
	} {
		if conn, err := nats.Connect(at, options...); err == nil {
			conn.Close()
			t.Errorf("credential %s: let in", name)
		}
	}
}

func TestBrokerListensOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	_, at, _ := launchBroker(t)
	u, err := url.Parse(at)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("its URL is %s, %v", at, err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.String(), u.Port())); err == nil {
			conn.Close()
			t.Errorf("it answers at %v", ip)
		}
	}
}

// The credential is passed by a pipe, since other users can see arguments and environment.
func TestBrokerKeepsItsCredential(t *testing.T) {
	p, at, token := launchBroker(t)
	told := at
	for _, file := range []string{"cmdline", "environ"} { // these exist only on Linux
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.Pid(), file))
		told += string(b)
	}
	if strings.Contains(told, token) {
		t.Error("the credential is told to everybody")
	}
}

func TestBrokerEndsWithItsInput(t *testing.T) {
	p, _, _ := launchBroker(t)
	p.CloseInput()
	if f := ended(t, p); !f.Well {
		t.Errorf("it ends with %s", f.Says)
	}
}

func TestLaunchBrokersFails(t *testing.T) {
	l := NewLauncher()
	failing := []string{"/bin/sh", "-c", "head -c 1; echo out of order; exit 3"}
	_, err := LaunchBrokers(t.Context(), []Host{l}, failing, "the broker", 1, &Proxies{}, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3; its last output:\n\t{out of order") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = LaunchBrokers(ctx, []Host{l}, []string{"/bin/sh", "-c", "sleep 60"}, "the broker", 1, &Proxies{},
		nil)
	if err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}
