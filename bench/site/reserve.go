package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/hosts/access"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/internal/unavailable"
	"turnstile/nodes/foreign"
)

// A Setup has the programs and hosts of a run.
type Setup struct {
	Node string // the program of a node process
	// Broker and Proxy are the programs, with arguments, of a broker and of the proxies (see cluster.ServeBroker
	// and ServeProxies).
	Broker, Proxy []string
	Agent         []string // program, with arguments, of an agent on this machine (see agent.ServePiped)
	Resource      []string // program, with arguments, of a resource process (see cluster.ServeResource)
	NodeArgs      []string // arguments of the node program
	NodeGiven     bool     // the user has named the node program
	// Control is the URL of the control plane that connects to the hosts, with its credentials; empty: a run
	// with hosts starts its own control plane on this machine. ControlKey is the key file for the control plane,
	// or empty. With a key, the brokers of the run speak TLS, too, unless PlainData says that they do not.
	Control, ControlKey string
	PlainData           bool
	// Services returns the program that has a service, with the arguments before the word "client" or "up". The
	// error says that no program has it, and what to do.
	Services func(name string) ([]string, error)
	// ServerProgram is the path of a service's server program; empty: the one in PATH.
	ServerProgram string
	Secrets       string            // folder with the secret of external servers; empty: none is needed
	Versions      map[string]string // versions of the program and its parts
}

// NodeProgram returns the program of a node, with its arguments.
func (s *Setup) NodeProgram() []string { return append([]string{s.Node}, s.NodeArgs...) }

// CheckNode returns an error if the program of a node is missing or unusable.
func (s *Setup) CheckNode() error {
	const rightly = "build it with make build, or say where it is with --node-program"
	switch info, err := os.Stat(s.Node); {
	case err != nil:
		return fmt.Errorf("the node program is not at %s: %s", s.Node, rightly)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a node program: %s", s.Node, rightly)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not a node program, since it is not executable: %s", s.Node, rightly)
	}
	return nil
}

// A Reservation is a run that can be made: its programs exist, and its hosts wait for it.
type Reservation struct {
	setup   *Setup
	job     *bench.Job
	control *nats.Conn          // connection to the control plane; nil: the run starts its own agents, if any
	found   []agent.Description // the hosts at that control plane
	fleet   *fleet              // the hosts, once they serve the run
}

// Reserve checks whether a run of processes can be made, and makes the hosts of its control plane wait for
// it.
func Reserve(ctx context.Context, s *Setup, j *bench.Job) (*Reservation, error) {
	r := &Reservation{setup: s, job: j}
	err := r.check(ctx)
	if err == nil && r.control != nil {
		r.fleet, err = s.joinHosts(ctx, j, &fleet{conn: r.control}, r.found)
		r.control = nil // the fleet closes the connection
	}
	if err != nil {
		r.Cancel()
		return nil, err
	}
	return r, nil
}

// Cancel releases the hosts.
func (r *Reservation) Cancel() {
	if r.fleet != nil {
		r.fleet.close()
	}
	if r.control != nil {
		r.control.Close()
	}
}

// check checks whether the run can be made, and finds its hosts.
func (r *Reservation) check(ctx context.Context) error {
	s, j := r.setup, r.job
	if err := s.CheckNode(); err != nil {
		return err
	}
	for i := range j.Faults {
		if err := j.CheckPause(&j.Faults[i]); err != nil {
			return err
		}
	}
	if j.Hosts == 0 || s.Control == "" {
		if err := cluster.CheckLimits(j.Total(), j.Carriers()); err != nil {
			return err
		}
	}
	if j.Hosts > 0 {
		if err := r.findHosts(); err != nil {
			return err
		}
	}
	if err := checkEndpoint(ctx, j.Config.Options[foreign.EndpointOption]); err != nil {
		return err
	}
	if j.NATS == "" {
		return nil
	}
	conn, err := nats.Connect(j.NATS, nats.Timeout(5*time.Second))
	if err != nil {
		return unavailable.Mark(fmt.Errorf("no NATS server answers at %s: %w; leave out --nats to use one of the "+
			"run's own", bench.WithoutCredential(j.NATS), err))
	}
	conn.Close()
	return nil
}

// checkCuts returns an error if the kernels of the hosts cannot carry out the cuts among the run's faults.
// Hosts are the hosts of the run, by number; nil: agents on this machine.
func checkCuts(j *bench.Job, hosts []agent.Description) error {
	const instead = "leave out kernel, or make the run in containers (compose/faults.yml)"
	faults, err := j.FaultsAsked(0, 1)
	if err != nil {
		return err
	}
	for i := range faults {
		of := networksOf(&faults[i])
		if of == nil {
			continue
		}
		if len(hosts) == 0 {
			return fmt.Errorf("%s: agents that a run starts itself share the network of this machine: %s",
				faults[i].What(), instead)
		}
		for _, number := range of {
			d := hosts[number]
			if d.NetCut != "" {
				return fmt.Errorf("%s: host %d (%s): %s", faults[i].What(), number, d.Name, d.NetCut)
			}
			for _, other := range hosts {
				if other.Name != d.Name && other.Network == d.Network {
					return fmt.Errorf("%s: hosts %s and %s share a network: %s", faults[i].What(), d.Name,
						other.Name, instead)
				}
			}
		}
	}
	return nil
}

// checkMemory returns an error if hosts on one machine have too little memory together. Each host checks its
// own memory when it joins.
func checkMemory(j *bench.Job, hosts []agent.Description) error {
	type machine struct{ nodes, free int }
	of, p := map[string]*machine{}, j.Placement()
	for i, d := range hosts {
		if d.Kernel.Boot == "" || d.FreeMB == 0 {
			continue
		}
		m := of[d.Kernel.Boot]
		if m == nil {
			m = &machine{}
			of[d.Kernel.Boot] = m
		}
		m.nodes, m.free = m.nodes+len(p.Nodes(i)), max(m.free, d.FreeMB)
	}
	for _, m := range of {
		if needs := m.nodes * agent.NodeMB; needs > m.free {
			return fmt.Errorf("%d nodes on hosts of one machine take about %d MB of memory, and it has %d: use fewer "+
				"nodes, or hosts on more machines", m.nodes, needs, m.free)
		}
	}
	return nil
}

// checkApart returns an error if the hosts share no memory and the run needs shared memory.
func checkApart(j *bench.Job, f *fleet) error {
	if !f.Apart() {
		return nil
	}
	if !j.AsksProcess() && len(j.Stack.Mutexes()) > 0 {
		return errors.New("these hosts share no memory in which nodes could keep what witnesses exclusion: take " +
			"--resource process")
	}
	faults, err := j.FaultsAsked(0, 1)
	if err == nil {
		err = chaos.CheckApart(faults)
	}
	return err
}

// networksOf returns the hosts whose networks a fault cuts; nil: it cuts no network.
func networksOf(f *chaos.Fault) (all []int) {
	if !chaos.CutsNetworks([]chaos.Fault{*f}) {
		return nil
	}
	for _, host := range effect.HostsOf(f.Effect) {
		all = append(all, int(host))
	}
	return all
}

// findLimit is how long hosts may take to announce themselves.
const findLimit = 2 * time.Second

// findHosts finds the hosts of the run, in the order of their numbers. It returns an error if some are
// missing or unsuitable.
func (r *Reservation) findHosts() (err error) {
	j := r.job
	if r.setup.Control == "" { // the run starts the agents itself
		p := j.Placement()
		var names []string
		for i := range j.Hosts {
			names = append(names, p.Name(i))
		}
		return errors.Join(j.PlaceOn(names), checkCuts(j, nil))
	}
	if r.control, err = access.Connect(r.setup.Control, r.setup.ControlKey); err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	found, err := agent.Find(r.control, findLimit)
	if err != nil {
		return err
	}
	if len(found) < j.Hosts {
		return fmt.Errorf("--hosts %d: %s", j.Hosts, thereAre(found))
	}
	var names []string
	for _, d := range found {
		names = append(names, d.Name)
	}
	if err := j.PlaceOn(names); err != nil {
		return err
	}
	p := j.Placement()
	for i := range j.Hosts {
		r.found = append(r.found, found[slices.Index(names, p.Name(i))])
	}
	return errors.Join(r.checkProgram(), checkCuts(j, r.found))
}

// checkProgram returns an error if a host of the run does not start the given node program.
func (r *Reservation) checkProgram() error {
	for _, d := range r.found {
		if r.setup.NodeGiven && !d.Programs {
			return fmt.Errorf("--node-program: host %s starts only node programs of its own version: leave it "+
				"out, or start the agents with --allow-program %s", d.Name, r.setup.Node)
		}
	}
	return nil
}

// thereAre lists the hosts that were found.
func thereAre(found []agent.Description) string {
	if len(found) == 0 {
		return "no host is there: start one with orchestrator hosts join"
	}
	says := fmt.Sprintf("%d are there:", len(found))
	for _, d := range found {
		says += " " + d.Name
	}
	return says
}
