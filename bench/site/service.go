package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/hosts/cluster"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
)

// ServiceProgram returns the program of the service in a configuration, with the options of the service. The
// program has no name if the configuration has no service.
func (s *Setup) ServiceProgram(c nodes.Config) (*service.Program, error) {
	name := c.Options[foreign.ServiceOption]
	if name == "" {
		return &service.Program{}, nil
	}
	if s.Services == nil {
		return nil, errors.New("this program has no services")
	}
	command, err := s.Services(name)
	if err != nil {
		return nil, err
	}
	p := &service.Program{Command: command, Name: name, Server: s.ServerProgram, Secrets: s.Secrets,
		OtherClient: c.Options[foreign.ClientOption]}
	for option, value := range foreign.OptionsOf(c) {
		switch option {
		case foreign.EndpointOption:
			p.Endpoint = value
		case foreign.ServerVersionOption, foreign.ClientVersionOption:
		default:
			p.Words = append(p.Words, option+"="+value)
		}
	}
	slices.Sort(p.Words)
	return p, nil
}

// A Service is the service of a run. The nodes are its clients.
type Service struct {
	site      *Site
	on        *cluster.Launcher
	program   *service.Program   // without a name, the run is about no service
	servers   *service.Running   // servers that the run has started
	addresses []string           // addresses of the servers
	links     []service.PeerLink // links between servers; nil: servers reach each other directly
	granted   time.Duration      // the time to live that servers grant to a lock; 0: none is known
}

// hold finds the service, if the run is about one, and takes the ports of its servers.
func (s *Service) hold(ctx context.Context) error {
	p := s.program
	if p.Name == "" {
		return nil
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return err
	}
	if was := s.site.job.Config.Options[foreign.ServerVersionOption]; was != "" && was != d.Server {
		return fmt.Errorf("the run is about %s %s, and the server here is %s: make a run of that", p.Name, was,
			d.Server)
	}
	s.granted = d.Granted()
	switch {
	case p.Endpoint != "":
		s.addresses = strings.Split(p.Endpoint, ",")
		return nil
	case d.Members == 0:
		return nil
	}
	servers, err := service.Hold(ctx, s.on, p)
	if err == nil {
		s.servers, s.addresses = servers, servers.Addresses
	}
	return err
}

// start makes proxies, if the run has them, between each node and each server and between servers. Then it
// starts the servers, if the run has its own.
func (s *Service) start(ctx context.Context) error {
	if len(s.addresses) == 0 {
		return nil
	}
	proxies := s.site.Proxies
	for id := range nodes.ID(s.site.job.Total()) {
		for i, address := range s.addresses {
			if _, err := proxies.Add(ctx, 0, serverConnection(id, i), address); err != nil {
				return err
			}
		}
	}
	if len(s.servers.Processes()) == 0 {
		return nil
	}
	if proxies.Any() {
		for _, l := range s.servers.Links {
			at, err := proxies.Add(ctx, 0, l.String(), l.Address)
			if err != nil {
				return err
			}
			l.Address = at
			s.links = append(s.links, l)
		}
	}
	return s.servers.Start(ctx, s.links, chaos.SkewsServers(s.site.job.Faults))
}

// toServer is in the names of proxies between nodes and servers, and in no other name.
const toServer = " to the server "

// serverConnection names the proxy between a node and a server.
func serverConnection(id nodes.ID, server int) string {
	return fmt.Sprintf("node %d%s%d", id, toServer, server)
}

// prefixOf returns what all names that clients use in a trial begin with.
func prefixOf(trial string) string { return "turnstile/" + trial + "/" }

// Of returns where a node reaches the service. All names that its clients use begin with the name of the
// trial.
func (s *Service) Of(id nodes.ID, trial string) foreign.Service {
	if s.program.Name == "" {
		return foreign.Service{}
	}
	at := foreign.Service{Prefix: prefixOf(trial),
		Secrets: cmp.Or(s.servers.Secrets, s.program.Secrets), TTL: s.granted,
		With: foreign.OptionsIn(s.program.Words)}
	if hold := s.site.job.Workload.Hold.Mean(); hold < chance.Longest {
		at.Hold = hold
	}
	for i, address := range s.addresses {
		at.Servers = append(at.Servers, s.site.Proxies.Before(serverConnection(id, i), address))
	}
	return at
}

// Client adds the command of the client to the configuration of a node, if the run is about a service.
func (s *Service) Client(c nodes.Config) nodes.Config {
	if s.program.Name == "" {
		return c
	}
	return c.With(foreign.CommandOption, s.program.Client())
}

// Again restarts all of the run's own servers, without their data.
func (s *Service) Again(ctx context.Context) error { return s.servers.Again(ctx) }

// Watch begins to watch whether the external servers are reachable, if the run has external servers.
func (s *Service) Watch(ctx context.Context) *Endpoint {
	if s.program.Endpoint == "" {
		return NoEndpoint()
	}
	return watchEndpoint(ctx, s.addresses)
}

// Servers lets faults kill, start, stop and continue the servers of a service, and take away what clients
// have there, until a context ends.
type Servers struct {
	*Service
	ctx   context.Context
	trial string
}

// Servers returns the servers of the run's service, in a trial.
func (s *Site) Servers(ctx context.Context, trial string) Servers {
	return Servers{s.Service, ctx, trial}
}

// lookLimit is how long servers may take to say which one leads.
const lookLimit = time.Second

// Up reports whether a server is up.
func (s Servers) Up(i int) bool {
	pids, err := s.servers.PIDs(s.ctx)
	return err == nil && i < len(pids) && pids[i] != 0
}

// Methods by which faults act on a server.

func (s Servers) Kill(i int) error     { return s.do(service.Order{Do: service.Kill, Server: i}) }
func (s Servers) Stop(i int) error     { return s.do(service.Order{Do: service.Stop, Server: i}) }
func (s Servers) Continue(i int) error { return s.do(service.Order{Do: service.Continue, Server: i}) }
func (s Servers) Promote(i int) error  { return s.do(service.Order{Do: service.Promote, Server: i}) }

func (s Servers) Start(i int, forget bool) error {
	return s.do(service.Order{Do: service.Start, Server: i, Forget: forget})
}

func (s Servers) SetClock(i int, by time.Duration, _ float64) error {
	return s.do(service.Order{Do: service.SetClock, Server: i, By: by})
}

// Delete deletes the key of the lock of a client, which may be known to be inside.
func (s Servers) Delete(client nodes.ID, inside bool) error {
	return s.take(service.Delete, client, inside)
}

// Expire ends the session of a client.
func (s Servers) Expire(client nodes.ID) error { return s.take(service.Expire, client, false) }

// take takes away what a client has at the servers.
func (s Servers) take(do string, client nodes.ID, inside bool) error {
	from := service.Client{Name: foreign.NameOf(client), Prefix: prefixOf(s.trial), Inside: inside}
	had, err := s.servers.Take(s.ctx, do, from)
	if err == nil && !had {
		err = port.ErrNothing
	}
	return err
}

func (s Servers) do(o service.Order) error { return s.servers.Do(s.ctx, o) }

// Leading returns the server that leads now, or nil if no server leads.
func (s Servers) Leading() ([]port.Member, error) {
	ctx, cancel := context.WithTimeout(s.ctx, lookLimit)
	defer cancel()
	i, err := s.servers.Leader(ctx)
	if err != nil || i < 0 {
		return nil, err
	}
	return []port.Member{{Role: port.Server, I: i}}, nil
}

// Answered returns the server that was the last to send bytes to a client.
func (s Servers) Answered(client nodes.ID) ([]port.Member, error) {
	if len(s.servers.Processes()) == 0 {
		return nil, service.ErrNoServers
	}
	var names []string
	for i := range s.addresses {
		names = append(names, serverConnection(client, i))
	}
	last, err := s.site.Proxies.LastOf(s.ctx, names)
	if err == nil && last < 0 {
		err = fmt.Errorf("no server has answered node %d yet", client)
	}
	return []port.Member{{Role: port.Server, I: last}}, err
}

// Strain cuts connections of servers, or loses answers to clients. It returns a function that ends the
// strain.
func (s Servers) Strain(number int, of port.Strain) (func() error, error) {
	f := cluster.ConnectionFault{Number: number}
	if of.Answer > 0 {
		f.Answer = &cluster.AnswerFault{Nth: of.Answer, Close: of.Close, Hold: of.Hold, Of: map[string]string{}}
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
		for _, peer := range s.links {
			if min(peer.From, peer.To) == min(l.A.I, l.B.I) && max(peer.From, peer.To) == max(l.A.I, l.B.I) {
				f.Names = append(f.Names, peer.String())
			}
		}
	}
	if s.program.Name == "" {
		return nil, service.ErrNoServers
	}
	through := s.site.Proxies
	err := through.Begin(s.ctx, f)
	if errors.Is(err, cluster.ErrNoProxies) {
		return nil, err
	}
	return func() error { return through.Heal(s.ctx, number) }, err
}

// Lost returns which answers a strain has lost.
func (s Servers) Lost(number int) (port.Lost, error) { return s.site.Proxies.Lost(s.ctx, number) }

// Bytes returns how many bytes clients and servers have exchanged so far. The number is known only with
// proxies.
func (s Servers) Bytes() (bytes int64, known bool, err error) {
	if s.program.Name == "" || !s.site.Proxies.Any() {
		return 0, false, nil
	}
	sum, err := s.site.Proxies.Bytes(s.ctx, toServer)
	return int64(sum), true, err
}
