package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"turnstile/internal/broker"
	"turnstile/internal/certs"
)

// Brokers are NATS servers, one per process, that route messages to each other.
type Brokers struct {
	hosts   []Host // the brokers are spread over these hosts in turn
	program []string
	name    string // name of a single broker, for messages to the user
	token   string
	all     []*brokerProcess
	outside string           // URL of an external server; empty: the run has brokers of its own
	proxies *Proxies         // proxies of the routes between brokers
	tls     *certs.Pair      // certificate of the brokers; nil: they do not speak TLS
	nowhere *Port            // port that the brokers advertise: see broker.Routes
	cuts    map[int][][2]int // by the number of a cut: the pairs of brokers whose route is closed
}

// A brokerProcess is a broker, which may be killed and restarted with the same address.
type brokerProcess struct {
	config broker.Config
	host   Host
	ports  []*Port
	worker *Worker
	url    string
}

// LaunchBrokers starts brokers on hosts, in turn. Each is a process that runs the program, which must call
// ServeBroker. If one fails, LaunchBrokers ends the others. If there is one broker, messages to the user call
// it name. When LaunchBrokers returns, each broker has a route to every other. The routes run through
// proxies; without proxies they cannot be cut. If tls is not nil, the brokers speak TLS with that
// certificate.
func LaunchBrokers(ctx context.Context, hosts []Host, program []string, name string, count int,
	proxies *Proxies, tls *certs.Pair) (*Brokers, error) {
	b := &Brokers{hosts: hosts, tls: tls, program: program, name: name, token: broker.NewToken(),
		proxies: proxies, cuts: map[int][][2]int{}}
	err := b.prepare(ctx, count)
	for i := 0; i < count && err == nil; i++ {
		err = b.start(ctx, i)
	}
	if err == nil {
		err = b.AwaitRoutes(ctx)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Outside returns an external NATS server in place of brokers of the run's own. All nodes connect to its URL.
func Outside(url string) *Brokers { return &Brokers{outside: url, proxies: &Proxies{}} }

// prepare takes the ports of all brokers, and makes the proxies of the routes. The later broker of a pair
// opens the route.
func (b *Brokers) prepare(ctx context.Context, count int) (err error) {
	for i := range count {
		br := &brokerProcess{host: b.hosts[i%len(b.hosts)],
			config: broker.Config{Token: b.token, Name: fmt.Sprintf("turnstile-%d", i), TLS: b.tls}}
		br.config.Listen = br.host.Address()
		b.all = append(b.all, br)
		if br.config.Port, err = br.takePort(); err != nil {
			return err
		}
		if count == 1 {
			return nil
		}
		if b.nowhere == nil {
			if b.nowhere, err = br.host.HoldPort(); err != nil {
				return err
			}
		}
		r := &broker.Routes{Nowhere: b.nowhere.Number}
		if r.Port, err = br.takePort(); err != nil {
			return err
		}
		for j, peer := range b.all[:i] {
			at := broker.AddressAt(peer.config.Listen, peer.config.Routes.Port)
			if at, err = b.proxies.Add(ctx, i%len(b.hosts), routeName(i, j), at); err != nil {
				return err
			}
			r.Peers = append(r.Peers, at)
		}
		br.config.Routes = r
	}
	return nil
}

func (br *brokerProcess) takePort() (int, error) {
	p, err := br.host.HoldPort()
	if err != nil {
		return 0, err
	}
	br.ports = append(br.ports, p)
	return p.Number, nil
}

// routeName names the proxy of the route between two brokers.
func routeName(i, j int) string { return fmt.Sprintf("route %d-%d", max(i, j), min(i, j)) }

// start starts the process of a broker.
func (b *Brokers) start(ctx context.Context, i int) error {
	br, name := b.all[i], b.name
	if len(b.all) > 1 {
		name = fmt.Sprintf("broker %d", i)
	}
	s, err := StartWorker(br.host, name, b.program)
	if err != nil {
		return err
	}
	if err := s.Ask(ctx, brokerOrder{Start: &br.config}, &br.url); err != nil {
		s.End()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("starting %s: %w", name, err)
	}
	br.worker = s
	return nil
}

// Ports returns all ports that the brokers listen on, for clients and for each other.
func (b *Brokers) Ports() (all []uint16) {
	for _, br := range b.all {
		for _, p := range br.ports {
			all = append(all, uint16(p.Number))
		}
	}
	return all
}

// Count returns the number of brokers, running or not.
func (b *Brokers) Count() int { return len(b.all) }

// URL returns the URL of a broker. It stays the same after a restart.
func (b *Brokers) URL(i int) string {
	if len(b.all) == 0 {
		return b.outside
	}
	return b.all[i].url
}

// Token returns the credential of all brokers.
func (b *Brokers) Token() string { return b.token }

// Process returns the latest process of a broker.
func (b *Brokers) Process(i int) Process { return b.all[i].worker }

// Running reports whether a broker has not ended.
func (b *Brokers) Running(i int) bool {
	select {
	case <-b.Process(i).Ended():
		return false
	default:
		return true
	}
}

// Kill ends a broker by SIGKILL, and waits until it has ended. Its ports stay reserved, and refuse
// connections.
func (b *Brokers) Kill(i int) error {
	if !b.Running(i) {
		return fmt.Errorf("%s has ended already", b.Process(i).Name())
	}
	b.all[i].worker.Dismiss()
	<-b.Process(i).Ended()
	return nil
}

// Restart starts a killed broker at its old address, with its old credential. The broker opens its routes
// again, which takes a second or two.
func (b *Brokers) Restart(ctx context.Context, i int) error {
	if b.Running(i) {
		return fmt.Errorf("%s runs, so it cannot be restarted: kill it first", b.Process(i).Name())
	}
	return b.start(ctx, i)
}

// Cut closes the routes between pairs of brokers, the lower number of a pair first. Messages in transit are
// lost. The routes stay closed until Heal is called with the same number, which is the number of the fault.
// The proxies carry out the cut.
func (b *Brokers) Cut(ctx context.Context, number int, routes [][2]int) error {
	f := ConnectionFault{Number: number, Reset: true}
	for _, r := range routes {
		if r[0] < 0 || r[0] >= r[1] || r[1] >= len(b.all) {
			return fmt.Errorf("there is no route between brokers %d and %d: they count from 0 to %d", r[0], r[1],
				len(b.all)-1)
		}
		f.Names = append(f.Names, routeName(r[1], r[0]))
	}
	if err := b.proxies.Begin(ctx, f); err != nil {
		return err
	}
	b.cuts[number] = routes
	return nil
}

// Heal ends the cut with that number. The brokers open their routes again within some seconds (see
// AwaitRoutes).
func (b *Brokers) Heal(ctx context.Context, number int) error {
	if err := b.proxies.Heal(ctx, number); err != nil {
		return err
	}
	delete(b.cuts, number)
	return nil
}

// counts asks a broker for its routes and subscriptions.
func (b *Brokers) counts(ctx context.Context, i int) (c brokerCount, err error) {
	err = b.all[i].worker.Ask(ctx, brokerOrder{}, &c)
	return c, err
}

// routes returns how many routes a broker should have: one to each other running broker, except for routes
// that are cut.
func (b *Brokers) routes(i int) (count int) {
	for j := range b.all {
		cut := false
		for _, routes := range b.cuts {
			cut = cut || slices.Contains(routes, [2]int{min(i, j), max(i, j)})
		}
		if j != i && b.Running(j) && !cut {
			count++
		}
	}
	return count
}

// Settled reports whether all brokers run, have a route to every other, and know the given numbers of
// subscriptions.
func (b *Brokers) Settled(ctx context.Context, subscriptions []int) (bool, error) {
	for i := range b.all {
		if !b.Running(i) {
			return false, nil
		}
	}
	return b.each(ctx, func(i int, c brokerCount) bool {
		return c.Routes == len(b.all)-1 && c.Subscriptions == subscriptions[i]
	})
}

// each reports whether the counts of every running broker meet a condition.
func (b *Brokers) each(ctx context.Context, is func(int, brokerCount) bool) (bool, error) {
	if len(b.all) <= 1 { // a single broker has no routes
		return true, nil
	}
	for i := range b.all {
		if !b.Running(i) {
			continue
		}
		if c, err := b.counts(ctx, i); err != nil || !is(i, c) {
			return false, err
		}
	}
	return true, nil
}

// AwaitRoutes waits until each running broker has its routes.
func (b *Brokers) AwaitRoutes(ctx context.Context) error {
	return b.await(ctx, "not all brokers have found each other", func(i int, c brokerCount) bool {
		return c.Routes == b.routes(i)
	})
}

// AwaitSubscriptions waits until each running broker knows the given number of subscriptions (see
// brokerCount). Until then, a broker may not route a message to a subscriber at another broker. A single
// broker needs no wait.
func (b *Brokers) AwaitSubscriptions(ctx context.Context, want []int) error {
	return b.await(ctx, "not all brokers know all subscriptions", func(i int, c brokerCount) bool {
		return c.Subscriptions == want[i]
	})
}

func (b *Brokers) await(ctx context.Context, failure string, is func(int, brokerCount) bool) error {
	for deadline := time.Now().Add(answerLimit); ; {
		switch all, err := b.each(ctx, is); {
		case all || err != nil:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("after %v, %s", answerLimit, failure)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends all brokers, and releases their ports.
func (b *Brokers) Close() {
	for _, br := range b.all {
		if br.worker != nil {
			br.worker.End()
		}
		for _, p := range br.ports {
			p.Release()
		}
	}
	if b.nowhere != nil {
		b.nowhere.Release()
	}
}

// A brokerOrder is an order to the process of a broker.
type brokerOrder struct {
	// Start is the configuration of the broker to start; the answer is the broker's URL. An order without Start
	// asks for a brokerCount.
	Start *broker.Config `json:"start,omitempty"`
}

// A brokerCount has the routes and subscriptions of a broker.
type brokerCount struct {
	Routes int `json:"routes"` // number of routes to other brokers
	// Subscriptions counts the subscriptions of the broker's own clients, and one for each subject that clients
	// of another broker subscribe to.
	Subscriptions int `json:"subscriptions"`
}

// ServeBroker runs a broker as a process started by a Launcher (see LaunchBrokers). It returns when the input
// ends.
func ServeBroker(in io.Reader, out io.Writer) error {
	var s *server.Server
	defer func() {
		if s != nil {
			s.Shutdown()
		}
	}()
	return ServeOrders(in, out, func(order json.RawMessage) (any, error) {
		var o brokerOrder
		if err := json.Unmarshal(order, &o); err != nil {
			return nil, fmt.Errorf("reading the broker's configuration: %w", err)
		}
		switch {
		case o.Start == nil && s == nil:
			return nil, errors.New("the broker cannot count: it was not started")
		case o.Start == nil:
			return brokerCount{s.NumRoutes(), int(s.NumSubscriptions())}, nil
		case s != nil:
			return nil, errors.New("the broker was started already")
		}
		var err error
		if s, err = broker.Start(*o.Start); err != nil {
			return nil, err
		}
		return s.ClientURL(), nil
	})
}
