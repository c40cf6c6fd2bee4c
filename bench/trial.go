package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/hosts/control"
	"turnstile/internal/broker"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A trial is one run of a cluster of processes, from the start of the first to the end of the last. Each of
// its parts knows only those before it.
type trial struct {
	*Job
	number    int // from 1
	seed      uint64
	origin    uint64 // see history.Header
	dir       string // where its logs go
	startNode nodeStarter
	transport *transport
	progress  func(Progress)
	requests  *control.Server // takes requests for more faults; nil: nobody makes any
	// keepFaults puts faults on record that differ from those of the plan.
	keepFaults func([]chaos.Fault) error
	// keepFleet puts its hosts on record.
	keepFleet func(*FleetRecord) error
	// reconnects says that connections to the broker may be lost on purpose, so that nodes outlive that.
	reconnects bool

	name string // of the run, in its subjects
	*journal
	pauses      *pauses
	watch       *watch
	counts      *messageCounts
	nodes       *nodeSet
	orders      *orders
	connections *connections
	faults      *trialFaults

	stall    stall.Reports // none: it did not stall
	livelock uint64        // messages handled since anybody entered, if that is why
}

// wire makes the parts of a trial that has a journal, for as long as ctx lasts.
func (t *trial) wire(ctx context.Context) {
	at := t.transport.site
	t.pauses = newPauses(t.journal, t.LongestPause(), at.stops, t.transport.processes())
	t.watch = newWatch(t.Stack)
	if at.fleet != nil {
		t.watch.refresh = at.fleet.refresh
	}
	t.counts = &messageCounts{journal: t.journal, watch: t.watch}
	t.nodes = &nodeSet{journal: t.journal, Job: t.Job, ctx: ctx, start: t.startNode, input: t.input,
		carriers: t.transport.processes, pauses: t.pauses, watch: t.watch, notes: newNotes(t.total()),
		lives: make([]life, t.total()), ended: make(chan cluster.Process, t.total()+restarts)}
	t.nodes.use = func() { at.use() }
	t.nodes.dirOf = func(id nodes.ID) string { return at.dirOf(t.Job, t.dir, id) }
	t.orders = &orders{nodes: t.nodes}
	t.connections = &connections{journal: t.journal, transport: t.transport, nodes: t.nodes, orders: t.orders,
		reconnects: t.reconnects || t.Proxies,
		servers:    servers{t.transport.service, t.nodes.ctx, t.transport.proxies}}
	if at.fleet != nil && at.fleet.own == nil {
		t.connections.cutter = &fleetCutter{at.fleet, t.transport, map[int][]int{}}
	}
	t.faults = &trialFaults{journal: t.journal, Job: t.Job, number: t.number, seed: t.seed,
		requests: t.requests, keep: t.keepFaults, nodes: t.nodes, orders: t.orders, connections: t.connections,
		counts: t.counts}
}

// A Progress says how far a trial has come.
type Progress struct {
	Trial     int
	Phase     string        // starting, warming up, measuring, draining, judging
	Done      float64       // 0 to 1
	Elapsed   time.Duration // since issuing began
	Entries   uint64
	PerSecond float64 // entries, lately
}

// errInterrupted ends a trial that the user interrupts.
var errInterrupted = errors.New(results.Interrupted)

// errStalled ends a trial in which somebody waits and nothing moves.
var errStalled = errors.New("stalled")

// How often a trial reads the counters of its nodes. Each time takes them out of the caches of the nodes'
// processors, so it is done rarely where nothing depends on it.
const (
	tick     = 10 * time.Millisecond
	slowTick = 50 * time.Millisecond
)

// A journal is what the orchestrator puts on record of a trial, and the time of the trial.
type journal struct {
	*history.Journal
	anchor  host.Anchor
	started time.Time
	zero    int64 // the same, on CLOCK_MONOTONIC
}

// newJournal begins the trial's time, whatever the error, and makes its journal in a folder.
func newJournal(dir string, origin uint64) (j *journal, err error) {
	j = &journal{anchor: host.DropAnchor()}
	j.started, j.zero = time.Now(), j.anchor.Now()
	j.Journal, err = history.CreateJournal(filepath.Join(dir, "orchestrator.log"), origin, j.anchor.Error)
	return j, err
}

func (j *journal) now() int64 { return j.anchor.Now() - j.zero }

// broke records that assumptions about the system do not hold any more.
func (j *journal) broke(needs nodes.Assumption) error {
	return j.Add(history.Event{At: j.now(), Kind: history.AssumptionBroken, Node: nodes.None,
		Value: int64(needs)})
}

// run runs the trial. Whatever the error, the folder holds what was recorded up to then, and no
// process is left.
func (t *trial) run(ctx context.Context) (err error) {
	t.journal, err = newJournal(t.dir, t.origin)
	t.wire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = t.nodes.goneWith(err)
		t.finish(err)
		err = errors.Join(err, t.journal.Close(), t.collect(context.WithoutCancel(ctx)))
	}()
	if err := t.start(); err != nil {
		return err
	}
	t.watchEndpoint()
	if err := t.issue(); err != nil {
		return err
	}
	return t.rest()
}

// collect has the folder hold what was recorded on other hosts, and what is known of their clocks.
func (t *trial) collect(ctx context.Context) error {
	f := t.transport.site.fleet
	if f == nil || f.zeros == nil {
		return nil
	}
	return errors.Join(f.fetch(ctx, t.dir), f.writeClocks(t.dir, t.origin, true))
}

// finish marks why the trial ended early, if it did, and ends its processes.
func (t *trial) finish(err error) {
	t.faults.refuse("has ended")
	switch {
	case errors.Is(err, errStalled):
		t.Stall(t.now(), t.livelock)
	case err != nil:
		t.Mark(t.now(), history.Interrupted)
	}
	if err != nil {
		t.counts.record(t.now(), false)
		t.nodes.gaugeMemory()
	}
	t.nodes.endpoint.close()
	t.nodes.end()
	t.watch.close()
}

func (t *trial) report(p Progress) {
	if t.progress != nil {
		t.progress(p)
	}
}

// rest waits until all requests are granted and released and all messages have arrived, and then has the
// nodes quit.
func (t *trial) rest() error {
	stallDetector := t.newStallDetector()
	for {
		s := t.watch.read()
		if (t.calming() == "" || t.watch.hushed) && !t.faults.driver.Unhealed() {
			if rested, err := t.rested(s); err != nil {
				return err
			} else if rested {
				break
			}
		}
		if order := t.calming(); order != "" && t.orders.calmed == "" {
			idle, err := t.idle(s)
			if err == nil && idle {
				t.orders.calmed = order
				err = t.orders.give(host.Order{Do: order}, t.nodes.up()...)
			}
			if err != nil {
				return err
			}
		}
		if t.orders.calmed != "" && !t.watch.hushed && t.orders.allObeyed() {
			// From now on, what detectors have sent is to arrive.
			t.watch.hushed = true
			stallDetector.restart(t.sums(), t.now())
			continue
		}
		if err := stallDetector.look(s, t.now()); err != nil {
			return err
		}
		t.report(Progress{Phase: "draining", Done: 1, Entries: s.entries})
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

// idle reports whether no request is open, and none will be. A process that stands still may have one to make
// that was due before issuing ended, so each has to go on first, and to answer.
func (t *trial) idle(s sums) (bool, error) {
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

// rested reports whether the trial is at rest for good, for which each process has to answer, as for idle.
func (t *trial) rested(s sums) (bool, error) {
	if stand, err := t.standStill(); stand || err != nil {
		return false, err
	}
	if resting, err := t.resting(s); !resting || err != nil {
		return false, err
	}
	return t.unchanged(s)
}

// standStill reports whether some process does.
func (t *trial) standStill() (bool, error) {
	err := t.pauses.follow(t.now(), t.running())
	return len(t.pauses.since) > 0, err
}

// running returns the processes that are up, by their names in histories.
func (t *trial) running() iter.Seq2[uint32, cluster.Process] {
	return func(yield func(uint32, cluster.Process) bool) {
		for _, id := range t.nodes.up() {
			if !yield(uint32(id), t.nodes.lives[id].node) {
				return
			}
		}
		t.transport.named()(yield)
	}
}

// calming returns the order that stops periodic work; empty: the algorithm comes to rest by itself.
func (t *trial) calming() string {
	switch {
	case t.Stack.Circulates(), t.Stack.Elector() != nil: // a leader may send heartbeats
		return host.Park
	case t.Detects():
		return host.Hush
	}
	return ""
}

// TrialSeed returns the seed of the trial numbered from 1.
func TrialSeed(seed uint64, number int) uint64 {
	if number == 1 {
		return seed
	}
	return chance.Dice(seed).Bits(chance.Roll{Purpose: chance.ForTrial,
		Count: uint64(number)}) & math.MaxInt64
}

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

// How many bytes of disk space an entry takes, in the logs of its trial and in the stored history.
const (
	loggedEntry = 3 * history.EventLen
	storedEntry = loggedEntry / 2 // they compress to less than half
)

// spareDiskSpace is for what is not known before the run: the entries of a run that lasts for a time,
// recorded messages if messages circulate, and the tables.
const spareDiskSpace = 64 << 20

// DiskSpace returns how much disk space a run takes. The logs of one trial are removed before the next
// begins.
func (j *Job) DiskSpace() results.DiskSpace {
	entries, asked := float64(j.Entries), fmt.Sprintf("-n %d", j.Config.N)
	switch {
	case j.Entries > 0:
		asked += fmt.Sprintf(" --entries %d", j.Entries)
	case j.Workload.Load == workload.Open:
		entries = j.Workload.Rate * (max(j.Warmup, j.WarmsUpTo()) +
			j.Duration).Seconds() * float64(j.Config.N)
		asked += fmt.Sprintf(" --rate %v --duration %v", j.Workload.Rate, j.Duration)
	}
	if j.Trials > 1 {
		asked += fmt.Sprintf(" --trials %d", j.Trials)
	}
	need := spareDiskSpace + float64(j.Trials)*entries*storedEntry
	if !j.Simulated {
		total := j.total()
		log := history.Options{Nodes: total, Instances: len(j.Stack.Instances()),
			TraceLength: j.traceLength(total), Texts: foreign.Speaks(j.Config)}.Reserved()
		need += float64(total)*float64(log) + entries*loggedEntry
	}
	return results.DiskSpace{Bytes: uint64(min(need, 1<<62)), For: asked}
}
