package servicetest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"turnstile/internal/relay"
)

// A Proxy forwards connections to a server, until it is cut.
type Proxy struct {
	relay.Relay
	t      *testing.T
	cut    atomic.Bool
	passed atomic.Int64 // bytes
}

// NewProxy returns a proxy for a server. It ends with the test.
func NewProxy(t *testing.T, to string) *Proxy {
	t.Helper()
	p := &Proxy{Relay: relay.Relay{Address: "127.0.0.1:0", Dial: relay.To(to)}, t: t}
	p.Pass = p.pass
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// pass forwards data and the end of one side. While the proxy is cut, data is dropped.
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

// Passed returns how many bytes have come from both ends since its last call.
func (p *Proxy) Passed() (bytes int) { return int(p.passed.Swap(0)) }

// Cut drops all data silently from now on.
func (p *Proxy) Cut() { p.cut.Store(true) }

// Heal closes all connections, and forwards new ones.
func (p *Proxy) Heal() {
	p.Stop()
	p.cut.Store(false)
	if err := p.Start(); err != nil {
		p.t.Error(err)
	}
}
