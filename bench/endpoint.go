package bench

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
	"turnstile/nodes"
)

// An endpoint is the servers of somebody else that a run is about. It looks from beside whether they are
// there: by one connection to each, on which nothing is sent, and which is made again when it ends.
type endpoint struct {
	addresses []string
	lost      chan error // gets why a server is out of reach, once
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

// watchEndpoint looks at servers, each host:port, until it is closed.
func watchEndpoint(ctx context.Context, addresses []string) *endpoint {
	e := &endpoint{addresses: addresses, lost: make(chan error, 1)}
	ctx, e.cancel = context.WithCancel(ctx)
	for _, at := range addresses {
		e.ended.Go(func() {
			err := keepReaching(ctx, at)
			if ctx.Err() != nil {
				return
			}
			select {
			case e.lost <- err:
			default: // another server was lost before
			}
		})
	}
	return e
}

// close ends the watch. Nil is a run that has no endpoint.
func (e *endpoint) close() {
	if e != nil {
		e.cancel()
		e.ended.Wait()
	}
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

// watchEndpoint looks from now on whether the servers of somebody else are there that the run is about, if it
// is about such.
func (t *trial) watchEndpoint() {
	if s := t.transport.service; s != nil && s.program.Endpoint != "" {
		t.nodes.endpoint = watchEndpoint(t.nodes.ctx, s.addresses)
	}
}

// lostEndpoint gets why the servers of somebody else are out of reach; nil: there are none.
func (n *nodeSet) lostEndpoint() <-chan error {
	if n.endpoint == nil {
		return nil
	}
	return n.endpoint.lost
}

// unreached looks once more, so that no stall is told of servers that are not there.
func (n *nodeSet) unreached() error {
	if n.endpoint == nil {
		return nil
	}
	for _, at := range n.endpoint.addresses {
		conn, err := reach(n.ctx, at)
		if err != nil {
			return n.outOfReach(err)
		}
		conn.Close()
	}
	return nil
}

// outOfReach ends a trial whose endpoint is: what clients do from then on says nothing about the service, and
// nobody knows whether its servers still have their data.
func (n *nodeSet) outOfReach(why error) error {
	return errors.Join(fmt.Errorf("%w; what clients do from then on says nothing about the service", why),
		n.broke(nodes.ServersUp|nodes.ServerMajority|nodes.NoAmnesia))
}
