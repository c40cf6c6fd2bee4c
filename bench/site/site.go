package site

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/service"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/internal/certs"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A Site is the infrastructure of a run. Nodes are spread over its brokers in turn. If an algorithm has a
// second network, this network has one broker of its own, which has the highest number of all brokers.
type Site struct {
	Hosts
	Service *Service // the nodes are its clients
	Proxies *cluster.Proxies

	job      *bench.Job
	programs programs
	tls      *certs.Pair        // certificate of the brokers; nil: no TLS
	networks []*cluster.Brokers // one or two networks
	brokerAt []int              // broker of each node on the first network
	keeper   keeper             // keeps the resource that clients share
}

// programs are the programs of processes, with arguments, as the hosts of a run know them.
type programs struct{ node, broker, proxy, resource []string }

// Open starts the infrastructure. If it fails, it ends what was started. Agents that the run starts on this
// machine leave their files in a folder.
func (r *Reservation) Open(ctx context.Context, folder string) (*Site, error) {
	s, err := r.site(ctx, folder)
	steps := []func(context.Context) error{s.Service.hold, s.launch, s.Service.start}
	for i := 0; i < len(steps) && err == nil; i++ {
		err = steps[i](ctx)
	}
	if err != nil {
		s.Close()
		r.Cancel() // releases the hosts, in case the site does not have them yet
		return nil, err
	}
	return s, nil
}

// New returns the site of a run on this machine, with nothing started yet.
func New(j *bench.Job) *Site {
	launcher := cluster.NewLauncher()
	s := &Site{Hosts: machine{launcher}, job: j, networks: []*cluster.Brokers{cluster.Outside(j.NATS)},
		keeper: files{}, Proxies: &cluster.Proxies{}}
	s.Service = &Service{site: s, on: launcher, program: &service.Program{}, servers: &service.Running{}}
	for id := range nodes.ID(j.Total()) {
		at := int(id)
		if j.Hosts > 0 {
			at = j.HostOf(id)
		}
		s.brokerAt = append(s.brokerAt, at%j.BrokerCount())
	}
	return s
}

// site returns the site of the run with its hosts, with nothing else started yet.
func (r *Reservation) site(ctx context.Context, folder string) (*Site, error) {
	s, setup := New(r.job), r.setup
	s.programs = programs{setup.NodeProgram(), setup.Broker, setup.Proxy, setup.Resource}
	var err error
	if s.Service.program, err = setup.ServiceProgram(r.job.Config); err != nil || r.job.Hosts == 0 {
		return s, err
	}
	if setup.Control == "" {
		if r.fleet, err = setup.startAgents(ctx, s.Service.on, r.job, folder); err != nil {
			return s, err
		}
	}
	s.Hosts, s.programs = r.fleet, agentPrograms
	if setup.Control != "" && setup.NodeGiven {
		s.programs.node = []string{agent.NodeProgram, setup.Node}
	}
	if setup.ControlKey != "" && !setup.PlainData {
		s.tls, err = certs.New("Turnstile run")
	}
	return s, err
}

// launch starts the processes that carry messages, and the one that keeps what clients share.
func (s *Site) launch(ctx context.Context) error {
	j, hosts := s.job, s.all()
	if j.AsksProcess() {
		kept, err := cluster.LaunchResource(ctx, hosts[0], s.programs.resource, s.tls)
		if err != nil {
			return err
		}
		s.keeper = resourceProcess{kept}
	}
	if j.Stack.Codec().Networks() > 1 {
		second, err := cluster.LaunchBrokers(ctx, hosts, s.programs.broker, "the broker of the second network", 1,
			&cluster.Proxies{}, s.tls)
		if err != nil {
			return err
		}
		s.networks = append(s.networks, second)
	}
	if j.NATS != "" {
		return nil
	}
	if j.Proxies {
		proxies, err := cluster.LaunchProxies(ctx, hosts, s.programs.proxy)
		if err != nil {
			return err
		}
		s.Proxies = proxies
	}
	first, err := cluster.LaunchBrokers(ctx, hosts, s.programs.broker, "the broker", j.BrokerCount(), s.Proxies,
		s.tls)
	if err != nil {
		return err
	}
	s.networks[0] = first
	for network := range s.networks {
		for id := range nodes.ID(j.Total()) {
			_, upstream, _ := strings.Cut(s.upstream(id, network), "://")
			if _, err := s.Proxies.Add(ctx, j.HostOf(id), ConnectionName(id, network), upstream); err != nil {
				return err
			}
		}
	}
	return nil
}

// ConnectionName names the proxy between a node and its broker on a network.
func ConnectionName(id nodes.ID, network int) string {
	if network > 0 {
		return fmt.Sprintf("node %d on the second network", id)
	}
	return fmt.Sprintf("node %d", id)
}

// upstream returns the URL of the broker of a node on a network.
func (s *Site) upstream(id nodes.ID, network int) string {
	if network > 0 {
		return s.networks[network].URL(0)
	}
	return s.networks[0].URL(s.brokerAt[id])
}

// Reach returns where a node reaches its broker on a network; nil: no such network.
func (s *Site) Reach(id nodes.ID, network int) *host.Broker {
	if network >= len(s.networks) {
		return nil
	}
	b := &host.Broker{URL: s.upstream(id, network), Token: s.networks[network].Token()}
	if s.tls != nil {
		b.Pin = s.tls.Pin
	}
	if scheme, upstream, found := strings.Cut(b.URL, "://"); found { // nats://, or tls:// with a certificate
		b.URL = scheme + "://" + s.Proxies.Before(ConnectionName(id, network), upstream)
	}
	return b
}

// FindResource returns the file or the broker at which a node reaches the resource that clients share, given
// the path for the trial.
func (s *Site) FindResource(path string) (file string, at *host.Broker) { return s.keeper.find(path) }

// Start starts a process of a node, on its host.
func (s *Site) Start(id nodes.ID, c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error) {
	hosts := s.all()
	c.Program, c.Env = s.programs.node, cluster.NodeEnv
	return hosts[s.job.HostOf(id)%len(hosts)].Start(c, onOutput)
}

// Close ends the infrastructure.
func (s *Site) Close() {
	s.Service.servers.Close()
	for _, b := range s.networks {
		b.Close()
	}
	s.Proxies.Close()
	s.keeper.close()
	s.Hosts.close()
}

// Named iterates over the processes of the infrastructure, with their names in histories.
func (s *Site) Named() iter.Seq2[uint32, cluster.Process] {
	return func(yield func(uint32, cluster.Process) bool) {
		first := s.networks[0].Count()
		for i := range s.BrokerCount() {
			number := history.SecondBroker
			if i < first {
				number = history.BrokerAmong(i, first)
			}
			if !yield(number, s.Broker(i)) {
				return
			}
		}
		for _, more := range []struct {
			name uint32
			all  []cluster.Process
		}{{history.Proxies, s.Proxies.Processes()}, {history.Servers, s.Service.servers.Processes()},
			{history.Resource, s.keeper.processes()}} {
			for _, p := range more.all {
				if !yield(more.name, p) {
					return
				}
			}
		}
	}
}

// Processes returns the processes of Named.
func (s *Site) Processes() (all []cluster.Process) {
	for _, p := range s.Named() {
		all = append(all, p)
	}
	return all
}

// Usage returns the CPU time used so far, by the processes of a run and by its hosts as a whole.
func (s *Site) Usage(carriers, all []cluster.Process) cluster.Usage {
	began := time.Now()
	busy, ticks, cpus := s.use()
	u := cluster.ReadUsage(carriers, slices.Concat(all, s.Agents()))
	u.Between(began) // the reading took from began until now
	u.Add(busy, ticks, cpus)
	return u
}

// ReadUse reads the CPU times of processes on other hosts.
func (s *Site) ReadUse() { s.use() }
