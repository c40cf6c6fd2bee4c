// Package bare is the baseline for what the testbed itself costs: two algorithms over NATS in as few lines as
// possible, with tiny messages, nothing recorded and nothing checked. It is frozen: it may change only for an
// optimisation of the transport, which is then made in the testbed's host, too.
package bare

import (
	"encoding/binary"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// A Config is the configuration of a bare node.
type Config struct {
	URL       string `json:"url"`
	Token     string `json:"token"`
	Node      uint32 `json:"node"`
	N         uint32 `json:"n"`
	Algorithm string `json:"algorithm"` // Ring or Ricart
}

// The algorithms.
const (
	Ring   = "token-ring"
	Ricart = "ricart-agrawala"
)

// subject returns the subject on which a node hears its peers: its number alone, since the broker serves one
// run, and what a longer name costs would not show.
func subject(node uint32) string { return strconv.Itoa(int(node)) }

// The other subjects.
const (
	Orders = "orders" // on which all nodes hear the orders Start and Count
	// Counts is where each node publishes its own number once it is up, and then, when asked, how many entries
	// it has made.
	Counts = "counts"
)

// The orders.
const (
	Start = "start"
	Count = "count"
)

type node struct {
	Config
	conn     *nats.Conn
	subjects []string
	entries  uint64

	clock, ours uint64 // Ricart-Agrawala: the highest stamp seen, and the stamp of our open request, or 0
	missing     uint32 // replies that have not arrived
	deferred    []uint32
	buffer      []byte
}

// Run runs a bare node until the process is ended.
func Run(c Config, _ io.Writer) error {
	conn, err := nats.Connect(c.URL, nats.Token(c.Token), nats.NoEcho(), nats.NoReconnect(),
		nats.Timeout(20*time.Second))
	if err != nil {
		return err
	}
	n := &node{Config: c, conn: conn}
	for id := range c.N {
		n.subjects = append(n.subjects, subject(id))
	}
	messages, orders := make(chan *nats.Msg, 1<<14), make(chan *nats.Msg, 16)
	if _, err := conn.ChanSubscribe(n.subjects[c.Node], messages); err != nil {
		return err
	}
	if _, err := conn.ChanSubscribe(Orders, orders); err != nil {
		return err
	}
	if err := conn.Flush(); err != nil {
		return err
	}
	conn.Publish(Counts, []byte(strconv.Itoa(int(c.Node))))
	receive := n.ricart
	if c.Algorithm == Ring {
		receive = n.ring
	}
	for {
		select {
		case m := <-messages:
			receive(m.Data)
			for range min(64, len(messages)) {
				receive((<-messages).Data)
			}
		case m := <-orders:
			n.obey(string(m.Data))
		}
	}
}

func (n *node) obey(order string) {
	switch {
	case order == Count:
		n.conn.Publish(Counts, strconv.AppendUint(nil, n.entries, 10))
	case n.Algorithm == Ricart:
		n.request()
	case n.Node == 0:
		n.ring(nil)
	}
}

// ring enters and passes the token on.
func (n *node) ring([]byte) {
	n.entries++
	n.conn.Publish(n.subjects[(n.Node+1)%n.N], []byte{1})
}

// request sends all peers our number and a stamp. Replies are empty.
func (n *node) request() {
	n.clock++
	n.ours, n.missing = n.clock, n.N-1
	n.buffer = binary.AppendUvarint(binary.AppendUvarint(n.buffer[:0], uint64(n.Node)), n.ours)
	for id, subject := range n.subjects {
		if uint32(id) != n.Node {
			n.conn.Publish(subject, n.buffer)
		}
	}
}

func (n *node) ricart(m []byte) {
	if len(m) > 0 {
		from, size := binary.Uvarint(m)
		clock, _ := binary.Uvarint(m[size:])
		n.clock = max(n.clock, clock)
		if n.ours != 0 && (n.ours < clock || n.ours == clock && n.Node < uint32(from)) {
			n.deferred = append(n.deferred, uint32(from))
		} else {
			n.conn.Publish(n.subjects[from], nil)
		}
		return
	}
	if n.missing--; n.missing > 0 {
		return
	}
	n.entries++
	n.ours = 0
	for _, id := range n.deferred {
		n.conn.Publish(n.subjects[id], nil)
	}
	n.deferred = n.deferred[:0]
	n.request()
}
