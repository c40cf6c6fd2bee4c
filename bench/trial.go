package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/cluster"
	"turnstile/bench/history"
	"turnstile/bench/workload"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/host"
)

// A trial is one cluster of processes, from the first that is started to the last that ends.
type trial struct {
	Options
	spec     *nodes.Spec[nodes.Mutex]
	seed     uint64
	dir      string // where its logs go
	launcher *cluster.Launcher
	endpoint endpoint
	program  string // of a node
	progress func(Progress)

	subjects  host.Subjects
	conn      *nats.Conn
	started   time.Time
	zero      int64 // the same, on CLOCK_MONOTONIC
	anchor    host.Anchor
	journal   *history.Journal
	resource  *host.Resource
	watch     watch
	processes []*cluster.Process
	ended     chan *cluster.Process
	notes     chan host.Note
	stall     string // the report of a stall, if there was one
}

// An endpoint is a broker to join.
type endpoint struct {
	url, token string
	process    *cluster.Process // nil for one that was there before
}

// A Progress says how far a trial has come.
type Progress struct {
	Trial     int
	Phase     string        // starting, warming up, measuring, draining
	Done      float64       // 0 to 1
	Elapsed   time.Duration // since issuing began
	Entries   uint64
	PerSecond float64 // entries, lately
}

// errInterrupted ends a trial when the user asks for it.
var errInterrupted = errors.New("interrupted")

// errStalled ends a trial in which somebody waits and nothing moves.
var errStalled = errors.New("stalled")

// tick is how often a trial looks at its nodes.
const tick = 10 * time.Millisecond

// run runs the trial. Whatever the error, the folder holds what was recorded up to then, and no
// process is left.
func (t *trial) run(ctx context.Context) (err error) {
	t.anchor = host.DropAnchor()
	t.started, t.zero = time.Now(), t.anchor.Now()
	t.journal, err = history.CreateJournal(filepath.Join(t.dir, "orchestrator.log"), t.anchor.Error)
	if err != nil {
		return err
	}
	defer func() {
		t.finish(err)
		err = errors.Join(err, t.journal.Close())
	}()
	if err := t.start(ctx); err != nil {
		return err
	}
	if err := t.issue(ctx); err != nil {
		return err
	}
	return t.rest(ctx)
}

// finish marks why the trial ended early, if it did, and ends its processes.
func (t *trial) finish(err error) {
	switch {
	case errors.Is(err, errStalled):
		t.journal.Mark(t.now(), history.Stalled)
	case err != nil:
		t.journal.Mark(t.now(), history.Interrupted)
	}
	for _, p := range t.processes {
		p.Kill()
	}
	for _, p := range t.processes {
		<-p.Ended()
	}
	t.watch.close()
	if t.conn != nil {
		t.conn.Close()
	}
}

func (t *trial) now() int64 { return t.anchor.Now() - t.zero }

func (t *trial) total() int { return t.Config.N + t.spec.ServerCount(t.Config) }

// start starts the nodes and waits until all hear their subjects.
func (t *trial) start(ctx context.Context) error {
	began := t.now()
	t.subjects = host.SubjectsOf(cluster.NewToken()[:12])
	t.ended = make(chan *cluster.Process, t.total()+1)
	t.notes = make(chan host.Note, t.total()+1)
	resourcePath := filepath.Join(t.dir, "resource")
	err := host.CreateResource(resourcePath)
	if err == nil {
		t.resource, err = host.OpenResource(resourcePath)
	}
	if err == nil {
		err = t.join()
	}
	if err != nil {
		return err
	}
	t.report(Progress{Phase: "starting"})
	for id := range nodes.ID(t.total()) {
		if err := t.startNode(id, resourcePath); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	if err := t.awaitReady(ctx); err != nil {
		return err
	}
	if err := t.journal.Gauge(t.now(), history.ReadyUS, (t.now()-began)/1000); err != nil {
		return err
	}
	for id := range nodes.ID(t.total()) {
		if err := t.watch.add(t.logOf(id)); err != nil {
			return err
		}
	}
	return nil
}

// join connects to the broker and listens for the nodes' notes.
func (t *trial) join() (err error) {
	t.conn, err = nats.Connect(t.endpoint.url, nats.Token(t.endpoint.token), nats.NoReconnect(),
		nats.Name("orchestrator"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return fmt.Errorf("joining the broker at %s: %w", t.endpoint.url, err)
	}
	_, err = t.conn.Subscribe(t.subjects.Reports(), func(m *nats.Msg) {
		var n host.Note
		if json.Unmarshal(m.Data, &n) == nil {
			t.notes <- n
		}
	})
	if err == nil {
		err = t.conn.Flush()
	}
	if err != nil {
		return fmt.Errorf("listening for the nodes: %w", err)
	}
	if p := t.endpoint.process; p != nil {
		t.follow(p)
	}
	return nil
}

// follow has the end of p noticed.
func (t *trial) follow(p *cluster.Process) {
	go func() {
		<-p.Ended()
		t.ended <- p
	}()
}

func (t *trial) logOf(id nodes.ID) string {
	return filepath.Join(t.dir, fmt.Sprintf("node-%06d.log", id))
}

// ringLen is how many of its latest messages each node keeps: some thousands, but for large clusters
// fewer, so that all rings together stay small.
func (t *trial) ringLen() int { return min(4096, max(256, (1<<18)/t.total())) }

func (t *trial) startNode(id nodes.ID, resource string) error {
	c := host.Config{
		Run: t.subjects.Run(), URL: t.endpoint.url, Token: t.endpoint.token, Node: id, Zero: t.zero,
		Algorithm: t.Algorithm, Machines: t.Config, Servers: t.spec.ServerCount(t.Config),
		Workload: t.Workload, Entries: t.Entries, Latency: t.Latency, Multicast: t.Multicast,
		Seed: t.seed, Log: t.logOf(id), Ring: t.ringLen(), Resource: resource,
	}
	if t.Workload.Load == workload.Sequential {
		c.Entries = 0 // counted where the requests are given out
	}
	input, err := json.Marshal(map[string]host.Config{"node": c})
	if err != nil {
		return err
	}
	p, err := t.launcher.Start(fmt.Sprintf("node %d", id), t.program, nil, NodeEnvironment, input, nil)
	if err != nil {
		return err
	}
	t.processes = append(t.processes, p)
	t.follow(p)
	return nil
}

// NodeEnvironment is what node processes are told beside their part: one CPU is enough for a loop, and
// takes fewer threads.
var NodeEnvironment = []string{"GOMAXPROCS=1"}

// awaitReady waits until all nodes are ready.
func (t *trial) awaitReady(ctx context.Context) error {
	limit := 20*time.Second + time.Duration(t.total())*50*time.Millisecond
	deadline := time.After(limit)
	ready := map[nodes.ID]bool{}
	for len(ready) < t.total() {
		select {
		case n := <-t.notes:
			ready[n.Node] = ready[n.Node] || n.Ready
		case p := <-t.ended:
			return t.death(p)
		case <-ctx.Done():
			return errInterrupted
		case <-deadline:
			return fmt.Errorf("after %v only %d of %d nodes are ready: the machine is too slow for so many",
				limit, len(ready), t.total())
		}
	}
	return nil
}

// death explains that a process has ended on its own. Of several it names the broker, whose death is
// the cause of the others'.
func (t *trial) death(first *cluster.Process) error {
	settled := time.After(200 * time.Millisecond)
	for others := 0; ; others++ {
		select {
		case p := <-t.ended:
			if p == t.endpoint.process {
				first = p
			}
		case <-settled:
			how := "exited with status 0"
			if err := first.Err(); err != nil {
				how = err.Error()
			}
			also := ""
			if others > 0 {
				also = fmt.Sprintf(" (and %d more after it)", others)
			}
			return fmt.Errorf("%s ended on its own%s: %s%s", first.Name, also, how, first.LastWords())
		}
	}
}

// order sends an order to all nodes, or to one.
func (t *trial) order(subject string, o host.Order) error {
	b, err := json.Marshal(o)
	if err == nil {
		err = t.conn.Publish(subject, b)
	}
	if err == nil {
		err = t.conn.Flush()
	}
	if err != nil {
		return fmt.Errorf("telling the nodes to %s: %w", o.Do, err)
	}
	return nil
}

// wait lets a time pass, unless the trial must end sooner.
func (t *trial) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case p := <-t.ended:
		return t.death(p)
	case <-ctx.Done():
		return errInterrupted
	}
}

func (t *trial) report(p Progress) {
	if t.progress != nil {
		t.progress(p)
	}
}

// rest waits until all requests have been granted and released and every message has arrived, and then
// ends the nodes in good order.
func (t *trial) rest(ctx context.Context) error {
	slow := t.patience()
	for parked := false; ; {
		s := t.watch.read()
		if s.atRest() {
			break
		}
		if t.spec.Circulates && !parked && s.exits == s.requests {
			parked = true
			if err := t.order(t.subjects.Orders(), host.Order{Do: host.Park}); err != nil {
				return err
			}
		}
		if slow.over(s, t.now()) {
			if s.exits < s.requests {
				return t.stalled(ctx)
			}
			return errors.New("some messages have been sent and never arrived")
		}
		t.report(Progress{Phase: "draining", Done: 1, Entries: s.entries})
		if err := t.wait(ctx, tick/2); err != nil {
			return err
		}
	}
	if err := t.journal.Mark(t.now(), history.Rested); err != nil {
		return err
	}
	return t.quit(ctx)
}

// patience returns a fresh patience. What the run itself makes slow does not count.
func (t *trial) patience() patience {
	limit := t.Patience + 10*t.Latency.Longest() + t.Workload.Hold.Longest()
	return patience{circulates: t.spec.Circulates, limit: int64(limit)}
}

// quit notes how much memory the nodes took, and has them close their logs and end.
func (t *trial) quit(ctx context.Context) error {
	var most int64
	for _, p := range t.processes {
		if kb, ok := p.PeakResidentKB(); ok {
			most = max(most, kb)
		}
	}
	if most > 0 {
		if err := t.journal.Gauge(t.now(), history.ResidentKB, most); err != nil {
			return err
		}
	}
	if err := t.order(t.subjects.Orders(), host.Order{Do: host.Quit}); err != nil {
		return err
	}
	late := time.After(10*time.Second + time.Duration(t.total())*10*time.Millisecond)
	for _, p := range t.processes {
		select {
		case <-p.Ended():
			if p.Err() != nil {
				return fmt.Errorf("%s did not end well: %w%s", p.Name, p.Err(), p.LastWords())
			}
		case <-late:
			return fmt.Errorf("%s did not end when it was told to", p.Name)
		case <-ctx.Done():
			return errInterrupted
		}
	}
	return nil
}

// trialSeed returns the seed of the trial numbered from 1.
func trialSeed(seed uint64, number int) uint64 {
	if number == 1 {
		return seed
	}
	return chaos.Dice(seed).Bits(chaos.Roll{Purpose: chaos.ForTrial, Count: uint64(number)}) & math.MaxInt64
}
