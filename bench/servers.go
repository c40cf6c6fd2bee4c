package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/internal/unavailable"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
)

// servers carry out the verbs of members on the servers of a run's service.
type servers struct {
	*serving // nil: the run has none
	ctx      context.Context
	through  *cluster.Proxies // between clients and servers; nil: there are none
}

var errNoServers = errors.New("this run has no servers of its own: choose a service with --service")

// lookLimit is how long servers may take to say which of them leads.
const lookLimit = time.Second

// own returns the servers, if the run has started them.
func (s servers) own() error {
	if s.serving == nil || s.servers == nil {
		return errNoServers
	}
	return nil
}

// count returns how many servers the run has started.
func (s servers) count() int {
	if s.own() != nil {
		return 0
	}
	return len(s.addresses)
}

func (s servers) up(i int) bool {
	if s.own() != nil {
		return false
	}
	pids, err := s.servers.PIDs(s.ctx)
	return err == nil && i < len(pids) && pids[i] != 0
}

// leading returns the server that leads now; none, if none does.
func (s servers) leading() ([]port.Member, error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, lookLimit)
	defer cancel()
	i, err := s.servers.Leader(ctx)
	if err != nil || i < 0 {
		return nil, err
	}
	return []port.Member{{Role: port.Server, I: i}}, nil
}

// answered returns the server that a client has had the last bytes of.
func (s servers) answered(client nodes.ID) ([]port.Member, error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	if s.through == nil {
		return nil, errNoProxies
	}
	var names []string
	for i := range s.count() {
		names = append(names, serverConnection(client, i))
	}
	last, err := s.through.LastOf(s.ctx, names)
	if err == nil && last < 0 {
		err = fmt.Errorf("no server has answered node %d yet", client)
	}
	return []port.Member{{Role: port.Server, I: last}}, err
}

func (s servers) kill(i int) error {
	return s.do(func() error { return s.servers.Kill(s.ctx, i) })
}

func (s servers) start(i int, forget bool) error {
	return s.do(func() error { return s.servers.Restart(s.ctx, i, forget) })
}

func (s servers) stop(i int) error {
	return s.do(func() error { return s.servers.Stop(s.ctx, i) })
}

func (s servers) goOn(i int) error {
	return s.do(func() error { return s.servers.Go(s.ctx, i) })
}

func (s servers) setClock(i int, by time.Duration, _ float64) error {
	return s.do(func() error { return s.servers.Skew(s.ctx, i, by) })
}

func (s servers) promote(i int) error {
	return s.do(func() error { return s.servers.Promote(s.ctx, i) })
}

// do calls what takes servers of the run's own.
func (s servers) do(what func() error) error {
	if err := s.own(); err != nil {
		return err
	}
	return what()
}

// strain cuts connections of servers, or loses answers to clients. It returns a function that ends the
// strain.
func (s servers) strain(number int, of port.Strain) (func() (uint64, error), error) {
	f := cluster.ConnectionFault{Number: number}
	if of.Answer > 0 {
		f.Answer = &cluster.AnswerFault{Nth: of.Answer, Close: of.Close, Of: map[string]string{}}
	} else {
		f.Drop, f.Reset = !of.Close, of.Close
	}
	for _, l := range of.Links {
		if l.A.Role == port.Node {
			name := serverConnection(l.A.ID(), l.B.I)
			f.Names = append(f.Names, name)
			if f.Answer != nil {
				f.Answer.Of[name] = fmt.Sprint(l.A.I)
			}
			continue
		}
		for _, peer := range s.peers() {
			if min(peer.From, peer.To) == min(l.A.I, l.B.I) && max(peer.From, peer.To) == max(l.A.I, l.B.I) {
				f.Names = append(f.Names, peer.String())
			}
		}
	}
	switch {
	case s.serving == nil:
		return nil, errNoServers
	case s.through == nil:
		return nil, errNoProxies
	}
	end := func() (lost uint64, err error) {
		if of.Answer > 0 {
			if lost, err = s.through.Answers(s.ctx, number); err != nil {
				return 0, err
			}
		}
		return lost, s.through.Heal(s.ctx, number)
	}
	return end, s.through.Begin(s.ctx, f)
}

// peers returns the links between servers that run through proxies.
func (s servers) peers() []service.PeerLink {
	if s.serving == nil {
		return nil
	}
	return s.links
}

// clientBytes returns how many bytes clients and servers have exchanged so far, if that is known: if they do
// so through proxies.
func (s servers) clientBytes() (bytes int64, known bool, err error) {
	if s.serving == nil || s.through == nil {
		return 0, false, nil
	}
	sum, err := s.through.Bytes(s.ctx, toServer)
	return int64(sum), true, err
}

// Options of a service that are not its own: what the run was made with, and servers that run already.
const (
	EndpointOption      = "endpoint"
	ServerVersionOption = "server-version"
	ClientVersionOption = "client-version"
)

// ServiceProgram returns where the service of a configuration is found, with its own options; nil: the
// configuration is of none.
func (s *Setup) ServiceProgram(c nodes.Config) (*service.Program, error) {
	name := c.Options[foreign.ServiceOption]
	if name == "" {
		return nil, nil
	}
	if s.Services == nil {
		return nil, errors.New("this program has no services")
	}
	command, err := s.Services(name)
	if err != nil {
		return nil, err
	}
	p := &service.Program{Command: command, Name: name, Server: s.ServerProgram}
	for option, value := range foreign.OptionsOf(c) {
		switch option {
		case EndpointOption:
			p.Endpoint = value
		case ServerVersionOption, ClientVersionOption:
		default:
			p.Words = append(p.Words, option+"="+value)
		}
	}
	slices.Sort(p.Words)
	return p, nil
}

// A serving is the service of a run, whose clients are its nodes.
type serving struct {
	program   *service.Program
	servers   *service.Running // nil: it has none, or they are somebody else's
	addresses []string         // of the servers
	proxies   [][]string       // of the proxies of each node, by server; nil: nodes connect to the servers
	// links are those between servers, by proxies; nil: servers reach each other directly.
	links []service.PeerLink
}

// serve finds the service, if the run is about one, and takes the ports of its servers.
func (t *transport) serve(ctx context.Context, s *Setup, on cluster.Host, j *Job) error {
	p, err := s.ServiceProgram(j.Config)
	if err != nil || p == nil {
		return err
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	if was := j.Config.Options[ServerVersionOption]; was != "" && was != d.Server {
		return fmt.Errorf("the run is about %s %s, and the server here is %s: make a run of that", p.Name, was,
			d.Server)
	}
	t.service = &serving{program: p}
	switch {
	case p.Endpoint != "":
		t.service.addresses = strings.Split(p.Endpoint, ",")
		return nil
	case d.Members == 0:
		return nil
	}
	t.service.servers, err = service.Hold(ctx, on, p)
	if err == nil {
		t.service.addresses = t.service.servers.Addresses
	}
	return err
}

// start starts the servers, if there are any of the run's own.
func (s *serving) start(ctx context.Context, p *cluster.Proxies, j *Job) error {
	if s == nil {
		return nil
	}
	if p != nil {
		if err := s.toProxies(ctx, p, j); err != nil {
			return err
		}
	}
	if s.servers == nil {
		return nil
	}
	return s.servers.Start(ctx, s.links, chaos.SkewsServers(j.Faults))
}

// toProxies has each node reach the servers by proxies of its own, and each server all others.
func (s *serving) toProxies(ctx context.Context, p *cluster.Proxies, j *Job) error {
	for id := range nodes.ID(j.total()) {
		var own []string
		for i, address := range s.addresses {
			at, err := p.Add(ctx, 0, serverConnection(id, i), address)
			if err != nil {
				return err
			}
			own = append(own, at)
		}
		s.proxies = append(s.proxies, own)
	}
	if s.servers == nil {
		return nil
	}
	for _, l := range s.servers.Links {
		at, err := p.Add(ctx, 0, l.String(), l.Address)
		if err != nil {
			return err
		}
		l.Address = at
		s.links = append(s.links, l)
	}
	return nil
}

// toServer is in the names of these proxies alone.
const toServer = " to the server "

// serverConnection names the proxy between a node and a server.
func serverConnection(id nodes.ID, server int) string {
	return fmt.Sprintf("node %d%s%d", id, toServer, server)
}

// of returns where a node finds the service. All names that its clients make begin with the name of the
// trial.
func (s *serving) of(id nodes.ID, trial string) foreign.Service {
	if s == nil {
		return foreign.Service{}
	}
	at := foreign.Service{Servers: s.addresses, Prefix: "turnstile/" + trial + "/"}
	if s.proxies != nil {
		at.Servers = s.proxies[id]
	}
	return at
}

// close ends the servers.
func (s *serving) close() error {
	if s == nil || s.servers == nil {
		return nil
	}
	return s.servers.Close()
}

// An endpoint is the servers of somebody else that a run is about. It looks from beside whether they are
// there: by one connection to each, on which nothing is sent, and which is made again when it ends.
type endpoint struct {
	addresses []string
	lost      chan error // gets why a server is out of reach, once
	cancel    context.CancelFunc
	ended     sync.WaitGroup
}

const (
	// endpointLimit is how long a server of an endpoint may take to accept a connection.
	endpointLimit = 2 * time.Second
	// endpointAge is how old a connection to it becomes: nobody hears of the end of one that is cut silently.
	endpointAge = 500 * time.Millisecond
	// endpointPause is how long the watch waits before it connects again, if the server has closed the
	// connection.
	endpointPause = 20 * time.Millisecond
)

// watchEndpoint looks at servers, each host:port, until it is closed.
func watchEndpoint(ctx context.Context, addresses []string) *endpoint {
	e := &endpoint{addresses: addresses, lost: make(chan error, 1)}
	ctx, e.cancel = context.WithCancel(ctx)
	for _, at := range addresses {
		e.ended.Go(func() {
			err := keepReaching(ctx, at)
			if ctx.Err() != nil {
				return
			}
			select {
			case e.lost <- err:
			default: // another server was lost before
			}
		})
	}
	return e
}

// close ends the watch. Nil is a run that has no endpoint.
func (e *endpoint) close() {
	if e != nil {
		e.cancel()
		e.ended.Wait()
	}
}

// keepReaching returns why a server cannot be reached any more, or an error once the context has ended.
func keepReaching(ctx context.Context, address string) error {
	for ctx.Err() == nil {
		conn, err := reach(ctx, address)
		if err != nil {
			return err
		}
		ends := context.AfterFunc(ctx, func() { conn.Close() })
		conn.SetReadDeadline(time.Now().Add(endpointAge))
		_, err = io.Copy(io.Discard, conn)
		ends()
		conn.Close()
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			continue // it is as old as it becomes
		}
		select {
		case <-ctx.Done():
		case <-time.After(endpointPause):
		}
	}
	return ctx.Err()
}

// reach connects to a server of an endpoint.
func reach(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: endpointLimit}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the endpoint %s is out of reach: %w", address, err)
	}
	return conn, nil
}

// checkEndpoint returns an error if a server of an endpoint, which has commas between addresses, is out of
// reach; empty: there are none.
func checkEndpoint(ctx context.Context, addresses string) error {
	if addresses == "" {
		return nil
	}
	for at := range strings.SplitSeq(addresses, ",") {
		conn, err := reach(ctx, at)
		if err != nil {
			return unavailable.Mark(fmt.Errorf("%w; leave out --endpoint to have servers of the run's own", err))
		}
		conn.Close()
	}
	return nil
}

// watchEndpoint looks from now on whether the servers of somebody else are there that the run is about, if it
// is about such.
func (t *trial) watchEndpoint() {
	if s := t.transport.service; s != nil && s.program.Endpoint != "" {
		t.nodes.endpoint = watchEndpoint(t.nodes.ctx, s.addresses)
	}
}

// lostEndpoint gets why the servers of somebody else are out of reach; nil: there are none.
func (n *nodeSet) lostEndpoint() <-chan error {
	if n.endpoint == nil {
		return nil
	}
	return n.endpoint.lost
}

// unreached looks once more, so that no stall is told of servers that are not there.
func (n *nodeSet) unreached() error {
	if n.endpoint == nil {
		return nil
	}
	for _, at := range n.endpoint.addresses {
		conn, err := reach(n.ctx, at)
		if err != nil {
			return n.outOfReach(err)
		}
		conn.Close()
	}
	return nil
}

// outOfReach ends a trial whose endpoint is: what clients do from then on says nothing about the service, and
// nobody knows whether its servers still have their data.
func (n *nodeSet) outOfReach(why error) error {
	return errors.Join(fmt.Errorf("%w; what clients do from then on says nothing about the service", why),
		n.broke(nodes.ServersUp|nodes.ServerMajority|nodes.NoAmnesia))
}
