package servicetest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A Proxy passes connections on to a server, until it is cut.
type Proxy struct {
	Address string
	to      string

	mu     sync.Mutex
	cut    bool
	conns  []net.Conn
	passed int // bytes
}

// NewProxy returns a proxy of a server, which ends with the test.
func NewProxy(t *testing.T, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), to: to}
	t.Cleanup(func() {
		l.Close()
		p.Heal()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.accept(c)
		}
	}()
	return p
}

func (p *Proxy) accept(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
	if p.cut {
		return
	}
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		c.Close()
		return
	}
	p.conns = append(p.conns, s)
	go p.pass(c, s)
	go p.pass(s, c)
}

// pass passes on what comes from one end, and its end. What comes while the proxy is cut is dropped.
func (p *Proxy) pass(from, to net.Conn) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		cut := p.cut
		if !cut {
			p.passed += n
		}
		p.mu.Unlock()
		if err != nil && !cut {
			to.Close()
		}
		if err != nil {
			return
		}
		if !cut {
			if _, err := to.Write(b[:n]); err != nil {
				io.Copy(io.Discard, from)
			}
		}
	}
}

// Passed returns how many bytes have come since it was asked the last time, from both ends.
func (p *Proxy) Passed() (bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	bytes, p.passed = p.passed, 0
	return bytes
}

// Cut has nothing pass any more: both ends hear nothing of it.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
}

// Heal ends all connections, and has new ones pass.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
