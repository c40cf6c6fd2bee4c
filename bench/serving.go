package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"turnstile/bench/cluster"
	"turnstile/bench/service"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
)

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
