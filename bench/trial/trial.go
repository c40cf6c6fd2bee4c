// Package trial makes one trial of real processes: it starts the nodes on a site, orders them to issue
// requests, carries out the faults, records the events, and waits until the run is at rest or has stalled.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/hosts/control"
	"turnstile/internal/broker"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/stall"
	"turnstile/results"
)

// A Trial is one run of a cluster of processes, from the start of the first process to the end of the last.
// Each of its parts, from journal to faults, uses only the parts before it.
type Trial struct {
	*bench.Job
	Number   int // trials count from 1
	Seed     uint64
	Origin   uint64          // see history.Header
	Dir      string          // folder of the trial's logs
	Site     *site.Site      // where the processes of the trial run
	Progress func(Progress)  // gets reports of progress; may be nil
	Requests *control.Server // requests for more faults; nil: none are taken
	// KeepFaults saves the faults of the trial if they differ from the plan's.
	KeepFaults func([]chaos.Fault) error
	// KeepFleet saves the hosts of the run.
	KeepFleet func(*site.FleetRecord) error
	// reconnects is set if connections to the broker may be lost on purpose, so nodes must survive that.
	reconnects bool

	Stalled stall.Reports // reports of a stall; nil: the trial has not stalled

	name string // name of the run, as in its subjects
	*journal
	pauses      *pauses
	watch       *watch
	counts      *messageCounts
	nodes       *nodeSet
	orders      *orders
	connections *connections
	faults      *faults

	livelock uint64 // messages handled since the last entry, if a livelock ends the trial; else 0
}

// wire makes the parts of a trial whose journal exists. The trial ends when ctx is done.
func (t *Trial) wire(ctx context.Context) {
	t.name = broker.NewToken()[:12]
	t.pauses = newPauses(t.journal, t.LongestPause(), t.Site.Stops, t.Site.Processes())
	t.watch = newWatch(t.Stack)
	t.watch.refresh = t.Site.Refresh
	t.counts = &messageCounts{journal: t.journal, watch: t.watch}
	t.nodes = &nodeSet{journal: t.journal, Job: t.Job, ctx: ctx, site: t.Site, dir: t.Dir, input: t.input,
		pauses: t.pauses, watch: t.watch, notes: newNotes(t.Total()), endpoint: site.NoEndpoint(),
		lives: make([]life, t.Total()), ended: make(chan cluster.Process, t.Total()+restarts)}
	t.orders = &orders{nodes: t.nodes}
	t.nodes.informs, t.nodes.inform = foreign.Detects(t.Config) && !t.Detects(), t.orders.inform
	t.connections = &connections{journal: t.journal, site: t.Site, nodes: t.nodes, orders: t.orders,
		reconnects: t.reconnects || t.Proxies, servers: t.Site.Servers(ctx, t.name), cutter: t.Site}
	t.faults = &faults{journal: t.journal, Job: t.Job, number: t.Number, seed: t.Seed,
		requests: t.Requests, keep: t.KeepFaults, nodes: t.nodes, orders: t.orders, connections: t.connections,
		counts: t.counts}
}

// Started returns when the trial began, from which its times count.
func (t *Trial) Started() time.Time { return t.journal.started }

// CameTo returns the faults of the trial, with the nodes they hit.
func (t *Trial) CameTo() []chaos.Fault { return t.faults.cameTo() }

// HitServers reports whether the trial had faults of servers: some may now be down, or promoted.
func (t *Trial) HitServers() bool { return chaos.OfServers(t.faults.all) }

// Mend undoes what the faults of a stalled trial have left in force, since another trial may follow.
func (t *Trial) Mend() error { return t.faults.driver.Mend() }

// Progress describes how far a trial has got.
type Progress struct {
	Trial     int
	Phase     string        // starting, warming up, measuring, draining, judging
	Done      float64       // share of the trial that is done, from 0 to 1
	Elapsed   time.Duration // since issuing began
	Entries   uint64
	PerSecond float64 // rate of entries in recent time
}

// ErrInterrupted ends a trial that the user interrupts.
var ErrInterrupted = errors.New(results.Interrupted)

// ErrStalled ends a trial in which a client waits and nothing moves.
var ErrStalled = errors.New("stalled")

// Intervals at which a trial reads the counters of its nodes. Each reading evicts them from the caches of the
// nodes' CPUs, so the trial uses slowTick where precision is not needed.
const (
	tick     = 10 * time.Millisecond
	slowTick = 50 * time.Millisecond
)

// A journal is the orchestrator's log of a trial, and the clock of the trial.
type journal struct {
	*history.Journal
	anchor  host.Anchor
	started time.Time
	zero    int64 // reading of CLOCK_MONOTONIC at started
}

// newJournal starts the clock of the trial, even if it returns an error, and creates the journal in a folder.
func newJournal(dir string, origin uint64) (j *journal, err error) {
	j = &journal{anchor: host.DropAnchor()}
	j.started, j.zero = time.Now(), j.anchor.Now()
	j.Journal, err = history.CreateJournal(filepath.Join(dir, "orchestrator.log"), origin, j.anchor.Error)
	return j, err
}

func (j *journal) now() int64 { return j.anchor.Now() - j.zero }

// broke records that assumptions about the system no longer hold.
func (j *journal) broke(needs nodes.Assumption) error {
	return j.Add(history.Event{At: j.now(), Kind: history.AssumptionBroken, Node: nodes.None,
		Value: int64(needs)})
}

// Run runs the trial. Even after an error, the folder has all that was recorded, and no process is left.
func (t *Trial) Run(ctx context.Context) (err error) {
	t.journal, err = newJournal(t.Dir, t.Origin)
	t.wire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = t.nodes.markHostsGone(err)
		t.finish(err)
		err = errors.Join(err, t.journal.Close(),
			t.Site.Collect(context.WithoutCancel(ctx), t.Dir, t.Origin))
	}()
	if err := t.start(); err != nil {
		return err
	}
	t.nodes.endpoint = t.Site.Service.Watch(ctx)
	if err := t.issue(); err != nil {
		return err
	}
	return t.rest()
}

// finish records why the trial ended early, if it did, and ends its processes.
func (t *Trial) finish(err error) {
	t.faults.refuse("has ended")
	var ended endedError
	switch {
	case errors.Is(err, ErrStalled):
		t.Stall(t.now(), t.livelock)
	case errors.As(err, &ended) && foreign.Is(t.Config):
		// Its locks are freed while it ends. Entries after that moment do not count.
		at := max(ended.at-int64(noticed), 1)
		t.Add(history.Event{At: at, Kind: history.Marked, Count: history.Interrupted, Value: at})
	case err != nil:
		t.Mark(t.now(), history.Interrupted)
	}
	if err != nil {
		t.counts.record(t.now(), false)
		t.nodes.gaugeMemory()
	}
	t.nodes.endpoint.Close()
	t.nodes.end()
	t.watch.close()
}

// Report calls Progress.
func (t *Trial) Report(p Progress) {
	if t.Progress != nil {
		t.Progress(p)
	}
}

// rest waits until all requests are granted and released and all messages have arrived, and then has the
// nodes quit.
func (t *Trial) rest() error {
	stallDetector := t.newStallDetector()
	for {
		s := t.watch.read()
		if (t.calming() == "" || t.watch.detectorsStopped) && !t.faults.driver.Unhealed() {
			if rested, err := t.rested(s); err != nil {
				return err
			} else if rested {
				break
			}
		}
		if order := t.calming(); order != "" && t.orders.calmed == "" && !t.nodes.departing() {
			idle, err := t.idle(s)
			if err == nil && idle {
				t.orders.calmed = order
				err = t.orders.give(host.Order{Do: order}, t.nodes.up()...)
			}
			if err != nil {
				return err
			}
		}
		if t.orders.calmed != "" && !t.watch.detectorsStopped && t.orders.allObeyed() {
			// From now on, messages of detectors must arrive too.
			t.watch.detectorsStopped = true
			stallDetector.restart(t.sums(), t.now())
			continue
		}
		if err := stallDetector.look(s, t.now()); err != nil {
			return err
		}
		t.Report(Progress{Phase: "draining", Done: 1, Entries: s.entries})
		if err := t.nodes.wait(tick / 2); err != nil {
			return err
		}
	}
	if err := t.faults.checkHealed(); err != nil {
		return err
	}
	if err := t.Mark(t.now(), history.Rested); err != nil {
		return err
	}
	if err := t.nodes.gaugeMemory(); err != nil {
		return err
	}
	return t.orders.quit()
}

// idle reports whether no request is open or will be issued. A suspended process may still have a request
// that was due before issuing ended, so every process must run and answer first.
func (t *Trial) idle(s sums) (bool, error) {
	if s.open() {
		return false, nil
	}
	if stand, err := t.standStill(); stand || err != nil {
		return false, err
	}
	all, err := t.orders.allAnswer()
	if !all || err != nil {
		return false, err
	}
	s = t.sums()
	return !s.unknown && !s.open(), nil
}

// rested reports whether the trial is at rest for good. As in idle, every process must run and answer first.
func (t *Trial) rested(s sums) (bool, error) {
	if stand, err := t.standStill(); stand || err != nil {
		return false, err
	}
	if resting, err := t.resting(s); !resting || err != nil {
		return false, err
	}
	return t.unchanged(s)
}

// standStill reports whether some process is suspended.
func (t *Trial) standStill() (bool, error) {
	err := t.pauses.follow(t.now(), t.running())
	return len(t.pauses.since) > 0, err
}

// running returns the processes that are up, by their names in histories.
func (t *Trial) running() iter.Seq2[uint32, cluster.Process] {
	return func(yield func(uint32, cluster.Process) bool) {
		for _, id := range t.nodes.up() {
			if !yield(uint32(id), t.nodes.lives[id].node) {
				return
			}
		}
		t.Site.Named()(yield)
	}
}

// calming returns the order that stops periodic work, or "" if the algorithm comes to rest by itself.
func (t *Trial) calming() string {
	switch {
	case t.Stack.Circulates(), t.Stack.Elector() != nil: // a leader may send heartbeats
		return host.Park
	case t.Detects():
		return host.Hush
	}
	return ""
}

// start starts the nodes and waits until all have subscribed to their subjects.
func (t *Trial) start() error {
	began := t.now()
	hosts, err := t.Site.Begin(t.nodes.ctx, t.Dir, t.Origin, t.zero)
	if err == nil && hosts != nil {
		err = t.KeepFleet(hosts)
	}
	if err != nil {
		return err
	}
	t.nodes.resource, err = t.Site.OpenResource(t.nodes.ctx, t.resourcePath(), host.Share{Run: t.name,
		Nodes: t.Config.N, Capacities: slices.Repeat([]int{t.Config.Capacity()}, t.ResourceCount()),
		Entries: t.TicketsOfNodes()})
	if err != nil {
		return err
	}
	if err := t.faults.prepare(t.faultStatePath()); err != nil {
		return err
	}
	if t.Site.Apart() {
		if err := t.faults.spread(t.Site.Follow); err != nil {
			return err
		}
	}
	for _, p := range t.Site.Processes() {
		t.connections.include(p)
	}
	t.Report(Progress{Phase: "starting"})
	if err := t.connections.awaitSubscriptions(false); err != nil { // wait until no old subscription is left
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

// restarts is an upper bound on the processes of a trial beyond one per node: processes that carry messages,
// and restarted ones.
const restarts = 1024

// follow watches for the end of p, unless p is ended on purpose.
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
	p, err := n.site.Start(id, cluster.Command{Name: fmt.Sprintf("node %d", id), Input: input, Log: n.logOf(id)},
		reader.Sift)
	if err != nil {
		return err
	}
	n.lives[id].node, n.lives[id].ordered = p, 0
	n.all = append(n.all, p)
	n.follow(p)
	return nil
}

// startAll starts all nodes, and waits until they are ready.
func (n *nodeSet) startAll() error {
	var all []nodes.ID
	for id := range nodes.ID(n.Total()) {
		if err := n.startNext(id); err != nil {
			return err
		}
		if n.ctx.Err() != nil {
			return ErrInterrupted
		}
		all = append(all, id)
	}
	missing, err := n.awaitReady(all...)
	if missing > 0 && err == nil {
		err = fmt.Errorf("after %v only %d of %d nodes are ready: the machine is too slow for so many",
			n.joinLimit(), n.Total()-missing, n.Total())
	}
	return err
}

// joinLimit is how long nodes may take to become ready. With foreign programs it includes the time limit for
// their start.
func (n *nodeSet) joinLimit() time.Duration {
	limit := 20*time.Second + time.Duration(n.Total())*50*time.Millisecond
	if foreign.Is(n.Config) {
		limit += host.LongestInit
	}
	return limit
}

// awaitReady waits until started nodes are ready and their counters are known. If that takes too long, it
// returns how many are missing.
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

// resourcePath returns the file of the shared resource, and faultStatePath the file of the state of the
// faults.
func (t *Trial) resourcePath() string { return filepath.Join(t.sharedDir(), "resource") }

func (t *Trial) faultStatePath() string { return filepath.Join(t.sharedDir(), agent.FaultsFile) }

// sharedDir returns the folder that the orchestrator shares with nodes.
func (t *Trial) sharedDir() string {
	if t.Site.Apart() {
		return t.Dir
	}
	return t.Site.SharedDir(t.Dir, 0)
}

// input returns the configuration for the next process of a node.
func (t *Trial) input(id nodes.ID) ([]byte, error) {
	life := &t.nodes.lives[id]
	first := t.Site.Reach(id, 0)
	c := host.Config{
		Run: t.name, URL: first.URL, Token: first.Token, Pin: first.Pin, Second: t.Site.Reach(id, 1), Node: id,
		Zero: t.Site.ZeroOf(t.zero, id), Workload: t.Workload, Entries: t.TicketsOfNodes(),
		Multicast: t.Multicast, Reconnect: t.connections.reconnects,
		Seed: t.Seed, Origin: t.Origin, Log: t.nodes.logOf(id), Saved: t.nodes.savedOf(id),
		TraceLength: t.TraceLength(t.Total()), TraceAll: t.Trace, Texts: foreign.Speaks(t.Config),
		Incarnation: life.incarnation, Requests: life.requests, Service: t.Site.Service.Of(id, t.name),
	}
	c.Resource, c.ResourceAt = t.Site.FindResource(t.resourcePath())
	faults := chaos.NodeFaults{Network: t.Job.Network(), Faults: t.faults.all,
		SharedState: filepath.Join(t.Site.SharedDir(t.Dir, id), agent.FaultsFile)}
	parts := catalog.PartsOf(t.Stack)
	parts[0].Config = t.Site.Service.Client(parts[0].Config)
	return json.Marshal(map[string]any{"node": c, "machines": parts, "chaos": faults})
}
