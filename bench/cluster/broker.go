package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats-server/v2/server"

	"turnstile/internal/broker"
)

// A brokerOrder is what the process of a broker is told.
type brokerOrder struct {
	// Start is answered by the broker's URL; nil: an order to count, answered by a brokerCount.
	Start *broker.Config `json:"start,omitempty"`
}

// A brokerCount is what a broker knows of others.
type brokerCount struct {
	Routes int `json:"routes"` // that it has
	// Subscriptions are those of its own clients, and one for each subject that clients of another broker have
	// subscribed to.
	Subscriptions int `json:"subscriptions"`
}

// ServeBroker runs a broker as a process that a Launcher started (see LaunchBrokers). It returns when in
// ends.
func ServeBroker(in io.Reader, out io.Writer) error {
	var s *server.Server
	defer func() {
		if s != nil {
			s.Shutdown()
		}
	}()
	return ServeOrders(in, out, func(order json.RawMessage) (any, error) {
		var o brokerOrder
		if err := json.Unmarshal(order, &o); err != nil {
			return nil, fmt.Errorf("reading the broker's configuration: %w", err)
		}
		switch {
		case o.Start == nil && s == nil:
			return nil, errors.New("the broker is to count, and was not started")
		case o.Start == nil:
			return brokerCount{s.NumRoutes(), int(s.NumSubscriptions())}, nil
		case s != nil:
			return nil, errors.New("the broker is to start a second time")
		}
		var err error
		if s, err = broker.Start(*o.Start); err != nil {
			return nil, err
		}
		return s.ClientURL(), nil
	})
}
