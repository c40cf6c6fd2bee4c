package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// A Resource is a resource process: it keeps what clients share (see host.Books). Clients ask it through a
// broker of its own, so that no fault of the brokers that carry messages affects it.
type Resource struct {
	worker *Worker
	at     host.Broker
}

// A resourceOrder is an order to a resource process. Exactly one field is set.
type resourceOrder struct {
	Start   *broker.Config `json:"start,omitempty"` // how to start the process's broker; the answer is its URL
	Keep    *host.Share    `json:"keep,omitempty"`  // what to keep, in place of what was kept before
	TakeOut *takenOut      `json:"take_out,omitempty"`
	Look    bool           `json:"look,omitempty"` // asks for the progress; the answer is host.Tickets
}

// A takenOut is a node whose process has ended.
type takenOut struct {
	Node        nodes.ID `json:"node"`
	Incarnation uint32   `json:"incarnation"`
}

// LaunchResource starts a resource process on a host. It runs the program, which must call ServeResource. The
// process keeps nothing yet. If tls is not nil, its broker speaks TLS with that certificate.
func LaunchResource(ctx context.Context, on Host, program []string, tls *certs.Pair) (*Resource, error) {
	r := &Resource{at: host.Broker{Token: broker.NewToken()}}
	c := broker.Config{Name: "turnstile-resource", Token: r.at.Token, Listen: on.Address(), TLS: tls}
	if tls != nil {
		r.at.Pin = tls.Pin
	}
	s, err := StartWorker(on, "the resource process", program)
	if err != nil {
		return nil, err
	}
	r.worker = s
	if err := s.Ask(ctx, resourceOrder{Start: &c}, &r.at.URL); err != nil {
		s.End()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("starting the resource process: %w", err)
	}
	return r, nil
}

// Process returns the resource process.
func (r *Resource) Process() Process { return r.worker }

// Broker returns where nodes reach the resource process.
func (r *Resource) Broker() *host.Broker { return &r.at }

// Close ends the resource process.
func (r *Resource) Close() { r.worker.End() }

// Keep makes the process keep what the clients of a run share, and forget what it kept before. When Keep
// returns nil, the process answers the clients.
func (r *Resource) Keep(ctx context.Context, of host.Share) error {
	return r.worker.Ask(ctx, resourceOrder{Keep: &of}, nil)
}

// TakeOut removes a node whose process has ended from the registers: see host.Books.TakeOut.
func (r *Resource) TakeOut(ctx context.Context, id nodes.ID, incarnation uint32) error {
	return r.worker.Ask(ctx, resourceOrder{TakeOut: &takenOut{id, incarnation}}, nil)
}

// Look returns the progress of a run that ends after a number of entries.
func (r *Resource) Look(ctx context.Context) (t host.Tickets, err error) {
	err = r.worker.Ask(ctx, resourceOrder{Look: true}, &t)
	return t, err
}

// ServeResource runs a resource process started by a Launcher (see LaunchResource). It returns when the input
// ends.
func ServeResource(in io.Reader, out io.Writer) error {
	var s resourceServer
	defer s.end()
	return ServeOrders(in, out, func(order json.RawMessage) (any, error) {
		var o resourceOrder
		if err := json.Unmarshal(order, &o); err != nil {
			return nil, fmt.Errorf("reading an order for the resource process: %w", err)
		}
		return s.obey(&o)
	})
}

// A resourceServer is the state of a resource process.
type resourceServer struct {
	broker *server.Server
	conn   *nats.Conn
	books  *host.Books        // nil: the process keeps nothing yet
	asked  *nats.Subscription // subscription to the questions of clients
}

func (s *resourceServer) obey(o *resourceOrder) (any, error) {
	switch {
	case o.Start != nil:
		return s.start(*o.Start)
	case s.conn == nil:
		return nil, errors.New("the resource process was not started")
	case o.Keep != nil:
		return nil, s.keep(*o.Keep)
	case s.books == nil:
		return nil, errors.New("the resource process keeps nothing yet")
	case o.TakeOut != nil:
		return nil, s.books.TakeOut(o.TakeOut.Node, o.TakeOut.Incarnation)
	case o.Look:
		return s.books.Tickets(), nil
	}
	return nil, errors.New("the order to the resource process is empty")
}

// start starts the broker, and returns its URL.
func (s *resourceServer) start(c broker.Config) (url string, err error) {
	if s.broker != nil {
		return "", errors.New("the resource process was started already")
	}
	if s.broker, err = broker.Start(c); err != nil {
		return "", err
	}
	if s.conn, err = nats.Connect("", nats.InProcessServer(s.broker), nats.Token(c.Token),
		nats.Timeout(host.JoinTimeout)); err != nil {
		return "", fmt.Errorf("connecting to the broker within the resource process: %w", err)
	}
	return s.broker.ClientURL(), nil
}

// keep starts new books, for another run.
func (s *resourceServer) keep(of host.Share) (err error) {
	if s.asked != nil {
		if err := s.asked.Unsubscribe(); err != nil {
			return fmt.Errorf("ending what was kept before: %w", err)
		}
	}
	s.books = host.NewBooks(of)
	s.asked, err = s.books.Serve(s.conn)
	return err
}

func (s *resourceServer) end() {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.broker != nil {
		s.broker.Shutdown()
	}
}
