package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Proxies are TCP proxies on the loopback addresses of hosts, in a process of their own on each.
type Proxies struct {
	workers []*Worker      // by host
	on      map[string]int // the host of each proxy, by its name
	in      map[int][]int  // the hosts that a fault is in force on, by its number
}

// LaunchProxies starts a process for proxies on each host, by running a program and its arguments, which must
// call ServeProxies. There are no proxies yet.
func LaunchProxies(ctx context.Context, hosts []Host, program []string) (*Proxies, error) {
	p := &Proxies{on: map[string]int{}, in: map[int][]int{}}
	for i, host := range hosts {
		name := "the process of the proxies"
		if len(hosts) > 1 {
			name = fmt.Sprintf("the process of the proxies of host %d", i)
		}
		s, err := StartWorker(host, name, program)
		if err == nil {
			p.workers = append(p.workers, s)
			_, err = p.report(ctx, i) // it is up once it answers
		}
		if err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Processes returns the processes of the proxies, by host.
func (p *Proxies) Processes() (all []Process) {
	for _, s := range p.workers {
		all = append(all, s)
	}
	return all
}

// Close ends the proxies and their connections.
func (p *Proxies) Close() {
	for _, s := range p.workers {
		s.End()
	}
}

// Add makes a proxy on a host that passes connections on to an address, as in 127.0.0.1:4222, and returns the
// address that it listens on.
func (p *Proxies) Add(ctx context.Context, host int, name, upstream string) (address string, err error) {
	err = p.workers[host].Ask(ctx, proxyOrder{Do: addProxy, Name: name, Upstream: upstream}, &address)
	if err == nil {
		p.on[name] = host
	}
	return address, err
}

// Begin puts a fault in force: when it returns nil, it is.
func (p *Proxies) Begin(ctx context.Context, f ConnectionFault) error {
	of := map[int][]string{}
	for _, name := range f.Names {
		of[p.on[name]] = append(of[p.on[name]], name)
	}
	if len(of) == 0 { // which the first refuses
		of[0] = nil
	}
	for _, host := range slices.Sorted(maps.Keys(of)) {
		f.Names = of[host]
		if err := p.workers[host].Ask(ctx, proxyOrder{Do: beginFault, Fault: f}, nil); err != nil {
			return err
		}
		p.in[f.Number] = append(p.in[f.Number], host)
	}
	return nil
}

// Heal takes the fault with that number back, and leaves all others in force: when it returns nil, the
// proxies pass on what they held up, and take connections again.
func (p *Proxies) Heal(ctx context.Context, number int) error {
	hosts := p.in[number]
	if len(hosts) == 0 { // the first says that there is none
		hosts = []int{0}
	}
	for _, host := range hosts {
		order := proxyOrder{Do: healFault, Fault: ConnectionFault{Number: number}}
		if err := p.workers[host].Ask(ctx, order, nil); err != nil {
			return err
		}
	}
	delete(p.in, number)
	return nil
}

// Answers returns how many answers a fault of answers has lost.
func (p *Proxies) Answers(ctx context.Context, number int) (count uint64, err error) {
	for _, host := range p.in[number] {
		var lost uint64
		order := proxyOrder{Do: countLost, Fault: ConnectionFault{Number: number}}
		if err := p.workers[host].Ask(ctx, order, &lost); err != nil {
			return count, err
		}
		count += lost
	}
	return count, nil
}

// Bytes returns how many bytes came to the proxies of all hosts whose names have a text in them.
func (p *Proxies) Bytes(ctx context.Context, about string) (sum uint64, err error) {
	for _, w := range p.workers {
		var bytes uint64
		if err := w.Ask(ctx, proxyOrder{Do: countBytes, Name: about}, &bytes); err != nil {
			return 0, err
		}
		sum += bytes
	}
	return sum, nil
}

// LastOf returns which of some proxies, all on one host, has had the last bytes of its server; -1: none has
// had any.
func (p *Proxies) LastOf(ctx context.Context, names []string) (which int, err error) {
	which = -1
	var latest time.Duration
	for i, name := range names {
		var at time.Duration
		if err := p.workers[p.on[name]].Ask(ctx, proxyOrder{Do: lastAnswer, Name: name}, &at); err != nil {
			return -1, err
		}
		if at > latest {
			which, latest = i, at
		}
	}
	return which, nil
}

// InForce returns the numbers of the faults that are in force. It is an error if some proxy does not pass on
// what comes though no fault is.
func (p *Proxies) InForce(ctx context.Context) (numbers []int, err error) {
	for host := range p.workers {
		r, err := p.report(ctx, host)
		switch {
		case err != nil:
			return nil, err
		case len(r.Faults) == 0 && len(r.Hit) > 0:
			return nil, errors.New("no fault is in force, but proxies do not pass on what comes: " +
				strings.Join(r.Hit, ", "))
		}
		numbers = append(numbers, r.Faults...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// report asks the proxies of a host what is in force.
func (p *Proxies) report(ctx context.Context, host int) (r proxyReport, err error) {
	err = p.workers[host].Ask(ctx, proxyOrder{Do: reportProxy}, &r)
	return r, err
}
