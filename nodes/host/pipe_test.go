package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A stretch is a connection to the broker that a test can hold up: what is sent waits.
type stretch struct {
	net.Listener
	held sync.RWMutex  // for writing: nothing passes
	near chan net.Conn // the connections from the node, in the order in which they were made
}

// stretchTo listens for connections, and passes them on to the broker at a URL.
func stretchTo(t *testing.T, broker string) *stretch {
	t.Helper()
	address, err := url.Parse(broker)
	if err != nil {
		t.Fatal(err)
	}
	s := &stretch{near: make(chan net.Conn, 16)}
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	pass := func(to io.Writer, from io.Reader, end func() error) {
		defer end()
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			s.held.RLock()
			to.Write(b[:n])
			s.held.RUnlock()
			if err != nil {
				return
			}
		}
	}
	go func() {
		drained := make(chan struct{}) // closed once the broker has got all of the previous connection
		close(drained)
		for {
			near, err := s.Accept()
			if err != nil {
				return
			}
			<-drained
			far, err := net.Dial("tcp", address.Host)
			if err != nil {
				t.Error(err)
				return
			}
			s.near <- near
			over := make(chan struct{})
			drained = over
			go pass(far, near, far.(*net.TCPConn).CloseWrite)
			go pass(near, far, func() error {
				close(over) // the broker has read all, and closed it
				return errors.Join(near.Close(), far.Close())
			})
		}
	}()
	return s
}

// A node whose connection is held up obeys, but does not answer: messages for it may be on their way.
func TestAnswersComeBehindMessages(t *testing.T) {
	var way *stretch
	s := begin(t, "ricart-agrawala", 1, func(c *host.Config) {
		way = stretchTo(t, c.URL)
		c.URL = "nats://" + way.Addr().String()
	})
	s.issueLater()
	w, err := history.Watch(s.log(0))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	delivered, obeyed := &w.Instances[0].Kinds[1].Delivered, &w.Instances[0].Obeyed
	way.held.Lock()
	if err := s.conn.Publish(s.names.Node(0), stamped([]byte{1, 0, 1}, 99)); err != nil { // an ignored reply
		t.Fatal(err)
	}
	s.conn.Flush()
	s.tell(0, host.Order{Do: host.Report, Round: 7})
	for deadline := time.Now().Add(20 * time.Second); obeyed.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a node that the broker does not reach does not obey")
		}
	}
	select {
	case n := <-s.notes:
		t.Errorf("it answers %+v before it has heard from the broker", n)
	case <-time.After(50 * time.Millisecond):
	}
	way.held.Unlock()
	if n := s.note(); n.Round != 7 || n.Status == nil || delivered.Load() != 1 {
		t.Errorf("it answers %+v after %d messages, not 1", n, delivered.Load())
	}
	s.end()
}

// A host that gets no more orders, or one that it does not know, ends.
func TestHostEndsWithItsOrders(t *testing.T) {
	for says, do := range map[string]func(s *stage){
		"reading an order: EOF":        func(s *stage) { s.orders[0].Close() },
		"reading an order: invalid":    func(s *stage) { io.WriteString(s.orders[0], "issue\n") },
		`there is no order "hesitate"`: func(s *stage) { s.tell(0, host.Order{Do: "hesitate"}) },
	} {
		s := begin(t, "ricart-agrawala", 1, nil)
		do(s)
		if err := s.wait(s.ends[0]); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the host ends with %v, which does not say %q", err, says)
		}
	}
}

// Orders follow the configuration, in the same write or a later one. The end of the orders is reported.
func TestOrdersFollowTheConfiguration(t *testing.T) {
	stdin, orchestrator, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(orchestrator, `{"node":3}{"do":"park"}`)
	input := json.NewDecoder(stdin)
	var c host.Config
	if err := input.Decode(&c); err != nil || c.Node != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
	orphaned := make(chan bool, 1)
	rest, err := host.OrdersAfter(input, stdin, func() { orphaned <- true })
	if err != nil {
		t.Fatal(err)
	}
	orders := json.NewDecoder(rest)
	var first, second host.Order
	if err := orders.Decode(&first); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(orchestrator, `{"do":"quit"}`)
	if err := orders.Decode(&second); err != nil || first.Do != host.Park || second.Do != host.Quit {
		t.Errorf("%v: %+v, %+v", err, first, second)
	}
	orchestrator.Close()
	if err := orders.Decode(&first); err != io.EOF || len(orphaned) != 1 {
		t.Errorf("%v at the end, which is told %d times", err, len(orphaned))
	}
}
