package cluster

import (
	"context"
	"fmt"
	"strings"
)

// Proxies are TCP proxies on the loopback address, in a process of their own.
type Proxies struct{ service *service }

// LaunchProxies starts a process for proxies, by running a program and its arguments, which must call
// ServeProxies. It has no proxies yet.
func LaunchProxies(ctx context.Context, l *Launcher, program []string) (*Proxies, error) {
	s, err := l.startService("the process of the proxies", program)
	if err != nil {
		return nil, err
	}
	p := &Proxies{s}
	if _, err := p.InForce(ctx); err != nil { // it is up once it answers
		s.end()
		return nil, err
	}
	return p, nil
}

// Process returns the process of the proxies.
func (p *Proxies) Process() Process { return p.service.process }

// Close ends the proxies and their connections.
func (p *Proxies) Close() { p.service.end() }

// Add makes a proxy that passes connections on to an address, as in 127.0.0.1:4222, and returns the address
// that it listens on.
func (p *Proxies) Add(ctx context.Context, name, upstream string) (address string, err error) {
	err = p.service.ask(ctx, proxyOrder{Do: addProxy, Name: name, Upstream: upstream}, &address)
	return address, err
}

// Begin puts a fault in force: when it returns nil, it is.
func (p *Proxies) Begin(ctx context.Context, f ConnectionFault) error {
	return p.service.ask(ctx, proxyOrder{Do: beginFault, Fault: f}, nil)
}

// Heal takes the fault with that number back, and leaves all others in force: when it returns nil, the
// proxies pass on what they held up, and take connections again.
func (p *Proxies) Heal(ctx context.Context, number int) error {
	return p.service.ask(ctx, proxyOrder{Do: healFault, Fault: ConnectionFault{Number: number}}, nil)
}

// InForce returns the numbers of the faults that are in force. It is an error if some proxy does not pass on
// what comes though no fault is.
func (p *Proxies) InForce(ctx context.Context) ([]int, error) {
	var r proxyReport
	if err := p.service.ask(ctx, proxyOrder{Do: reportProxy}, &r); err != nil {
		return nil, err
	}
	if len(r.Faults) == 0 && len(r.Hit) > 0 {
		return nil, fmt.Errorf("no fault is in force, but proxies do not pass on what comes: %s",
			strings.Join(r.Hit, ", "))
	}
	return r.Faults, nil
}
