package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/hosts/access"
	"turnstile/hosts/agent"
	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/internal/jsonseq"
	"turnstile/internal/offset"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/results"
)

// A fleet is the hosts of a run, and the control plane that connects it to their agents.
type fleet struct {
	conn   *nats.Conn
	run    *agent.Run
	hosts  []*agent.Host
	own    *cluster.Brokers  // of the control plane; nil: it is not the run's own
	agents []cluster.Node    // that the run has started on this machine
	ended  chan cluster.Node // of these
	over   chan struct{}     // closed when the run is
	shared string            // a folder that all hosts see as memory; empty: they share none

	clocks     []*hostClock
	stopClocks func()
	zeros      []int64 // of the trial, by the clock of each host
}

// muster has as many hosts serve a run as it asks for: those that the control plane of the setup knows, or
// agents that it starts on this machine, which leave their files in a folder.
func (s *Setup) muster(ctx context.Context, l *cluster.Launcher, j *Job, folder string) (
	at *site, err error) {
	f := &fleet{over: make(chan struct{}), ended: make(chan cluster.Node, j.Hosts)}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	var found []agent.Description
	f.conn, found = s.control, s.found
	if s.Control == "" {
		found, err = f.startOwn(ctx, l, s, j, folder)
	}
	if err != nil {
		return nil, err
	}
	if f.run, err = agent.NewRun(f.conn, broker.NewToken()[:12]); err != nil {
		return nil, err
	}
	if err := j.checkMemory(found); err != nil {
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
	at = &site{node: []string{agent.NodeProgram}, broker: []string{agent.BrokerProgram},
		proxy: []string{agent.ProxyProgram}, resource: []string{agent.ResourceProgram}, fleet: f}
	if s.Control != "" && s.NodeGiven {
		at.node = append(at.node, s.Node)
	}
	if s.ControlKey != "" && !s.PlainData {
		if at.tls, err = certs.New("Turnstile run"); err != nil {
			return nil, err
		}
	}
	for _, h := range f.hosts {
		at.hosts = append(at.hosts, h)
	}
	if f.own == nil {
		f.shared = f.findShared(ctx)
		return at, j.checkApart(f)
	}
	return at, nil
}

// joinOf returns what a host is told of the run.
func (s *Setup) joinOf(j *Job, host int) agent.Join {
	count := 0
	for id := range j.total() {
		if j.hostOf(nodes.ID(id)) == host {
			count++
		}
	}
	return agent.Join{Version: s.Versions["turnstile"], User: whoAmI(), Nodes: count, Carriers: 2,
		What: fmt.Sprintf("%s with %d nodes", j.Algorithm, j.Config.N),
		Disk: int64(j.DiskSpace().Bytes) / int64(j.Trials)}
}

// whoAmI says who makes the run, for people.
func whoAmI() string {
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if name, err := os.Hostname(); err == nil {
		who += "@" + name
	}
	return who
}

// startOwn starts a control plane and agents on this machine, and returns what they say of themselves.
func (f *fleet) startOwn(ctx context.Context, l *cluster.Launcher, s *Setup, j *Job, folder string) (
	found []agent.Description, err error) {
	here, count := []cluster.Host{l}, j.Hosts
	f.own, err = cluster.LaunchBrokers(ctx, here, s.Broker, "the broker of the control plane", 1, nil, nil)
	if err != nil {
		return nil, err
	}
	url, token := f.own.URL(0), f.own.Token()
	if f.conn, err = nats.Connect(url, nats.Token(token), nats.Timeout(host.JoinTimeout)); err != nil {
		return nil, fmt.Errorf("reaching the control plane: %w", err)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	up := make(chan agent.Up, count)
	for i := range count {
		p := agent.Piped{URL: url, Token: token, Name: j.placed.Name(i), Folder: folder,
			Version: s.Versions["turnstile"]}
		if p.Node, err = filepath.Abs(s.Node); err != nil {
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
	for late := time.After(joinLimit); len(found) < count; {
		select {
		case <-up:
			found = append(found, agent.Description{})
		case p := <-f.ended:
			return nil, fmt.Errorf("%s has ended: %s", p.Name(), p.Fate().Says)
		case <-late:
			return nil, fmt.Errorf("after %v only %d of %d hosts are there", joinLimit, len(found), count)
		case <-ctx.Done():
			return nil, errInterrupted
		}
	}
	for i := range found {
		if found[i], err = agent.Describe(f.conn, j.placed.Name(i), joinLimit); err != nil {
			return nil, fmt.Errorf("asking host %s: %w", j.placed.Name(i), err)
		}
	}
	return found, nil
}

// joinLimit is how long an agent may take to come up.
const joinLimit = 20 * time.Second

// Each host is asked for a sign of life so often, and is to give one within another time.
const (
	askEvery  = 500 * time.Millisecond
	signLimit = time.Second
)

// attend asks each host for a sign of life, again and again. It takes a host for gone that is silent for too
// long.
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

// begin has all hosts begin a trial. Its files are in the folder dir of this machine when it is over.
func (f *fleet) begin(ctx context.Context, dir string) error {
	name := filepath.Base(dir)
	if f.own == nil {
		name = leftFolder(f.run.Name, name)
	}
	err := f.each(func(h *agent.Host) error { return h.Begin(ctx, name) })
	if err != nil {
		return err
	}
	if f.own != nil {
		f.shared, err = filepath.Abs(dir)
	}
	return err
}

// apart reports whether the hosts share no memory.
func (f *fleet) apart() bool { return f.shared == "" }

// follow has the states of faults on hosts that share no memory follow that of the run, and takes over what
// nodes have seen there.
func (f *fleet) follow(state *chaos.SharedState, clients int) error {
	decided, seen := state.Decided(), make([][]byte, len(f.hosts))
	err := f.each(func(h *agent.Host) (err error) {
		i := slices.Index(f.hosts, h)
		seen[i], err = h.Faults(context.Background(), decided, clients)
		if errors.Is(err, agent.ErrLate) { // nobody knows which faults its nodes suffer
			h.Lose(err)
		}
		if h.Gone() != nil { // which is noticed by its nodes
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("telling hosts of faults: %w", err)
	}
	return state.Gather(seen)
}

// findShared makes a folder in memory that all hosts see, if there is one, and they have this kernel's clock.
func (f *fleet) findShared(ctx context.Context) string {
	folder, text := filepath.Join(agent.SharedMemory, f.run.Name), broker.NewToken()
	probe := filepath.Join(folder, agent.ProbeFile)
	if os.Mkdir(agent.SharedMemory, 0o777) == nil {
		os.Chmod(agent.SharedMemory, 0o777|os.ModeSticky) // whatever the mask: other users have runs too
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

// each does something with all hosts at once, and returns what went wrong.
func (f *fleet) each(do func(*agent.Host) error) error {
	var group sync.WaitGroup
	errs := make([]error, len(f.hosts))
	for i, h := range f.hosts {
		group.Go(func() { errs[i] = do(h) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// A host whose counters do not come within this time makes all counts unknown.
const countLimit = time.Second

// refresh reads what the nodes of all hosts count now, and reports whether all is known.
func (f *fleet) refresh() bool {
	err := f.each(func(h *agent.Host) error {
		if h.Runs() == 0 || h.Refresh(context.Background(), countLimit) {
			return nil
		}
		return errLateCounts
	})
	return err == nil
}

var errLateCounts = errors.New("the counters of a host have not come in time")

// fetch copies what the hosts have recorded of a trial into its folder, as far as it can be had.
func (f *fleet) fetch(ctx context.Context, dir string) error {
	if f.own != nil { // it is there
		return nil
	}
	return f.each(func(h *agent.Host) error {
		if h.Gone() != nil { // which the trial says
			return nil
		}
		if err := h.Fetch(ctx, dir); err != nil {
			return err
		}
		return h.Clear(ctx)
	})
}

// close ends what is left of the run on all hosts, and what it has started itself.
func (f *fleet) close() {
	close(f.over)
	if f.stopClocks != nil {
		f.stopClocks()
	}
	f.each(func(h *agent.Host) error { return h.End(context.Background()) })
	if f.shared != "" && f.own == nil {
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
	if f.own != nil {
		f.own.Close()
	}
}

// How clocks of hosts are compared with that of the orchestrator.
const (
	exchangeEvery = time.Second
	exchangeLimit = 2 * time.Second // an answer that takes longer says nothing
	exchanges     = 8               // one after the other, before a run begins
	mostWrong     = 3               // exchanges in a row that contradict themselves, or say that the clock fell
)

// A hostClock is what is known of the clock of a host.
type hostClock struct {
	host *agent.Host
	conn *nats.Conn
	same bool // it is the orchestrator's

	mu        sync.Mutex
	estimator offset.Estimator
	told      history.Clock // of the trial
}

// newHostClock compares the clock of a host with this one.
func newHostClock(conn *nats.Conn, h *agent.Host) (*hostClock, error) {
	c := &hostClock{host: h, conn: conn}
	var x offset.Exchange
	for range exchanges {
		var err error
		if x, err = c.exchange(); err == nil {
			err = c.estimator.Add(x)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the clock of host %s: %w", h.Name, err)
		}
	}
	c.same = offset.OneClock(offset.Own(), h.Kernel, x)
	return c, nil
}

// exchange asks the host for its clock.
func (c *hostClock) exchange() (x offset.Exchange, err error) {
	x.Sent = agent.Monotonic()
	r, err := agent.Clock(c.conn, c.host.Name, exchangeLimit)
	x.Returned, x.Received, x.Answered = agent.Monotonic(), r.Taken, r.Given
	return x, err
}

// follow compares the clocks once a second until ctx is done.
func (c *hostClock) follow(ctx context.Context) {
	wrong := 0 // exchanges in a row
	for tick := time.NewTicker(exchangeEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		x, err := c.exchange()
		if err != nil {
			continue // the bound grows
		}
		c.mu.Lock()
		err = c.estimator.Add(x)
		c.mu.Unlock()
		if wrong++; err == nil {
			wrong = 0
		} else if wrong == mostWrong { // a clock that jumps in the middle of an exchange does so once
			c.host.Lose(err)
			return
		}
	}
}

// begin returns what the zero of a run is on this clock, for its nodes.
func (c *hostClock) begin(zero int64, of []nodes.ID) int64 {
	if c.same {
		return zero
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead, _, _ := c.estimator.Offset(agent.Monotonic())
	c.told = history.Clock{Host: c.host.Name, Nodes: of, Zero: zero + ahead, Reference: zero}
	return c.told.Zero
}

// known returns the clock with what is known of it from the run's zero until now.
func (c *hostClock) known() history.Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	clock := c.told
	clock.Pieces = c.estimator.Pieces(clock.Reference, agent.Monotonic())
	return clock
}

// readClocks compares the clocks of all hosts with this one, and goes on with those that are others.
func (f *fleet) readClocks(ctx context.Context) error {
	f.clocks = make([]*hostClock, len(f.hosts))
	ctx, f.stopClocks = context.WithCancel(ctx)
	return f.each(func(h *agent.Host) (err error) {
		i := slices.Index(f.hosts, h)
		if f.clocks[i], err = newHostClock(f.conn, h); err == nil && !f.clocks[i].same {
			h.Correct = func(stamp int64) int64 {
				clock := f.clocks[i].known()
				return clock.Correct(stamp)
			}
			go f.clocks[i].follow(ctx)
		}
		return err
	})
}

// beginClocks tells the clocks of other hosts when a trial begins, and puts on record that its stamps are
// theirs.
func (f *fleet) beginClocks(j *Job, dir string, origin uint64, zero int64) error {
	f.zeros = make([]int64, len(f.hosts))
	for i, c := range f.clocks {
		f.zeros[i] = c.begin(zero, j.placed.Nodes(i))
	}
	return f.writeClocks(dir, origin, false)
}

// writeClocks puts on record what is known of the clocks of other hosts, if there are any: nothing before the
// trial is over.
func (f *fleet) writeClocks(dir string, origin uint64, over bool) error {
	var all []history.Clock
	for _, c := range f.clocks {
		switch {
		case c.same:
		case over:
			all = append(all, c.known())
		default:
			all = append(all, c.told)
		}
	}
	if all == nil {
		return nil
	}
	return history.WriteClocks(dir, origin, all)
}

// A fleetCutter is a networkCutter by the agents of a run.
type fleetCutter struct {
	*fleet
	transport *transport
	cut       map[int][]int // the hosts that each cut is of, by its number
}

var _ networkCutter = (*fleetCutter)(nil)

// cutNetwork implements networkCutter.
func (c *fleetCutter) cutNetwork(number int, hosts []int) error {
	var ports []uint16
	for _, b := range []*cluster.Brokers{c.transport.brokers, c.transport.second} {
		if b != nil {
			ports = append(ports, b.Ports()...)
		}
	}
	for _, i := range hosts {
		c.cut[number] = append(c.cut[number], i) // which may have been cut, whatever the error
		if err := c.hosts[i].Cut(context.Background(), number, ports); err != nil {
			return err
		}
	}
	return nil
}

// healNetwork implements networkCutter.
func (c *fleetCutter) healNetwork(number int) error {
	for _, i := range c.cut[number] {
		if err := c.hosts[i].Heal(context.Background(), number); err != nil {
			return err
		}
	}
	delete(c.cut, number)
	return nil
}

// checkCuts says why the kernels of the hosts of a run cannot cut off those that its faults cut off, if they
// cannot. Hosts are those of the run, by their numbers; none: agents on this machine.
func (j *Job) checkCuts(hosts []agent.Description) error {
	const instead = "leave out kernel, or make the run in containers (compose.faults.yml)"
	faults, err := j.resolve(0, 1)
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

// checkMemory says which hosts that share a machine have too little memory together, if some have. What each
// may take by itself it says when it joins.
func (j *Job) checkMemory(hosts []agent.Description) error {
	type machine struct{ nodes, free int }
	of := map[string]*machine{}
	for i, d := range hosts {
		if d.Kernel.Boot == "" || d.FreeMB == 0 {
			continue
		}
		m := of[d.Kernel.Boot]
		if m == nil {
			m = &machine{}
			of[d.Kernel.Boot] = m
		}
		m.nodes, m.free = m.nodes+len(j.placed.Nodes(i)), max(m.free, d.FreeMB)
	}
	for _, m := range of {
		if needs := m.nodes * agent.NodeMB; needs > m.free {
			return fmt.Errorf("%d nodes on hosts of one machine take about %d MB of memory, and it has %d: use fewer "+
				"nodes, or hosts on more machines", m.nodes, needs, m.free)
		}
	}
	return nil
}

// checkApart says why the run cannot be made on hosts that share no memory, if these are such and it cannot.
func (j *Job) checkApart(f *fleet) error {
	if !f.apart() {
		return nil
	}
	if !j.AsksProcess() && len(j.Stack.Mutexes()) > 0 {
		return errors.New("these hosts share no memory in which nodes could keep what witnesses exclusion: take " +
			"--resource process")
	}
	faults, err := j.resolve(0, 1)
	if err == nil {
		err = chaos.CheckApart(faults)
	}
	return err
}

// networksOf returns the hosts whose networks a fault cuts off; nil: it cuts off none.
func networksOf(f *chaos.Fault) (all []int) {
	if !chaos.CutsNetworks([]chaos.Fault{*f}) {
		return nil
	}
	for _, host := range effect.HostsOf(f.Effect) {
		all = append(all, int(host))
	}
	return all
}

// findLimit is how long hosts may take to say that they are there.
const findLimit = 2 * time.Second

// findHosts finds the hosts of a run, in the order of their numbers, and says why it cannot have those that
// it asks for, if it cannot.
func (s *Setup) findHosts(j *Job) (err error) {
	if s.Control == "" { // agents that the run starts
		p := j.Placement()
		var names []string
		for i := range j.Hosts {
			names = append(names, p.Name(i))
		}
		return errors.Join(j.PlaceOn(names), j.checkCuts(nil))
	}
	if s.control, err = access.Connect(s.Control, s.ControlKey); err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	if err = s.chooseHosts(j); err != nil {
		s.control.Close()
	}
	return err
}

// chooseHosts finds out which of the hosts that are there the run is on.
func (s *Setup) chooseHosts(j *Job) error {
	found, err := agent.Find(s.control, findLimit)
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
	for i := range j.Hosts {
		s.found = append(s.found, found[slices.Index(names, j.placed.Name(i))])
	}
	return errors.Join(s.checkProgram(), j.checkCuts(s.found))
}

// checkProgram says which of the hosts of the run does not start the node program that was named.
func (s *Setup) checkProgram() error {
	for _, d := range s.found {
		if s.NodeGiven && !d.Programs {
			return fmt.Errorf("--node-program: host %s starts node programs of its own version alone: leave it "+
				"out, or start the agents with --allow-program %s", d.Name, s.Node)
		}
	}
	return nil
}

// thereAre says which hosts were found.
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

// A HostRecord is what run.yaml says of a host of the run.
type HostRecord struct {
	Name     string `yaml:"name"`
	Address  string `yaml:"address"`
	Cores    int    `yaml:"cores"`
	MemoryMB int    `yaml:"memory_mb"`
}

// A FleetRecord is what run.yaml says of the hosts of a run.
type FleetRecord struct {
	// Name is that of the run at the control plane. Hosts keep its files in folders whose names begin with
	// it, until they are fetched; empty: the agents were the run's own.
	Name   string       `yaml:"name,omitempty"`
	Shares bool         `yaml:"shares_memory"` // the hosts have one kernel, and see one folder
	Hosts  []HostRecord `yaml:"hosts"`
}

// record describes the fleet.
func (f *fleet) record() *FleetRecord {
	r := &FleetRecord{Shares: !f.apart()}
	if f.own == nil {
		r.Name = f.run.Name
	}
	for _, h := range f.hosts {
		r.Hosts = append(r.Hosts, HostRecord{h.Name, h.Address(), h.Cores, h.MemoryMB})
	}
	return r
}

// keepFleet writes to run.yaml which hosts the run has.
func (r *Run) keepFleet(f *FleetRecord) error {
	r.Record.Fleet = f
	return r.Folder.WriteYAML(r.Record)
}

// leftFolder returns the name of the folder in which hosts keep what a trial has left.
func leftFolder(fleet, trial string) string { return fleet + "-" + trial }

// Fetch copies what the hosts of a run have kept, whose orchestrator has ended before it had all, into the
// run's folder. It returns from how many folders it did so.
func Fetch(ctx context.Context, conn *nats.Conn, version string, folder *results.Folder) (
	count int, err error) {
	record, err := ReadRecord(folder)
	switch {
	case err != nil:
		return 0, err
	case record.Fleet == nil || record.Fleet.Name == "":
		return 0, fmt.Errorf("%s was made without hosts of a control plane: there is nothing to fetch",
			folder.Ref())
	case !record.Unfinished():
		return 0, fmt.Errorf("%s is finished, and was judged by what its hosts had to give then: what a host that "+
			"came back has left of it is removed by --clean", folder.Ref())
	}
	if err := goesOn(folder); err != nil {
		return 0, fmt.Errorf("%s: %w", folder.Ref(), err)
	}
	found, err := agent.Find(conn, findLimit)
	if err != nil {
		return 0, err
	}
	for _, d := range found {
		for number := 1; number <= record.Options.Trials; number++ {
			dir := folder.LogFolder(number)
			if _, wrong := os.Stat(dir); wrong != nil {
				continue
			}
			left := leftFolder(record.Fleet.Name, filepath.Base(dir))
			if !slices.Contains(d.Left, left) {
				continue
			}
			err = errors.Join(err, adopt(ctx, conn, d, version, left, func(h *agent.Host) error {
				return h.Fetch(ctx, dir)
			}))
			count++
		}
	}
	return count, err
}

// CleanHosts has all hosts remove what runs have left there that nobody has fetched, and returns what that
// was.
func CleanHosts(ctx context.Context, conn *nats.Conn, version string) (removed []string, err error) {
	found, err := agent.Find(conn, findLimit)
	for _, d := range found {
		for _, left := range d.Left {
			wrong := adopt(ctx, conn, d, version, left, func(*agent.Host) error { return nil })
			if err = errors.Join(err, wrong); wrong == nil {
				removed = append(removed, d.Name+": "+left)
			}
		}
	}
	return removed, err
}

// adopt does something with the files of a run that a host has kept, and then has it remove them.
func adopt(ctx context.Context, conn *nats.Conn, d agent.Description, version, left string,
	do func(*agent.Host) error) error {
	run, err := agent.NewRun(conn, strings.ToLower(broker.NewToken()[:12]))
	if err != nil {
		return err
	}
	defer run.Close()
	h, err := run.Join(ctx, d,
		agent.Join{Version: version, User: whoAmI(), What: "fetching files", Adopt: left})
	if err != nil {
		return err
	}
	if err = do(h); err == nil {
		err = h.Clear(ctx)
	}
	return errors.Join(err, h.End(ctx))
}
