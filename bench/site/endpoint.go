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

// An Endpoint is the servers of somebody else that a run is about. It looks from beside whether they are
// there: by one connection to each, on which nothing is sent, and which is made again when it ends.
type Endpoint struct {
	addresses []string
	Lost      chan error // gets why a server is out of reach, once
	cancel    context.CancelFunc
	ended     sync.WaitGroup
}

const (
	// endpointLimit is how long a server of an endpoint may take to accept a connection.
	endpointLimit = 2 * time.Second
	// endpointAge is how old a connection to it becomes: nobody hears of the end of one that is cut silently.
	endpointAge = 500 * time.Millisecond
	// endpointPause is how long the watch waits before it connects again, if the server has closed the
	// connection.
	endpointPause = 20 * time.Millisecond
)

// NoEndpoint returns the endpoint of a run that is about no servers of somebody else: nothing is watched.
func NoEndpoint() *Endpoint { return &Endpoint{cancel: func() {}} }

// watchEndpoint looks at servers, each host:port, until it is closed.
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

// Reached looks once more whether all servers are there, and returns why one is out of reach.
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

// keepReaching returns why a server cannot be reached any more, or an error once the context has ended.
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
			continue // it is as old as it becomes
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

// checkEndpoint returns an error if a server of an endpoint, which has commas between addresses, is out of
// reach; empty: there are none.
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
