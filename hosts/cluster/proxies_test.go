package cluster

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes/port"
)

// launchProxies starts this program as the process of the proxies.
func launchProxies(t testing.TB) *Proxies {
	t.Helper()
	p, err := LaunchProxies(t.Context(), []Host{NewLauncher()}, []string{os.Args[0], playing, "proxies"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// echo serves TCP connections that send back all they receive, and returns its address.
func echo(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// A caller has a connection to an echo server.
type caller struct {
	t testing.TB
	net.Conn
	lines *bufio.Reader
}

func call(t testing.TB, address string) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

// say sends a line.
func (c *caller) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hear expects a line.
func (c *caller) hear(line string) {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := c.lines.ReadString('\n'); err != nil || got != line+"\n" {
		c.t.Fatalf("%q comes back, and %v; want %q", got, err, line)
	}
}

// silent expects nothing for some time.
func (c *caller) silent() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if got, err := c.lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("%q comes back, and %v; want nothing", got, err)
	}
}

// closed expects the end of the connection.
func (c *caller) closed() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := c.lines.ReadString('\n'); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("%q comes back, and %v; want the end", got, err)
	}
}

// exchange sends a line and expects it back, and returns how long that took.
func (c *caller) exchange(line string) time.Duration {
	c.t.Helper()
	begun := time.Now()
	c.say(line)
	c.hear(line)
	return time.Since(begun)
}

func (p *Proxies) must(t testing.TB) mustProxies { return mustProxies{t, p} }

// mustProxies fail the test when an order fails.
type mustProxies struct {
	t testing.TB
	p *Proxies
}

func (m mustProxies) add(name, upstream string) (address string) {
	m.t.Helper()
	address, err := m.p.Add(m.t.Context(), 0, name, upstream)
	if err != nil {
		m.t.Fatal(err)
	}
	return address
}

func (m mustProxies) begin(f ConnectionFault) {
	m.t.Helper()
	if err := m.p.Begin(m.t.Context(), f); err != nil {
		m.t.Fatal(err)
	}
}

func (m mustProxies) heal(number int) {
	m.t.Helper()
	if err := m.p.Heal(m.t.Context(), number); err != nil {
		m.t.Fatal(err)
	}
}

func (m mustProxies) inForce(want ...int) {
	m.t.Helper()
	if got, err := m.p.InForce(m.t.Context()); err != nil || !slices.Equal(got, want) {
		m.t.Errorf("in force are %v, %v; want %v", got, err, want)
	}
}

func TestProxyPassesOn(t *testing.T) {
	t.Parallel()
	p := launchProxies(t)
	at := p.must(t).add("a", echo(t))
	if host, _, err := net.SplitHostPort(at); err != nil || host != "127.0.0.1" {
		t.Errorf("it listens on %s", at)
	}
	one, other := call(t, at), call(t, at)
	one.exchange("hello")
	other.exchange("good day")
	sent := make([]byte, 8<<20)
	rand.Read(sent)
	go func() {
		one.Write(sent)
		one.Conn.(*net.TCPConn).CloseWrite()
	}()
	one.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := io.ReadAll(one.lines); err != nil || !bytes.Equal(sent, got) {
		t.Errorf("%d of %d bytes come back, %v", len(got), len(sent), err)
	}
	p.must(t).inForce()
	p.Close()
	other.closed()
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("a proxy that has ended takes connections")
	}
}

// Two latencies on one connection add up, and are healed separately.
func TestProxyDelays(t *testing.T) {
	t.Parallel()
	p := launchProxies(t)
	at := p.must(t).add("a", echo(t))
	c, other := call(t, at), call(t, p.must(t).add("b", echo(t)))
	atLeast := func(want time.Duration) {
		t.Helper()
		if took := c.exchange("hello"); took < want {
			t.Errorf("there and back takes %v, less than %v", took, want)
		}
	}
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"}, Latency: 10 * time.Millisecond})
	atLeast(20 * time.Millisecond)
	p.must(t).begin(ConnectionFault{Number: 2, Names: []string{"a", "b"}, Latency: 20 * time.Millisecond})
	atLeast(60 * time.Millisecond)
	p.must(t).inForce(1, 2)
	p.must(t).heal(1)
	atLeast(40 * time.Millisecond)
	if took := other.exchange("hello"); took < 40*time.Millisecond {
		t.Errorf("at the other proxy, there and back takes %v", took)
	}
	p.must(t).inForce(2)
	c.say("on its way")
	p.must(t).heal(2)
	c.hear("on its way")
	p.must(t).inForce()
}

func TestProxyLimitsBandwidth(t *testing.T) {
	t.Parallel()
	p := launchProxies(t)
	c := call(t, p.must(t).add("a", echo(t)))
	p.must(t).begin(ConnectionFault{Number: 7, Names: []string{"a"}, Bandwidth: 20_000})
	p.must(t).begin(ConnectionFault{Number: 8, Names: []string{"a"}, Bandwidth: 1_000_000})
	if took := c.exchange(strings.Repeat("x", 10_000)); took < 350*time.Millisecond {
		t.Errorf("10,000 bytes take %v", took)
	}
	line := strings.Repeat("y", 100_000)
	c.say(line) // which would take 5 s
	p.must(t).heal(7)
	p.must(t).heal(8)
	c.hear(line)
}

// A stalled connection keeps what is sent, and delivers it in order once the stall is healed.
func TestProxyStalls(t *testing.T) {
	t.Parallel()
	p := launchProxies(t)
	at := p.must(t).add("a", echo(t))
	c, other := call(t, at), call(t, p.must(t).add("b", echo(t)))
	c.exchange("before")
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"}, Stall: true})
	p.must(t).begin(ConnectionFault{Number: 2, Names: []string{"a"}, Stall: true})
	p.must(t).begin(ConnectionFault{Number: 3, Names: []string{"a"}, Latency: time.Millisecond})
	for i := range 3000 {
		c.say(fmt.Sprint(i))
	}
	c.silent()
	other.exchange("hello")
	p.must(t).heal(1)
	c.silent()
	p.must(t).heal(3)
	p.must(t).heal(2)
	for i := range 3000 {
		c.hear(fmt.Sprint(i))
	}
	c.exchange("after")
}

// A reset ends idle and stalled connections, and new ones are refused until it is healed.
func TestProxyResets(t *testing.T) {
	p := launchProxies(t)
	at := p.must(t).add("a", echo(t))
	idle, stalled := call(t, at), call(t, at)
	idle.exchange("hello")
	stalled.exchange("hello")
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"}, Stall: true})
	stalled.say("never arrives")
	stalled.silent()
	p.must(t).begin(ConnectionFault{Number: 2, Names: []string{"a"}, Reset: true})
	idle.closed()
	stalled.closed()
	for range 10 {
		if conn, err := net.Dial("tcp", at); err == nil {
			conn.Close()
			t.Error("a connection is taken")
		}
	}
	p.must(t).heal(1)
	p.must(t).inForce(2)
	p.must(t).heal(2)
	p.must(t).inForce()
	call(t, at).exchange("hello again")
}

// The end of a connection passes through a proxy, and a connection without an upstream ends at once.
func TestProxyPassesOnTheEnd(t *testing.T) {
	p := launchProxies(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := p.must(t).add("a", l.Addr().String())
	c := call(t, at)
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(far, "last words\n")
	far.Close()
	c.hear("last words")
	c.closed()
	l.Close()
	call(t, at).closed()
}

func TestProxiesRefuse(t *testing.T) {
	p := launchProxies(t)
	p.must(t).add("a", echo(t))
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"}, Stall: true})
	begin := func(f ConnectionFault) error { return p.Begin(t.Context(), f) }
	a, ab := []string{"a"}, []string{"a", "b"}
	for says, err := range map[string]error{
		"there is a proxy a already":            second(p.Add(t.Context(), 0, "a", "127.0.0.1:1")),
		"no fault 2 is in force":                p.Heal(t.Context(), 2),
		"fault 1 is in force already":           begin(ConnectionFault{Number: 1, Names: a, Reset: true}),
		"fault 3: there is no proxy b":          begin(ConnectionFault{Number: 3, Names: ab, Reset: true}),
		"fault 4 hits no connection":            begin(ConnectionFault{Number: 4, Reset: true}),
		"a fault has the number 0":              begin(ConnectionFault{Names: a, Reset: true}),
		"fault 5 does nothing":                  begin(ConnectionFault{Number: 5, Names: a}),
		"fault 6: a latency of -1ns":            begin(ConnectionFault{Number: 6, Names: a, Latency: -1}),
		"fault 7: -1 bytes per second":          begin(ConnectionFault{Number: 7, Names: a, Bandwidth: -1}),
		"there is no order \"dance\"":           p.workers[0].Ask(t.Context(), proxyOrder{Do: "dance"}, nil),
		"reading an order for the proxies: jso": p.workers[0].Ask(t.Context(), 3, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, and should say %q", err, says)
		}
	}
	p.must(t).inForce(1)
}

// A proxy counts no push of a server as an answer. Here the server has answered before the fault began.
func TestAPushIsNoAnswer(t *testing.T) {
	p, pushes := launchProxies(t), make(chan string)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); close(pushes) })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		go io.Copy(conn, conn)
		for line := range pushes {
			io.WriteString(conn, line+"\n")
		}
	}()
	c := call(t, p.must(t).add("a", l.Addr().String()))
	c.exchange("watch")
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"},
		Answer: &AnswerFault{Nth: 1, Of: map[string]string{"a": "0"}}})
	pushes <- "news"
	c.hear("news")
	if lost, err := p.Lost(t.Context(), 1); lost.Answers != 0 || err != nil {
		t.Errorf("before a question, %d answers are lost, %v", lost.Answers, err)
	}
	asked := time.Now()
	c.say("what")
	c.silent()
	lost, err := p.Lost(t.Context(), 1)
	if ago := lost.Last; lost != (port.Lost{Answers: 1, First: ago, Last: ago}) || ago <= 0 ||
		ago > time.Since(asked) || err != nil {
		t.Errorf("the lost answers are %+v, %v", lost, err)
	}
}

// A proxy holds the nth request of a client alone, with what follows it, and loses nothing.
func TestARequestIsHeld(t *testing.T) {
	p := launchProxies(t)
	c := call(t, p.must(t).add("a", echo(t)))
	c.exchange("before")
	const hold = 300 * time.Millisecond
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"},
		Answer: &AnswerFault{Nth: 2, Hold: hold, Of: map[string]string{"a": "0"}}})
	for i, want := range []bool{false, true, false} {
		asked := time.Now()
		c.exchange("what")
		if took := time.Since(asked); (took >= hold) != want {
			t.Errorf("request %d took %v", i+1, took)
		}
	}
	if held, err := p.Lost(t.Context(), 1); held.Answers != 1 || err != nil {
		t.Errorf("%d requests were held, %v", held.Answers, err)
	}
}

// What a client sends first on a connection is a request, though another connection waits for an answer.
func TestEachConnectionHasItsRequests(t *testing.T) {
	p, came := launchProxies(t), make(chan string)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // answers nothing
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				line, _ := bufio.NewReader(conn).ReadString('\n')
				came <- line
			}()
		}
	}()
	address := p.must(t).add("a", l.Addr().String())
	call(t, address).say("one")
	<-came
	p.must(t).begin(ConnectionFault{Number: 1, Names: []string{"a"},
		Answer: &AnswerFault{Nth: 1, Hold: time.Millisecond, Of: map[string]string{"a": "0"}}})
	call(t, address).say("two")
	<-came
	if held, err := p.Lost(t.Context(), 1); held.Answers != 1 || err != nil {
		t.Errorf("%d requests were held, %v", held.Answers, err)
	}
}

// Proxies know which of several servers a client heard from last.
func TestProxiesKnowWhoAnsweredLast(t *testing.T) {
	p := launchProxies(t)
	names, server := []string{"a", "b"}, echo(t)
	var callers []*caller
	for _, name := range names {
		callers = append(callers, call(t, p.must(t).add(name, server)))
	}
	last := func() int {
		t.Helper()
		which, err := p.LastOf(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		return which
	}
	if which := last(); which != -1 {
		t.Errorf("before anybody answered, the last is %d, want -1", which)
	}
	for _, i := range []int{1, 0, 1} {
		callers[i].exchange("what")
		if which := last(); which != i {
			t.Errorf("after %s answered, the last is %d", names[i], which)
		}
	}
	if _, err := p.LastOf(t.Context(), []string{"c"}); err == nil {
		t.Error("a proxy that is not there has heard of its server")
	}
}

func second[T any](_ T, err error) error { return err }

func TestProxiesEnd(t *testing.T) {
	t.Parallel()
	p := launchProxies(t)
	process := p.workers[0].Node.(node).Process
	process.CloseInput()
	if f := ended(t, process); !f.Well {
		t.Errorf("they end with %s", f.Says)
	}
	err := p.Heal(t.Context(), 1)
	if err == nil || !strings.Contains(err.Error(), "the process of the proxies ended before it answered") {
		t.Errorf("asked after their end, the error is %v", err)
	}
	launched := func(ctx context.Context, script string) error {
		return second(LaunchProxies(ctx, []Host{NewLauncher()}, []string{"/bin/sh", "-c", script}))
	}
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for says, err := range map[string]error{
		"exit status 3; its last output:\n\tout of order": launched(t.Context(), "echo out of order; exit 3"),
		"context deadline exceeded":                       launched(brief, "sleep 60"),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, and should say %q", err, says)
		}
	}
}

// A late answer is not taken for the answer to the next question.
func TestLateAnswersAreNoOthers(t *testing.T) {
	const script = `read a; read b; printf '\036{"number":1,"answer":"one"}\n\036{"number":2,"answer":"two"}\n'`
	s, err := StartWorker(NewLauncher(), "a slow one", []string{"/bin/sh", "-c", script})
	if err != nil {
		t.Fatal(err)
	}
	defer s.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Ask(ctx, "first", nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var got string
	if err := s.Ask(t.Context(), "second", &got); err != nil || got != "two" {
		t.Errorf("the answer is %q, %v", got, err)
	}
}
