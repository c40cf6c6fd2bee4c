package servicetest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"turnstile/internal/relay"
)

// A Proxy passes connections on to a server, until it is cut.
type Proxy struct {
	relay.Relay
	t      *testing.T
	cut    atomic.Bool
	passed atomic.Int64 // bytes
}

// NewProxy returns a proxy of a server, which ends with the test.
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

// pass passes on what comes from one end, and its end. What comes while the proxy is cut is dropped.
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

// Passed returns how many bytes have come since it was asked the last time, from both ends.
func (p *Proxy) Passed() (bytes int) { return int(p.passed.Swap(0)) }

// Cut has nothing pass any more: both ends hear nothing of it.
func (p *Proxy) Cut() { p.cut.Store(true) }

// Heal ends all connections, and has new ones pass.
func (p *Proxy) Heal() {
	p.Stop()
	p.cut.Store(false)
	if err := p.Start(); err != nil {
		p.t.Error(err)
	}
}
