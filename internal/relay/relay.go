// Package relay forwards TCP connections. Its users may change what happens to the bytes.
package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Relay accepts connections at an address. For each it dials a connection, and forwards bytes both ways.
type Relay struct {
	Address string // host:port; Start replaces port 0 by a free one
	// Dial dials the connection for an accepted one. On an error, the accepted one is closed.
	Dial func(ctx context.Context, taken net.Conn) (net.Conn, error)
	// Pass forwards the bytes from one end: the client if up is set. It returns nil when that end has ended; the
	// other end may still send. On an error both ends are closed. Stop cancels the context. nil: copy the bytes.
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

// Start begins to accept connections. It does nothing if the relay accepts them already.
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

// Open reports whether the relay accepts connections.
func (r *Relay) Open() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listener != nil
}

// Stop closes all connections; bytes on their way are lost. New connections are refused until Start.
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
		case err != nil: // an error that may pass, such as too many open files
			time.Sleep(10 * time.Millisecond)
			continue
		}
		r.running.Go(func() { r.join(ctx, client) })
	}
}

// join forwards bytes both ways, until both ends have ended.
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
