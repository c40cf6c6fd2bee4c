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

// Brokers are NATS servers, each in a process of its own, that pass each other's messages on.
type Brokers struct {
	hosts   []Host // of the brokers, in turn
	program []string
	name    string // of the only one, for people
	token   string
	all     []*brokerProcess
	outside string           // the URL of a server of somebody else; empty: they are the run's own
	proxies *Proxies         // that the routes run through
	tls     *certs.Pair      // their certificate; nil: they do not speak TLS
	nowhere *Port            // see broker.Routes
	cuts    map[int][][2]int // by the number of a cut: the pairs between which there is no route
}

// A broker may be killed and come back, as the same server at the same address.
type brokerProcess struct {
	config broker.Config
	host   Host
	ports  []*Port
	worker *Worker
	url    string
}

// LaunchBrokers starts brokers on hosts, in turn, each in a process of its own, by running a program and
// its arguments, which must call ServeBroker, and ends them if not all can be. The name is that of the only
// one. When it returns, each has a route to every other. The routes run through proxies; if there are
// none, they cannot be cut. They speak TLS by one certificate, unless that is nil.
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

// Outside returns a NATS server of somebody else, by its URL, in place of brokers of the run's own. There are
// none of these, and all nodes connect to the server.
func Outside(url string) *Brokers { return &Brokers{outside: url, proxies: &Proxies{}} }

// prepare takes the ports of all brokers, and makes the proxies of the routes. Of two brokers the later one
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

// Ports returns the ports that all of them listen on, for clients and for each other.
func (b *Brokers) Ports() (all []uint16) {
	for _, br := range b.all {
		for _, p := range br.ports {
			all = append(all, uint16(p.Number))
		}
	}
	return all
}

// Count returns how many brokers there are, running or not.
func (b *Brokers) Count() int { return len(b.all) }

// URL returns the URL of a broker, which it keeps when it is restarted.
func (b *Brokers) URL(i int) string {
	if len(b.all) == 0 {
		return b.outside
	}
	return b.all[i].url
}

// Token returns the credential of all of them.
func (b *Brokers) Token() string { return b.token }

// Process returns the process of a broker, the latest if it was restarted.
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

// Kill ends a broker by SIGKILL, and waits until it has ended. Its ports are kept for it, and refuse
// connections.
func (b *Brokers) Kill(i int) error {
	if !b.Running(i) {
		return fmt.Errorf("%s has ended already", b.Process(i).Name())
	}
	b.all[i].worker.Dismiss()
	<-b.Process(i).Ended()
	return nil
}

// Restart starts a broker that was killed, at the same address and with the same credential. It opens its
// routes again, which takes the other brokers a second or two.
func (b *Brokers) Restart(ctx context.Context, i int) error {
	if b.Running(i) {
		return fmt.Errorf("%s runs, so it cannot be restarted: kill it first", b.Process(i).Name())
	}
	return b.start(ctx, i)
}

// Cut closes the routes between pairs of brokers; messages on their way are lost. Each pair has the lower
// number first. The routes stay closed until Heal is called with the same number, which is the number of
// the fault. The proxies carry out the cut.
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

// Heal takes the cut with that number back. The brokers open their routes again within some seconds (see
// AwaitRoutes).
func (b *Brokers) Heal(ctx context.Context, number int) error {
	if err := b.proxies.Heal(ctx, number); err != nil {
		return err
	}
	delete(b.cuts, number)
	return nil
}

// counts asks a broker what it knows of others.
func (b *Brokers) counts(ctx context.Context, i int) (c brokerCount, err error) {
	err = b.all[i].worker.Ask(ctx, brokerOrder{}, &c)
	return c, err
}

// routes returns how many routes a broker is to have: one to each that runs and is not cut off from it.
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

// Settled reports whether all brokers run, each with a route to every other, and know as many subscriptions
// as they are to know.
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

// each asks all brokers that run, and reports whether what they know is as it is to be.
func (b *Brokers) each(ctx context.Context, is func(int, brokerCount) bool) (bool, error) {
	if len(b.all) <= 1 { // which needs no other
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

// AwaitRoutes waits until each broker that runs has the routes that it is to have.
func (b *Brokers) AwaitRoutes(ctx context.Context) error {
	return b.await(ctx, "not all brokers have found each other", func(i int, c brokerCount) bool {
		return c.Routes == b.routes(i)
	})
}

// AwaitSubscriptions waits until each broker that runs knows as many subscriptions as it is to know (see
// brokerCount). Until then, a message may find no way to a subscriber at another broker. It does not wait if
// there is one broker.
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

// Close ends all brokers, and gives their ports back.
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

// A brokerOrder is what the process of a broker is told.
type brokerOrder struct {
	// Start is answered by the broker's URL; nil: an order to count, answered by a brokerCount.
	Start *broker.Config `json:"start,omitempty"`
}

// A brokerCount is what a broker knows of others.
type brokerCount struct {
	Routes int `json:"routes"` // that it has
	// Subscriptions are those of its own clients, and one for each subject that clients of another broker have
	// subscribed to.
	Subscriptions int `json:"subscriptions"`
}

// ServeBroker runs a broker as a process that a Launcher started (see LaunchBrokers). It returns when in
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
			return nil, errors.New("the broker is to count, and was not started")
		case o.Start == nil:
			return brokerCount{s.NumRoutes(), int(s.NumSubscriptions())}, nil
		case s != nil:
			return nil, errors.New("the broker is to start a second time")
		}
		var err error
		if s, err = broker.Start(*o.Start); err != nil {
			return nil, err
		}
		return s.ClientURL(), nil
	})
}
