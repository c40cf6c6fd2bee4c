package servicetest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"turnstile/internal/relay"
)

// A Proxy forwards connections to a server. After Cut it drops their data instead.
type Proxy struct {
	relay.Relay
	t      *testing.T
	cut    atomic.Bool
	passed atomic.Int64 // bytes forwarded since Passed was last called
}

// NewProxy returns a proxy for a server. The proxy stops when the test ends.
func NewProxy(t *testing.T, to string) *Proxy {
	t.Helper()
	p := &Proxy{Relay: relay.Relay{Address: "127.0.0.1:0", Dial: relay.To(to)}, t: t}
	p.Pass = p.pass
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if dir, known := folders.Load(to); known {
		folders.Store(p.Address, dir)
	}
	t.Cleanup(p.Stop)
	return p
}

// pass forwards data in one direction, and the end of the stream. While the proxy is cut, data is dropped.
func (p *Proxy) pass(ctx context.Context, to, from net.Conn, _ bool) error {
	for b := make([]byte, 1<<16); ; {
		n, err := from.Read(b)
		cut := p.cut.Load()
		switch {
		case err != nil && cut:
			<-ctx.Done()
			return ctx.Err()
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case cut:
			continue
		}
		p.passed.Add(int64(n))
		if _, err := to.Write(b[:n]); err != nil {
			return err
		}
	}
}

// Passed returns how many bytes were forwarded in both directions since Passed was last called.
func (p *Proxy) Passed() (bytes int) { return int(p.passed.Swap(0)) }

// Cut makes the proxy drop all data silently from now on.
func (p *Proxy) Cut() { p.cut.Store(true) }

// Heal closes all connections, and makes the proxy forward new ones.
func (p *Proxy) Heal() {
	p.Stop()
	p.cut.Store(false)
	if err := p.Start(); err != nil {
		p.t.Error(err)
	}
}
