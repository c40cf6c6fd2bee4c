package bench

import (
	"context"
	"time"

	"turnstile/bench/cluster"
	"turnstile/internal/certs"
	"turnstile/internal/offset"
	"turnstile/nodes"
)

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
	changes := cluster.NoticeStops()
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
