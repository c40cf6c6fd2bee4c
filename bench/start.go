package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"turnstile/bench/cluster"
	"turnstile/chaos"
	"turnstile/internal/broker"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// start starts the nodes and waits until all have subscribed to their subjects.
func (t *trial) start(ctx context.Context) error {
	began := t.now()
	t.name = broker.NewToken()[:12]
	t.ended = make(chan *cluster.Process, t.total()+restarts)
	t.notes = newNotes(t.total())
	t.processes, t.lives = make([]*cluster.Process, t.total()), make([]life, t.total())
	err := host.CreateResource(t.resourcePath(), 1, t.Config.N)
	if err == nil {
		t.resource, err = host.OpenResource(t.resourcePath(), 1, t.Config.N)
	}
	if err != nil {
		return err
	}
	if err := t.prepareFaults(); err != nil {
		return err
	}
	t.beginPauses()
	for _, p := range t.transport.processes() {
		t.follow(p)
	}
	t.report(Progress{Phase: "starting"})
	if err := t.awaitSubscriptions(ctx, false); err != nil { // those of the trial before are gone
		return err
	}
	for id := range nodes.ID(t.total()) {
		if err := t.startNode(id); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	if err := t.awaitReady(ctx); err != nil {
		return err
	}
	if err := t.awaitSubscriptions(ctx, true); err != nil {
		return err
	}
	if err := t.journal.Gauge(t.now(), history.ReadyUS, (t.now()-began)/1000); err != nil {
		return err
	}
	t.circulates = t.Stack.Circulates()
	codec := t.Stack.Codec()
	t.watch.kinds, t.watch.detectors = codec.Kinds(), t.Stack.Detectors()
	for kind := range codec.Kinds() {
		t.watch.heartbeats = append(t.watch.heartbeats, codec.Kind(kind).Heartbeat)
	}
	for id := range nodes.ID(t.total()) {
		if err := t.watch.add(t.logOf(id)); err != nil {
			return err
		}
	}
	return nil
}

// restarts is how many more processes a trial may have than it has nodes: those that carry its messages, and
// those that were restarted.
const restarts = 1024

// follow reports the end of p to the trial, unless p is ended on purpose.
func (t *trial) follow(p *cluster.Process) {
	go func() {
		<-p.Ended()
		if !p.Dismissed() {
			t.ended <- p
		}
	}()
}

// traceLength returns how many of its latest messages each node keeps: some thousands, but fewer in large
// clusters, so that all traces together stay small. If all are to be recorded, they may take 200 MB.
func (o *Options) traceLength(total int) int {
	if o.Trace {
		return min(1<<20, max(4096, (1<<23)/total))
	}
	return min(4096, max(256, (1<<18)/total))
}

// resourcePath returns where the shared resource is.
func (t *trial) resourcePath() string { return filepath.Join(t.dir, "resource") }

// startNode starts the next process of a node.
func (t *trial) startNode(id nodes.ID) error {
	c := host.Config{
		Run: t.name, URL: t.transport.url(id, 0), Token: t.transport.token(),
		Second: t.transport.secondOf(id), Node: id, Zero: t.zero,
		Workload: t.Workload, Entries: t.Entries, Multicast: t.Multicast, Reconnect: t.reconnects,
		Seed: t.seed, Origin: t.origin, Log: t.logOf(id), Saved: t.savedOf(id),
		TraceLength: t.traceLength(t.total()), TraceAll: t.Trace, Resource: t.resourcePath(),
		Incarnation: t.lives[id].incarnation, Requests: t.lives[id].requests,
	}
	if t.Workload.Load == workload.Sequential {
		c.Entries = 0 // the orchestrator counts them
	}
	input, err := json.Marshal(map[string]any{"node": c, "machines": catalog.PartsOf(t.Stack),
		"chaos": chaos.NodeFaults{Network: t.network(), Faults: t.faults, SharedState: t.boardPath()}})
	if err != nil {
		return err
	}
	reader := host.NoteReader{On: func(n host.Note) { t.notes.put(id, n) }}
	p, err := t.launcher.Start(fmt.Sprintf("node %d", id), t.program, nil, NodeEnvironment, input,
		reader.Sift)
	if err != nil {
		return err
	}
	t.processes[id] = p
	t.follow(p)
	return nil
}

// NodeEnvironment is the environment of node processes: one CPU is enough for a loop, and takes fewer
// threads.
var NodeEnvironment = []string{"GOMAXPROCS=1"}

// joinLimit is how long nodes may take to be ready.
func (t *trial) joinLimit() time.Duration {
	return 20*time.Second + time.Duration(t.total())*50*time.Millisecond
}

// awaitReady waits until all nodes are ready.
func (t *trial) awaitReady(ctx context.Context) error {
	limit := t.joinLimit()
	deadline := time.After(limit)
	for ready := 0; ready < t.total(); {
		select {
		case <-t.notes.fresh:
			ready = t.notes.ready()
		case p := <-t.ended:
			if err := t.death(p); err != nil {
				return err
			}
		case <-ctx.Done():
			return errInterrupted
		case <-deadline:
			return fmt.Errorf("after %v only %d of %d nodes are ready: the machine is too slow for so many",
				limit, t.notes.ready(), t.total())
		}
	}
	return nil
}

// death explains that a process has ended on its own. Of several it names the one that carries the messages,
// whose end is the cause of the others'.
func (t *trial) death(first *cluster.Process) error {
	if past, err := t.departed(first); past || err != nil {
		return err
	}
	grace := time.After(200 * time.Millisecond)
	for others := 0; ; others++ {
		select {
		case p := <-t.ended:
			switch {
			case t.isPast(p):
				others--
			case slices.Contains(t.transport.processes(), p):
				first = p
			}
		case <-grace:
			also := ""
			if others > 0 {
				also = fmt.Sprintf(" (and %d more after it)", others)
			}
			return fmt.Errorf("%s ended on its own%s: %s", first.Name, also, first.Fate())
		}
	}
}
