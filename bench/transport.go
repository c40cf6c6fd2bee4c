package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"turnstile/bench/cluster"
	"turnstile/internal/certs"
	"turnstile/internal/offset"
	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// A transport is what carries the messages of a run, and what nodes ask: brokers, to which the nodes are
// spread in turn, and perhaps proxies in between; or a NATS server of somebody else; and perhaps a resource
// process. An algorithm with a second network has a
// broker of the run's own for that. Brokers are numbered among all: that of the second network comes last.
type transport struct {
	server    string           // the URL of that
	site      *site            // where its processes are started
	brokers   *cluster.Brokers // of the first network; nil: the server
	second    *cluster.Brokers // of the second network; nil: there is none
	proxies   *cluster.Proxies // nil: none
	addresses [][]string       // of the proxy of each node, by network
	brokerAt  []int            // the broker of each node on the first network

	service  *serving          // that the run is about; nil: it is about none
	resource *cluster.Resource // the process that nodes ask; nil: they share a file
}

// carriers returns how many processes carry the messages of a run, or keep its resource.
func (j *Job) carriers() int {
	count := j.BrokerCount()
	if j.Proxies {
		count++
	}
	if j.Stack.Codec().Networks() > 1 {
		count++
	}
	if j.AsksProcess() {
		count++
	}
	return count
}

// checkTransport says what is wrong with what is to carry the messages.
func (j *Job) checkTransport() error {
	switch {
	case j.Hosts > 0 && j.Brokers > j.Hosts:
		return fmt.Errorf("%d brokers on %d hosts: a host has one at most", j.Brokers, j.Hosts)
	case j.Hosts == 0 && j.Brokers != 0 && j.Brokers != 1 && j.Brokers != 3:
		return fmt.Errorf("%d brokers: a run has 1 or 3", j.Brokers)
	case j.NATS != "" && j.Brokers > 1:
		return fmt.Errorf("%d brokers of the run's own, and a NATS server: leave out one of --brokers and --nats",
			j.Brokers)
	case j.NATS != "" && j.Proxies:
		return errors.New("proxies, which are for brokers of the run's own, and a NATS server: leave out one of " +
			"--proxies and --nats")
	}
	return nil
}

// launch starts the processes that carry the messages of a run.
func (t *transport) launch(ctx context.Context, j *Job) (err error) {
	hosts, program := t.site.hosts, t.site.broker
	t.brokerAt = make([]int, j.total())
	for id := range t.brokerAt {
		t.brokerAt[id] = id % j.BrokerCount()
		if j.Hosts > 0 {
			t.brokerAt[id] = j.hostOf(nodes.ID(id)) % j.BrokerCount()
		}
	}
	if j.AsksProcess() {
		if t.resource, err = cluster.LaunchResource(ctx, hosts[0], t.site.resource, t.site.tls); err != nil {
			return err
		}
	}
	if j.Stack.Codec().Networks() > 1 {
		t.second, err = cluster.LaunchBrokers(ctx, hosts, program, "the broker of the second network", 1, nil,
			t.site.tls)
		if err != nil {
			return err
		}
	}
	if t.server != "" {
		return nil
	}
	if j.Proxies {
		if t.proxies, err = cluster.LaunchProxies(ctx, hosts, t.site.proxy); err != nil {
			return err
		}
	}
	t.brokers, err = cluster.LaunchBrokers(ctx, hosts, program, "the broker", j.BrokerCount(), t.proxies,
		t.site.tls)
	if err != nil || t.proxies == nil {
		return err
	}
	for network := range t.networks() {
		var addresses []string
		for id := range nodes.ID(j.total()) {
			upstream := strings.TrimPrefix(t.upstream(id, network), natsScheme)
			at, err := t.proxies.Add(ctx, j.hostOf(id), connectionName(id, network), upstream)
			if err != nil {
				return err
			}
			addresses = append(addresses, at)
		}
		t.addresses = append(t.addresses, addresses)
	}
	return nil
}

// networks returns how many networks there are.
func (t *transport) networks() int {
	if t.second != nil {
		return 2
	}
	return 1
}

const natsScheme = "nats://"

// connectionName names the proxy between a node and its broker on a network.
func connectionName(id nodes.ID, network int) string {
	if network > 0 {
		return fmt.Sprintf("node %d on the second network", id)
	}
	return fmt.Sprintf("node %d", id)
}

// close ends those processes.
func (t *transport) close() {
	t.service.close()
	for _, b := range []*cluster.Brokers{t.brokers, t.second} {
		if b != nil {
			b.Close()
		}
	}
	if t.proxies != nil {
		t.proxies.Close()
	}
	if t.resource != nil {
		t.resource.Close()
	}
}

// own reports whether the run's own processes carry the messages.
func (t *transport) own() bool { return t.brokers != nil }

// brokerOf returns which broker of the first network a node connects to.
func (t *transport) brokerOf(id nodes.ID) int { return t.brokerAt[id] }

// brokerCount returns how many brokers of the run's own there are on both networks, and broker which one
// has a number among them: one of several, and its number there.
func (t *transport) brokerCount() int {
	switch {
	case t.brokers == nil:
		return 0
	case t.second == nil:
		return t.brokers.Count()
	}
	return t.brokers.Count() + 1
}

func (t *transport) broker(i int) (*cluster.Brokers, int) {
	if first := t.brokers.Count(); i >= first && t.second != nil {
		return t.second, i - first
	}
	return t.brokers, i
}

// running reports whether a broker has not ended.
func (t *transport) running(i int) bool {
	b, at := t.broker(i)
	return b.Running(at)
}

// check says whether there is a broker of the run's own with that number.
func (t *transport) check(i int) error {
	switch {
	case t.brokers == nil:
		return errNotOurs
	case i < 0 || i >= t.brokerCount():
		return fmt.Errorf("there is no broker %d: they count from 0 to %d", i, t.brokerCount()-1)
	}
	return nil
}

// stands reports whether a broker that a node connects to stands still.
func (t *transport) stands(id nodes.ID) bool {
	still := func(p cluster.Process) bool { return p.Turns()%2 == 1 }
	return t.own() && still(t.brokers.Process(t.brokerOf(id))) || t.second != nil && still(t.second.Process(0))
}

// process returns the process of a broker.
func (t *transport) process(i int) cluster.Process {
	b, at := t.broker(i)
	return b.Process(at)
}

// upstream returns the URL of the broker of a node on a network.
func (t *transport) upstream(id nodes.ID, network int) string {
	if network > 0 {
		return t.second.URL(0)
	}
	return t.brokers.URL(t.brokerOf(id))
}

// url returns the URL that a node connects to on a network, and token the credential.
func (t *transport) url(id nodes.ID, network int) string {
	switch {
	case t.proxies != nil:
		return natsScheme + t.addresses[network][id]
	case t.brokers == nil && network == 0:
		return t.server
	}
	return t.upstream(id, network)
}

// secondOf returns where a node finds the broker of the second network; nil: there is none.
func (t *transport) secondOf(id nodes.ID) *host.Broker {
	if t.second == nil {
		return nil
	}
	return &host.Broker{URL: t.url(id, 1), Token: t.second.Token(), Pin: t.site.pin()}
}

func (t *transport) token() string {
	if t.brokers == nil {
		return ""
	}
	return t.brokers.Token()
}

// named returns the processes that carry the messages now, by their names in histories.
func (t *transport) named() iter.Seq2[uint32, cluster.Process] {
	return func(yield func(uint32, cluster.Process) bool) {
		for i := range t.brokerCount() {
			number := history.SecondBroker
			if i < t.brokers.Count() {
				number = history.BrokerAmong(i, t.brokers.Count())
			}
			if !yield(number, t.process(i)) {
				return
			}
		}
		if t.proxies != nil {
			for _, p := range t.proxies.Processes() {
				if !yield(history.Proxies, p) {
					return
				}
			}
		}
		if t.service != nil && t.service.servers != nil &&
			!yield(history.Servers, t.service.servers.Process()) {
			return
		}
		if t.resource != nil {
			yield(history.Resource, t.resource.Process())
		}
	}
}

// processes returns these processes.
func (t *transport) processes() (all []cluster.Process) {
	for _, p := range t.named() {
		all = append(all, p)
	}
	return all
}

// A site is where the processes of a run are started: this machine, or several hosts by their agents.
type site struct {
	hosts               []cluster.Host
	node, broker, proxy []string // the programs, as these hosts know them
	resource            []string
	fleet               *fleet      // nil: this machine alone
	tls                 *certs.Pair // the certificate of the brokers; nil: they do not speak TLS
}

// pin returns by what nodes know the brokers; empty: these do not speak TLS.
func (s *site) pin() string {
	if s.tls == nil {
		return ""
	}
	return s.tls.Pin
}

// here returns this machine as the site of a run.
func (s *Setup) here(l *cluster.Launcher) *site {
	return &site{hosts: []cluster.Host{l}, node: []string{s.Node}, broker: s.Broker, proxy: s.Proxy,
		resource: s.Resource}
}

// A nodeStarter starts a process of a node, as Host.Start does.
type nodeStarter func(id nodes.ID, c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error)

// starter returns how the nodes of a run are started.
func (s *site) starter(j *Job) nodeStarter {
	return func(id nodes.ID, c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error) {
		c.Program, c.Env = s.node, cluster.NodeEnv
		return s.hosts[j.hostOf(id)%len(s.hosts)].Start(c, onOutput)
	}
}

// stops returns how often processes of the run were seen to be stopped or continued.
func (s *site) stops() uint64 {
	changes := proc.NoticeStops()
	if s.fleet != nil {
		changes += s.fleet.run.Stops.Load()
	}
	return changes
}

// dirOf returns where the log of a node is, on its host, given the folder of the trial on this machine.
func (s *site) dirOf(j *Job, dir string, id nodes.ID) string {
	if s.fleet == nil {
		return dir
	}
	return s.fleet.hosts[j.hostOf(id)].Folder
}

// zeroOf returns the zero of a trial by the clock of the host of a node, given that of this machine.
func (s *site) zeroOf(j *Job, zero int64, id nodes.ID) int64 {
	if s.fleet == nil {
		return zero
	}
	return s.fleet.zeros[j.hostOf(id)]
}

// sharedDir returns the folder of what a node shares with others, given that of the trial: with all of
// them, or with those of its host.
func (s *site) sharedDir(j *Job, dir string, id nodes.ID) string {
	switch {
	case s.fleet == nil:
		return dir
	case s.apart():
		return s.fleet.hosts[j.hostOf(id)].Folder
	}
	return s.fleet.shared
}

// apart reports whether the hosts of the run share no memory.
func (s *site) apart() bool { return s.fleet != nil && s.fleet.apart() }

// use reads what the processes on other hosts have used, and how busy those of other kernels were. It returns
// what is to be added for these.
func (s *site) use() (busy, all uint64, cpus int) {
	if s.fleet == nil {
		return 0, 0, 0
	}
	seen := map[string]bool{offset.Own().Boot: true}
	for _, h := range s.fleet.hosts {
		b, a, known := h.Use(context.Background())
		if known && !seen[h.Kernel.Boot] {
			seen[h.Kernel.Boot] = true
			busy, all, cpus = busy+b, all+a, cpus+h.Cores
		}
	}
	return busy, all, cpus
}

// readUsage reads what the processes of a run, and all others on its hosts, have used of the processors.
func (s *site) readUsage(carriers, all []cluster.Process) cluster.Usage {
	began := time.Now()
	busy, ticks, cpus := s.use()
	if s.fleet != nil {
		for _, p := range s.fleet.agents {
			all = append(all[:len(all):len(all)], p)
		}
	}
	u := cluster.ReadUsage(carriers, all)
	u.Between(began) // what hosts have told is of some time since then
	u.Add(busy, ticks, cpus)
	return u
}

// hostOf returns the host of a node, by its number.
func (j *Job) hostOf(id nodes.ID) int {
	if j.placed != nil {
		return j.placed.HostOf(id)
	}
	p := j.Placement()
	return p.HostOf(id)
}
