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
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/agent"
	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/internal/broker"
	"turnstile/internal/certs"
	"turnstile/internal/jsonseq"
	"turnstile/nodes"
	"turnstile/nodes/host"
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
