// Package relay passes TCP connections on. What becomes of their bytes is up to its users.
package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Relay takes the connections to an address. For each it makes a connection of its own, and passes on what
// comes from either end.
type Relay struct {
	Address string // host:port; Start replaces port 0 by a free one
	// Dial makes the connection for one that was taken. With an error, that one is closed.
	Dial func(ctx context.Context, taken net.Conn) (net.Conn, error)
	// Pass passes on what comes from one end; up: from the client. If it returns nil, nothing more comes from
	// there, and the other end may still send. With an error both ends are closed. Stop cancels the context.
	// nil: bytes are copied as they come.
	Pass func(ctx context.Context, to, from net.Conn, up bool) error

	mu       sync.Mutex
	listener net.Listener // nil: connections are refused
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// To returns a Dial that connects to an address within two seconds.
func To(address string) func(context.Context, net.Conn) (net.Conn, error) {
	return func(ctx context.Context, _ net.Conn) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", address)
	}
}

// Start has the relay take connections. It does nothing if the relay takes them already.
func (r *Relay) Start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", r.Address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.listener, r.Address, r.cancel = l, l.Addr().String(), cancel
	r.running.Go(func() { r.accept(ctx, l) })
	return nil
}

// Open reports whether connections are taken.
func (r *Relay) Open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listener != nil
}

// Stop closes all connections, and what is on its way is lost. New ones are refused until Start.
func (r *Relay) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil {
		return
	}
	r.listener.Close()
	r.listener = nil
	r.cancel()
	r.running.Wait()
}

func (r *Relay) accept(ctx context.Context, l net.Listener) {
	for {
		client, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no file is free, say
			time.Sleep(10 * time.Millisecond)
			continue
		}
		r.running.Go(func() { r.join(ctx, client) })
	}
}

// join passes on what comes from either end, until both have ended.
func (r *Relay) join(ctx context.Context, client net.Conn) {
	server, err := r.Dial(ctx, client)
	if err != nil {
		client.Close()
		return
	}
	ctx, end := context.WithCancel(ctx)
	pass := func(to, from net.Conn, up bool) {
		if err := r.pass(ctx, to, from, up); err != nil {
			end()
			return
		}
		to.(*net.TCPConn).CloseWrite()
	}
	var passing, closing sync.WaitGroup
	passing.Go(func() { pass(server, client, true) })
	passing.Go(func() { pass(client, server, false) })
	closing.Go(func() {
		<-ctx.Done()
		client.Close()
		server.Close()
	})
	passing.Wait()
	end()
	closing.Wait()
}

func (r *Relay) pass(ctx context.Context, to, from net.Conn, up bool) error {
	if r.Pass != nil {
		return r.Pass(ctx, to, from, up)
	}
	_, err := io.Copy(to, from)
	return err
}
