package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"turnstile/internal/unavailable"
)

// An Endpoint has the external servers that a run is about. It watches whether they are reachable, by an idle
// connection to each, which it renews when the connection ends.
type Endpoint struct {
	addresses []string
	Lost      chan error // receives the reason once a server is out of reach
	cancel    context.CancelFunc
	ended     sync.WaitGroup
}

const (
	// endpointLimit is how long a server of an endpoint may take to accept a connection.
	endpointLimit = 2 * time.Second
	// endpointAge is how long a connection is kept until it is renewed: otherwise the silent loss of a server
	// would go unnoticed.
	endpointAge = 500 * time.Millisecond
	// endpointPause is how long the watch waits before it reconnects after the server has closed the connection.
	endpointPause = 20 * time.Millisecond
)

// NoEndpoint returns the endpoint of a run without external servers. It watches nothing.
func NoEndpoint() *Endpoint { return &Endpoint{cancel: func() {}} }

// watchEndpoint watches servers, each host:port, until it is closed.
func watchEndpoint(ctx context.Context, addresses []string) *Endpoint {
	e := &Endpoint{addresses: addresses, Lost: make(chan error, 1)}
	ctx, e.cancel = context.WithCancel(ctx)
	for _, at := range addresses {
		e.ended.Go(func() {
			err := keepReaching(ctx, at)
			if ctx.Err() != nil {
				return
			}
			select {
			case e.Lost <- err:
			default: // another server was lost before
			}
		})
	}
	return e
}

// Close ends the watch.
func (e *Endpoint) Close() {
	e.cancel()
	e.ended.Wait()
}

// Reached checks once more that all servers are reachable, and returns the error of one that is not.
func (e *Endpoint) Reached(ctx context.Context) error {
	for _, at := range e.addresses {
		conn, err := reach(ctx, at)
		if err != nil {
			return err
		}
		conn.Close()
	}
	return nil
}

// keepReaching returns when a server is out of reach, with the reason, or when the context ends.
func keepReaching(ctx context.Context, address string) error {
	for ctx.Err() == nil {
		conn, err := reach(ctx, address)
		if err != nil {
			return err
		}
		ends := context.AfterFunc(ctx, func() { conn.Close() })
		conn.SetReadDeadline(time.Now().Add(endpointAge))
		_, err = io.Copy(io.Discard, conn)
		ends()
		conn.Close()
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			continue // the connection has reached its age
		}
		select {
		case <-ctx.Done():
		case <-time.After(endpointPause):
		}
	}
	return ctx.Err()
}

// reach connects to a server of an endpoint.
func reach(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: endpointLimit}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the endpoint %s is out of reach: %w", address, err)
	}
	return conn, nil
}

// checkEndpoint returns an error if a server is out of reach. Addresses are separated by commas; empty: no
// servers.
func checkEndpoint(ctx context.Context, addresses string) error {
	if addresses == "" {
		return nil
	}
	for at := range strings.SplitSeq(addresses, ",") {
		conn, err := reach(ctx, at)
		if err != nil {
			return unavailable.Mark(fmt.Errorf("%w; leave out --endpoint to have servers of the run's own", err))
		}
		conn.Close()
	}
	return nil
}
