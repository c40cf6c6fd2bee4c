package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"turnstile/bench/agent"
	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/internal/broker"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// start starts the nodes and waits until all have subscribed to their subjects.
func (t *trial) start() error {
	began := t.now()
	t.name = broker.NewToken()[:12]
	if f := t.transport.site.fleet; f != nil {
		if err := t.beginOn(f); err != nil {
			return err
		}
	}
	if err := t.openResource(); err != nil {
		return err
	}
	if err := t.faults.prepare(t.faultStatePath()); err != nil {
		return err
	}
	if at := t.transport.site; at.apart() {
		if err := t.faults.spread(at.fleet); err != nil {
			return err
		}
	}
	for _, p := range t.transport.processes() {
		t.connections.include(p)
	}
	t.report(Progress{Phase: "starting"})
	if err := t.connections.awaitSubscriptions(false); err != nil { // those of the trial before are gone
		return err
	}
	if err := t.nodes.startAll(); err != nil {
		return err
	}
	if err := t.connections.awaitSubscriptions(true); err != nil {
		return err
	}
	return t.Gauge(t.now(), history.ReadyUS, (t.now()-began)/1000)
}

// beginOn begins the trial on hosts.
func (t *trial) beginOn(f *fleet) error {
	err := f.begin(t.nodes.ctx, t.dir)
	if err == nil {
		err = f.beginClocks(t.Job, t.dir, t.origin, t.zero)
	}
	if err == nil {
		err = t.keepFleet(f.record())
	}
	return err
}

// restarts is how many more processes a trial may have than it has nodes: those that carry its messages, and
// those that were restarted.
const restarts = 1024

// follow has the end of p be noticed, unless p is ended on purpose.
func (n *nodeSet) follow(p cluster.Process) {
	go func() {
		<-p.Ended()
		if !p.Fate().Dismissed {
			n.ended <- p
		}
	}()
}

// startNext starts the next process of a node.
func (n *nodeSet) startNext(id nodes.ID) error {
	input, err := n.input(id)
	if err != nil {
		return err
	}
	reader := host.NoteReader{On: func(note host.Note) { n.notes.put(id, note) }}
	p, err := n.start(id, cluster.Command{Name: fmt.Sprintf("node %d", id), Input: input, Log: n.logOf(id)},
		reader.Sift)
	if err != nil {
		return err
	}
	n.lives[id].node, n.lives[id].told = p, 0
	n.all = append(n.all, p)
	n.follow(p)
	return nil
}

// startAll starts all nodes, and waits until they are ready.
func (n *nodeSet) startAll() error {
	var all []nodes.ID
	for id := range nodes.ID(n.total()) {
		if err := n.startNext(id); err != nil {
			return err
		}
		if n.ctx.Err() != nil {
			return errInterrupted
		}
		all = append(all, id)
	}
	missing, err := n.awaitReady(all...)
	if missing > 0 && err == nil {
		err = fmt.Errorf("after %v only %d of %d nodes are ready: the machine is too slow for so many",
			n.joinLimit(), n.total()-missing, n.total())
	}
	return err
}

// joinLimit is how long nodes may take to be ready.
func (n *nodeSet) joinLimit() time.Duration {
	return 20*time.Second + time.Duration(n.total())*50*time.Millisecond
}

// awaitReady waits until nodes that were started have said that they are ready, and it is known what they
// count. If that takes too long, it returns how many are missing.
func (n *nodeSet) awaitReady(ids ...nodes.ID) (missing int, err error) {
	for late := time.After(n.joinLimit()); ; {
		missing = 0
		for _, id := range ids {
			if n.watch.of[id] == nil && n.notes.isReady(id) {
				if n.watch.of[id], err = n.lives[id].node.Counters(); err != nil {
					return 0, err
				}
			}
			if n.watch.of[id] == nil {
				missing++
			}
		}
		if missing == 0 {
			return 0, nil
		}
		if news, err := n.news(late); !news || err != nil {
			return missing, err
		}
	}
}

// traceLength returns how many of its latest messages each node keeps: some thousands, but fewer in large
// clusters, so that all traces together stay small. If all are to be recorded, they may take 200 MB.
func (j *Job) traceLength(total int) int {
	all := 1 << 23
	if foreign.Speaks(j.Config) { // each message with its text
		all = 1 << 19
	}
	if j.Trace {
		return min(1<<20-1, max(4096, all/total))
	}
	return min(4096, max(256, (1<<18)/total))
}

// resourcePath returns where the shared resource is, and faultStatePath where the state of the faults is.
func (t *trial) resourcePath() string { return filepath.Join(t.sharedDir(), "resource") }

func (t *trial) faultStatePath() string { return filepath.Join(t.sharedDir(), agent.FaultsFile) }

// sharedDir returns the folder of what the orchestrator shares with nodes.
func (t *trial) sharedDir() string {
	if t.transport.site.apart() {
		return t.dir
	}
	return t.transport.site.sharedDir(t.Job, t.dir, 0)
}

// input returns what the next process of a node is to know.
func (t *trial) input(id nodes.ID) ([]byte, error) {
	life := &t.nodes.lives[id]
	c := host.Config{
		Run: t.name, URL: t.transport.url(id, 0), Token: t.transport.token(), Pin: t.transport.site.pin(),
		Second: t.transport.secondOf(id), Node: id, Zero: t.transport.site.zeroOf(t.Job, t.zero, id),
		Workload: t.Workload, Entries: t.ticketsOfNodes(), Multicast: t.Multicast,
		Reconnect: t.connections.reconnects,
		Seed:      t.seed, Origin: t.origin, Log: t.nodes.logOf(id), Saved: t.nodes.savedOf(id),
		TraceLength: t.traceLength(t.total()), TraceAll: t.Trace, Resource: t.resourcePath(),
		Texts:       foreign.Speaks(t.Config),
		Incarnation: life.incarnation, Requests: life.requests,
	}
	c.Service = t.transport.service.of(id, t.name)
	if kept := t.transport.resource; kept != nil {
		c.Resource, c.ResourceAt = "", kept.Broker()
	}
	faults := chaos.NodeFaults{Network: t.network(), Faults: t.faults.all,
		SharedState: filepath.Join(t.transport.site.sharedDir(t.Job, t.dir, id), agent.FaultsFile)}
	parts := catalog.PartsOf(t.Stack)
	if at := t.transport.service; at != nil {
		parts[0].Config = parts[0].Config.With(foreign.CommandOption, at.program.Client())
	}
	return json.Marshal(map[string]any{"node": c, "machines": parts, "chaos": faults})
}
