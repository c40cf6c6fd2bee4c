package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/place"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/internal/broker"
	"turnstile/internal/jsonseq"
	"turnstile/internal/offset"
	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// A fleet has the hosts of a run, and the connection to their agents through the control plane.
type fleet struct {
	job    *bench.Job
	conn   *nats.Conn
	run    *agent.Run
	hosts  []*agent.Machine
	own    bool              // the run has started the agents on this machine
	plane  *cluster.Brokers  // the control plane, if it is the run's own
	agents []cluster.Node    // agents that the run has started
	ended  chan cluster.Node // receives agents that have ended
	over   chan struct{}     // closed when the run is over
	once   sync.Once         // makes close run only once
	shared string            // folder that all hosts map; empty: they share no memory
	cut    map[int][]int     // hosts of each cut of networks, by the number of the cut

	clocks     []*hostClock
	stopClocks func()
	zeros      []int64 // the trial's zero by the clock of each host; nil: no trial has begun
}

// agentPrograms are the names by which agents know the programs of processes.
var agentPrograms = programs{[]string{agent.NodeProgram}, []string{agent.BrokerProgram},
	[]string{agent.ProxyProgram}, []string{agent.ResourceProgram}}

// joinHosts makes the found hosts serve a run. If it fails, it closes the fleet.
func (s *Setup) joinHosts(ctx context.Context, j *bench.Job, f *fleet, found []agent.Description) (
	_ *fleet, err error) {
	f.job, f.over, f.cut = j, make(chan struct{}), map[int][]int{}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.run, err = agent.NewRun(f.conn, broker.NewToken()[:12]); err != nil {
		return nil, err
	}
	if err := checkMemory(j, found); err != nil {
		return nil, err
	}
	for i, d := range found {
		h, err := f.run.Join(ctx, d, s.joinOf(j, i))
		if err != nil {
			return nil, err
		}
		f.hosts = append(f.hosts, h)
	}
	f.attend(j.LongestPause())
	if err := f.readClocks(ctx); err != nil {
		return nil, err
	}
	if !f.own {
		f.shared = f.findShared(ctx)
		if err := checkApart(j, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// joinOf returns the request to a host to join the run.
func (s *Setup) joinOf(j *bench.Job, host int) agent.Join {
	count := 0
	for id := range j.Total() {
		if j.HostOf(nodes.ID(id)) == host {
			count++
		}
	}
	return agent.Join{Version: s.Versions["turnstile"], User: userAtHost(), Nodes: count, Carriers: 2,
		What: fmt.Sprintf("%s with %d nodes", j.Algorithm, j.Config.N),
		Disk: int64(j.DiskSpace().Bytes) / int64(j.Trials)}
}

// userAtHost returns this user and machine, to tell others who uses a host.
func userAtHost() string {
	maker := "somebody"
	if u, err := user.Current(); err == nil {
		maker = u.Username
	}
	if name, err := os.Hostname(); err == nil {
		maker += "@" + name
	}
	return maker
}

// startAgents starts a control plane and agents on this machine, which leave their files in a folder, and
// makes them serve a run.
func (s *Setup) startAgents(ctx context.Context, l *cluster.Launcher, j *bench.Job, folder string) (
	*fleet, error) {
	f := &fleet{own: true, ended: make(chan cluster.Node, j.Hosts)}
	found, err := f.start(ctx, l, s, j, folder)
	if err != nil {
		f.close()
		return nil, err
	}
	return s.joinHosts(ctx, j, f, found)
}

// start starts the control plane and the agents, and returns their descriptions.
func (f *fleet) start(ctx context.Context, l *cluster.Launcher, s *Setup, j *bench.Job, folder string) (
	found []agent.Description, err error) {
	f.plane, err = cluster.LaunchBrokers(ctx, []cluster.Host{l}, s.Broker, "the broker of the control plane", 1,
		&cluster.Proxies{}, nil)
	if err != nil {
		f.plane = cluster.Outside("")
		return nil, err
	}
	url, token := f.plane.URL(0), f.plane.Token()
	if f.conn, err = nats.Connect(url, nats.Token(token), nats.Timeout(host.JoinTimeout)); err != nil {
		return nil, fmt.Errorf("reaching the control plane: %w", err)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	up, places := make(chan agent.Up, j.Hosts), j.Placement()
	for i := range j.Hosts {
		p := agent.Piped{URL: url, Token: token, Name: places.Name(i), Folder: folder,
			Version: s.Versions["turnstile"]}
		p.Node = s.NodeProgram()
		if p.Node[0], err = filepath.Abs(s.Node); err != nil {
			return nil, err
		}
		input, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		reader := jsonseq.Reader[agent.Up]{On: func(u agent.Up) { up <- u }}
		child, err := l.Start(cluster.Command{Name: "the agent of host " + p.Name, Program: s.Agent,
			Input: input}, reader.Sift)
		if err != nil {
			return nil, err
		}
		f.agents = append(f.agents, child)
		go func() {
			<-child.Ended()
			f.ended <- child
		}()
	}
	return f.describe(ctx, up, &places)
}

// describe waits until all agents are up, and returns their descriptions.
func (f *fleet) describe(ctx context.Context, up <-chan agent.Up, places *place.Placement) (
	found []agent.Description, err error) {
	count := len(f.agents)
	for late, n := time.After(joinLimit), 0; n < count; {
		select {
		case <-up:
			n++
		case p := <-f.ended:
			return nil, fmt.Errorf("%s has ended: %s", p.Name(), p.Fate().Says)
		case <-late:
			return nil, fmt.Errorf("after %v only %d of %d hosts are there", joinLimit, n, count)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for i := range count {
		d, err := agent.Describe(f.conn, places.Name(i), joinLimit)
		if err != nil {
			return nil, fmt.Errorf("asking host %s: %w", places.Name(i), err)
		}
		found = append(found, d)
	}
	return found, nil
}

// joinLimit is how long an agent may take to come up.
const joinLimit = 20 * time.Second

// Each host is pinged at this interval, and must answer within signLimit.
const (
	askEvery  = 500 * time.Millisecond
	signLimit = time.Second
)

// attend pings each host periodically. It gives up a host that is silent for longer than longest.
func (f *fleet) attend(longest time.Duration) {
	for _, h := range f.hosts {
		go func() {
			for {
				select {
				case <-time.After(askEvery):
				case <-h.Lost:
					return
				case <-f.over:
					return
				}
				if h.Answers(context.Background(), signLimit) {
					continue
				}
				if silent := time.Since(h.Heard()); silent > longest {
					h.Lose(fmt.Errorf("it has not answered for %v", silent.Round(time.Second)))
				}
			}
		}()
	}
}

// Begin implements Hosts.
func (f *fleet) Begin(ctx context.Context, dir string, origin uint64, zero int64) (*FleetRecord, error) {
	name := filepath.Base(dir)
	if !f.own {
		name = LeftFolder(f.run.Name, name)
	}
	err := f.each(func(h *agent.Machine) error { return h.Begin(ctx, name) })
	if err == nil && f.own {
		f.shared, err = filepath.Abs(dir)
	}
	if err == nil {
		err = f.beginClocks(dir, origin, zero)
	}
	if err != nil {
		return nil, err
	}
	return f.record(), nil
}

// all implements Hosts.
func (f *fleet) all() (all []cluster.Host) {
	for _, h := range f.hosts {
		all = append(all, h)
	}
	return all
}

// Agents implements Hosts.
func (f *fleet) Agents() (all []cluster.Process) {
	for _, p := range f.agents {
		all = append(all, p)
	}
	return all
}

// Stops implements Hosts.
func (f *fleet) Stops() uint64 { return proc.NoticeStops() + f.run.Stops.Load() }

// DirOf implements Hosts.
func (f *fleet) DirOf(_ string, id nodes.ID) string { return f.hosts[f.job.HostOf(id)].Folder }

// ZeroOf implements Hosts.
func (f *fleet) ZeroOf(_ int64, id nodes.ID) int64 { return f.zeros[f.job.HostOf(id)] }

// SharedDir implements Hosts.
func (f *fleet) SharedDir(dir string, id nodes.ID) string {
	if f.Apart() {
		return f.DirOf(dir, id)
	}
	return f.shared
}

// use implements Hosts.
func (f *fleet) use() (busy, all uint64, cpus int) {
	seen := map[string]bool{offset.Own().Boot: true}
	for _, h := range f.hosts {
		b, a, known := h.Use(context.Background())
		if known && !seen[h.Kernel.Boot] {
			seen[h.Kernel.Boot] = true
			busy, all, cpus = busy+b, all+a, cpus+h.Cores
		}
	}
	return busy, all, cpus
}

// Apart implements Hosts.
func (f *fleet) Apart() bool { return f.shared == "" }

// Follow implements Hosts.
func (f *fleet) Follow(state *chaos.SharedState, clients int) error {
	decided, seen := state.Decided(), make([][]byte, len(f.hosts))
	err := f.each(func(h *agent.Machine) (err error) {
		i := slices.Index(f.hosts, h)
		seen[i], err = h.Faults(context.Background(), decided, clients)
		if errors.Is(err, agent.ErrLate) { // it is unknown which faults the nodes of the host suffer
			h.Lose(err)
		}
		if h.Gone() != nil { // the nodes of the host count as killed
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("telling hosts of faults: %w", err)
	}
	return state.Gather(seen)
}

// findShared creates a folder in memory that all hosts see, if they can share one and have this kernel's
// clock.
func (f *fleet) findShared(ctx context.Context) string {
	folder, text := filepath.Join(agent.SharedMemory, f.run.Name), broker.NewToken()
	probe := filepath.Join(folder, agent.ProbeFile)
	if os.Mkdir(agent.SharedMemory, 0o777) == nil {
		os.Chmod(agent.SharedMemory, 0o777|os.ModeSticky) // despite the umask, since other users have runs, too
	}
	if os.MkdirAll(folder, 0o755) != nil || os.WriteFile(probe, []byte(text), 0o644) != nil {
		return ""
	}
	for i, h := range f.hosts {
		if !f.clocks[i].same || !h.Sees(ctx, probe, text) {
			os.RemoveAll(folder)
			return ""
		}
	}
	return folder
}

// each calls do for all hosts concurrently, and joins the errors.
func (f *fleet) each(do func(*agent.Machine) error) error {
	var group sync.WaitGroup
	errs := make([]error, len(f.hosts))
	for i, h := range f.hosts {
		group.Go(func() { errs[i] = do(h) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// CountLimit is how long the counters of a host may take to arrive. After that, all counts are unknown.
const CountLimit = time.Second

// Refresh implements Hosts.
func (f *fleet) Refresh() bool {
	err := f.each(func(h *agent.Machine) error {
		if h.Runs() == 0 || h.Refresh(context.Background(), CountLimit) {
			return nil
		}
		return errLateCounts
	})
	return err == nil
}

var errLateCounts = errors.New("the counters of a host have not come in time")

// Collect implements Hosts.
func (f *fleet) Collect(ctx context.Context, dir string, origin uint64) error {
	if f.zeros == nil {
		return nil
	}
	fetch := func(h *agent.Machine) error {
		if f.own || h.Gone() != nil { // the files are here already, or the trial reports that the host is lost
			return nil
		}
		if err := h.Fetch(ctx, dir); err != nil {
			return err
		}
		return h.Clear(ctx)
	}
	return errors.Join(f.each(fetch), f.writeClocks(dir, origin, true))
}

// close ends the rest of the run on all hosts, and the processes that the fleet has started itself.
func (f *fleet) close() { f.once.Do(f.end) }

func (f *fleet) end() {
	if f.over != nil {
		close(f.over)
	}
	if f.stopClocks != nil {
		f.stopClocks()
	}
	f.each(func(h *agent.Machine) error { return h.End(context.Background()) })
	if f.shared != "" && !f.own {
		os.RemoveAll(f.shared)
	}
	if f.run != nil {
		f.run.Close()
	}
	for _, p := range f.agents {
		p.Dismiss()
	}
	for _, p := range f.agents {
		<-p.Ended()
	}
	if f.conn != nil {
		f.conn.Close()
	}
	if f.own {
		f.plane.Close()
	}
}

// CutsNetworks implements Hosts. Agents that the run has started share the network of this machine.
func (f *fleet) CutsNetworks() bool { return !f.own }

// CutNetwork implements Hosts.
func (f *fleet) CutNetwork(number int, hosts []int, ports []uint16) error {
	for _, i := range hosts {
		f.cut[number] = append(f.cut[number], i) // the network may be cut even after an error
		if err := f.hosts[i].Cut(context.Background(), number, ports); err != nil {
			return err
		}
	}
	return nil
}

// HealNetwork implements Hosts.
func (f *fleet) HealNetwork(number int) error {
	for _, i := range f.cut[number] {
		if err := f.hosts[i].Heal(context.Background(), number); err != nil {
			return err
		}
	}
	delete(f.cut, number)
	return nil
}

// A HostRecord is the part of run.yaml about a host.
type HostRecord struct {
	Name     string `yaml:"name"`
	Address  string `yaml:"address"`
	Cores    int    `yaml:"cores"`
	MemoryMB int    `yaml:"memory_mb"`
}

// A FleetRecord is the part of run.yaml about the hosts of a run.
type FleetRecord struct {
	// Name is the name of the run at the control plane. Until files are fetched, hosts keep them in folders
	// whose names begin with it. Empty: the run started the agents itself.
	Name   string       `yaml:"name,omitempty"`
	Shares bool         `yaml:"shares_memory"` // the hosts have one kernel, and map one folder
	Hosts  []HostRecord `yaml:"hosts"`
}

// record describes the fleet.
func (f *fleet) record() *FleetRecord {
	r := &FleetRecord{Shares: !f.Apart()}
	if !f.own {
		r.Name = f.run.Name
	}
	for _, h := range f.hosts {
		r.Hosts = append(r.Hosts, HostRecord{h.Name, h.Address(), h.Cores, h.MemoryMB})
	}
	return r
}
