package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/relay"
)

// A ConnectionFault is what is wrong with connections that run through proxies, until it is healed. Of
// several on one connection, latencies add up and the least bandwidth counts.
type ConnectionFault struct {
	Number int      `json:"number"` // from 1; names the fault
	Names  []string `json:"names"`  // of the proxies that it hits

	Latency   time.Duration `json:"latency,omitempty"`   // in each direction
	Bandwidth int64         `json:"bandwidth,omitempty"` // bytes per second in each direction
	// Stall: nothing passes, though the connection stands. What is sent meanwhile passes once it is healed.
	Stall bool `json:"stall,omitempty"`
	// Drop: what comes is read and dropped. A connection that has lost data is closed once the fault is healed,
	// since the data would have been sent again.
	Drop bool `json:"drop,omitempty"`
	// Answer: one answer to each of some clients is lost; nil: none is.
	Answer *AnswerFault `json:"answer,omitempty"`
	// Reset: connections are closed at once, with all that is on its way, and new ones are refused.
	Reset bool `json:"reset,omitempty"`
}

// check says what is wrong with the fault itself.
func (f *ConnectionFault) check() error {
	switch {
	case f.Number < 1:
		return fmt.Errorf("a fault has the number %d: they count from 1", f.Number)
	case len(f.Names) == 0:
		return fmt.Errorf("fault %d hits no connection", f.Number)
	case f.Latency < 0:
		return fmt.Errorf("fault %d: a latency of %v: it must be longer than nothing", f.Number, f.Latency)
	case f.Bandwidth < 0:
		return fmt.Errorf("fault %d: %d bytes per second: it must be one at least", f.Number, f.Bandwidth)
	case f.Latency == 0 && f.Bandwidth == 0 && !f.Stall && !f.Drop && !f.Reset && f.Answer == nil:
		return fmt.Errorf("fault %d does nothing: it takes a latency, a bandwidth, a stall, a drop, an answer or "+
			"a reset", f.Number)
	}
	return nil
}

// An AnswerFault has the nth answer to each client get lost, counted over all of the client's proxies from
// the time that the fault begins. An answer is what comes from the server after the client has said
// something.
type AnswerFault struct {
	Nth uint64            `json:"nth"`
	Of  map[string]string `json:"of"` // the client of each proxy
	// Close has the connection closed in place of the answer. Otherwise the client hears nothing more by that
	// connection until the fault is healed, and then it is closed.
	Close bool `json:"close,omitempty"`

	losses map[string]*answerLoss // by client
}

// An answerLoss is what such a fault does to one client.
type answerLoss struct {
	nth   uint64
	close bool
	seen  atomic.Uint64
}

// begin has the answers of each client be counted.
func (f *AnswerFault) begin() {
	if f == nil {
		return
	}
	f.losses = map[string]*answerLoss{}
	for _, client := range f.Of {
		f.losses[client] = &answerLoss{nth: f.Nth, close: f.Close}
	}
}

// of returns what it does to the client of a proxy.
func (f *AnswerFault) of(proxy string) []*answerLoss {
	if f == nil {
		return nil
	}
	return []*answerLoss{f.losses[f.Of[proxy]]}
}

// lost returns how many answers were lost.
func (f *AnswerFault) lost() (count int) {
	if f == nil {
		return 0
	}
	for _, l := range f.losses {
		if l.seen.Load() >= l.nth {
			count++
		}
	}
	return count
}

// A proxyOrder is what the process of the proxies is told.
type proxyOrder struct {
	Do       string          `json:"do"`
	Name     string          `json:"name,omitempty"`     // add, last; bytes: the text
	Upstream string          `json:"upstream,omitempty"` // add: the address that the proxy connects to
	Fault    ConnectionFault `json:"fault,omitzero"`     // begin; heal takes its number alone
}

// The orders.
const (
	addProxy    = "add" // answered by the address that it listens on
	beginFault  = "begin"
	healFault   = "heal"
	reportProxy = "report" // answered by a proxyReport
	countLost   = "lost"   // answered by how many answers a fault has lost
	countBytes  = "bytes"  // answered by how many bytes came to proxies whose names have a text in them
	lastAnswer  = "last"   // answered by when the proxy's server answered last, 0 if never
)

// A proxyReport says what is in force, by what the proxies do and not by what they were told.
type proxyReport struct {
	Faults []int    `json:"faults"` // numbers
	Hit    []string `json:"hit"`    // proxies that do not pass on all that comes as it comes
}

// ServeProxies runs TCP proxies on the loopback address, as a process that a Launcher started (see
// LaunchProxies). It returns when in ends.
func ServeProxies(in io.Reader, out io.Writer) error {
	s := proxyServer{proxies: map[string]*proxy{}, faults: map[int]ConnectionFault{}}
	return ServeOrders(in, out, s.obey)
}

// A proxyServer has the proxies of a process.
type proxyServer struct {
	proxies map[string]*proxy
	faults  map[int]ConnectionFault
}

// A proxy passes connections on to one address.
type proxy struct {
	relay.Relay
	port *Port
	rule atomic.Pointer[rule] // of its lines
	// asked says that the client has said something since the server answered last.
	asked atomic.Bool
	bytes atomic.Uint64 // that came, of both directions
	// answered is when something came of the server last, in nanoseconds since the proxies were started; 0:
	// nothing did.
	answered atomic.Int64
}

func (s *proxyServer) obey(order json.RawMessage) (any, error) {
	var o proxyOrder
	if err := json.Unmarshal(order, &o); err != nil {
		return nil, fmt.Errorf("reading an order for the proxies: %w", err)
	}
	switch o.Do {
	case addProxy:
		return s.add(o.Name, o.Upstream)
	case beginFault:
		return nil, s.begin(o.Fault)
	case healFault:
		return nil, s.heal(o.Fault.Number)
	case reportProxy:
		return s.report(), nil
	case countBytes:
		return s.bytes(o.Name), nil
	case lastAnswer:
		if s.proxies[o.Name] == nil {
			return nil, fmt.Errorf("there is no proxy %s", o.Name)
		}
		return s.proxies[o.Name].answered.Load(), nil
	case countLost:
		return s.faults[o.Fault.Number].Answer.lost(), nil
	}
	return nil, fmt.Errorf("there is no order %q for the proxies", o.Do)
}

// add makes a proxy and returns the address that it listens on.
func (s *proxyServer) add(name, upstream string) (string, error) {
	if s.proxies[name] != nil {
		return "", fmt.Errorf("there is a proxy %s already", name)
	}
	held, err := HoldPort()
	if err != nil {
		return "", err
	}
	p := &proxy{Relay: relay.Relay{Address: broker.Address(held.Number), Dial: relay.To(upstream)}, port: held}
	p.Pass = func(ctx context.Context, to, from net.Conn, up bool) error {
		return (&line{p, !up}).pass(ctx, to, from)
	}
	p.rule.Store(&rule{changed: make(chan struct{})})
	if err := p.Start(); err != nil {
		held.Release()
		return "", fmt.Errorf("starting the proxy %s: %w", name, err)
	}
	s.proxies[name] = p
	return p.Address, nil
}

// begin puts a fault in force: at all of its proxies, or at none.
func (s *proxyServer) begin(f ConnectionFault) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, is := s.faults[f.Number]; is {
		return fmt.Errorf("fault %d is in force already", f.Number)
	}
	for _, name := range f.Names {
		if s.proxies[name] == nil {
			return fmt.Errorf("fault %d: there is no proxy %s", f.Number, name)
		}
	}
	f.Answer.begin()
	s.faults[f.Number] = f
	return s.apply(f.Names)
}

// heal takes a fault back.
func (s *proxyServer) heal(number int) error {
	f, is := s.faults[number]
	if !is {
		return fmt.Errorf("no fault %d is in force", number)
	}
	delete(s.faults, number)
	return s.apply(f.Names)
}

// apply has some proxies do what all faults together make of them.
func (s *proxyServer) apply(names []string) error {
	var errs []error
	for _, name := range names {
		p, reset := s.proxies[name], false
		next := &rule{changed: make(chan struct{})}
		for _, f := range s.faults {
			if slices.Contains(f.Names, name) {
				reset = reset || f.Reset
				next.add(f)
				next.answers = append(next.answers, f.Answer.of(name)...)
			}
		}
		close(p.rule.Swap(next).changed)
		if reset {
			p.Stop()
		} else {
			errs = append(errs, p.Start())
		}
	}
	return errors.Join(errs...)
}

// add adds to a rule what a fault does.
func (r *rule) add(f ConnectionFault) {
	r.latency += f.Latency
	if f.Bandwidth > 0 && (r.bandwidth == 0 || f.Bandwidth < r.bandwidth) {
		r.bandwidth = f.Bandwidth
	}
	r.stall, r.drop = r.stall || f.Stall, r.drop || f.Drop
}

// bytes returns how many bytes came to the proxies whose names have a text in them.
func (s *proxyServer) bytes(about string) (sum uint64) {
	for name, p := range s.proxies {
		if strings.Contains(name, about) {
			sum += p.bytes.Load()
		}
	}
	return sum
}

// report says what is in force.
func (s *proxyServer) report() proxyReport {
	r := proxyReport{Faults: slices.Sorted(maps.Keys(s.faults))}
	for name, p := range s.proxies {
		if at := p.rule.Load(); at.latency > 0 || at.bandwidth > 0 || at.stall || at.drop || !p.Open() {
			r.Hit = append(r.Hit, name)
		}
	}
	slices.Sort(r.Hit)
	return r
}
