package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// start starts the nodes and waits until all have subscribed to their subjects.
func (t *trial) start(ctx context.Context) error {
	began := t.now()
	t.name = cluster.NewToken()[:12]
	t.ended = make(chan *cluster.Process, t.total()+1)
	t.notes = newNotes(t.total())
	resourcePath := filepath.Join(t.dir, "resource")
	err := host.CreateResource(resourcePath, 1)
	if err == nil {
		t.resource, err = host.OpenResource(resourcePath, 1)
	}
	if err != nil {
		return err
	}
	if p := t.endpoint.process; p != nil {
		t.follow(p)
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
	t.watch.kinds = t.spec.Codec().Kinds()
	for id := range nodes.ID(t.total()) {
		if err := t.watch.add(t.logOf(id)); err != nil {
			return err
		}
	}
	return nil
}

// follow reports the end of p to the trial.
func (t *trial) follow(p *cluster.Process) {
	go func() {
		<-p.Ended()
		t.ended <- p
	}()
}

func (t *trial) logOf(id nodes.ID) string {
	return filepath.Join(t.dir, fmt.Sprintf("node-%06d.log", id))
}

// savedOf returns where a node saves what it will need after a crash.
func (t *trial) savedOf(id nodes.ID) string {
	return filepath.Join(t.dir, fmt.Sprintf("node-%06d.saved", id))
}

// traceLength returns how many of its latest messages each node keeps: some thousands, but fewer in large
// clusters, so that all traces together stay small.
func traceLength(total int) int { return min(4096, max(256, (1<<18)/total)) }

func (t *trial) startNode(id nodes.ID, resource string) error {
	c := host.Config{
		Run: t.name, URL: t.endpoint.url, Token: t.endpoint.token, Node: id, Zero: t.zero,
		Workload: t.Workload, Entries: t.Entries, Multicast: t.Multicast,
		Seed: t.seed, Origin: t.origin, Log: t.logOf(id), Saved: t.savedOf(id),
		TraceLength: traceLength(t.total()), Resource: resource,
	}
	if t.Workload.Load == workload.Sequential {
		c.Entries = 0 // the orchestrator counts them
	}
	input, err := json.Marshal(map[string]any{"node": c, "algorithm": t.Algorithm, "machines": t.Config,
		"network": t.network()})
	if err != nil {
		return err
	}
	reader := host.NoteReader{On: func(n host.Note) { t.notes.put(id, n) }}
	p, err := t.launcher.Start(fmt.Sprintf("node %d", id), t.program, nil, NodeEnvironment, input, reader.Sift)
	if err != nil {
		return err
	}
	t.processes = append(t.processes, p)
	t.follow(p)
	return nil
}

// NodeEnvironment is the environment of node processes: one CPU is enough for a loop, and takes fewer
// threads.
var NodeEnvironment = []string{"GOMAXPROCS=1"}

// awaitReady waits until all nodes are ready.
func (t *trial) awaitReady(ctx context.Context) error {
	limit := 20*time.Second + time.Duration(t.total())*50*time.Millisecond
	deadline := time.After(limit)
	for ready := 0; ready < t.total(); {
		select {
		case <-t.notes.fresh:
			ready = t.notes.ready()
		case p := <-t.ended:
			return t.death(p)
		case <-ctx.Done():
			return errInterrupted
		case <-deadline:
			return fmt.Errorf("after %v only %d of %d nodes are ready: the machine is too slow for so many",
				limit, t.notes.ready(), t.total())
		}
	}
	return nil
}

// death explains that a process has ended on its own. Of several it names the broker, whose end is the cause
// of the others'.
func (t *trial) death(first *cluster.Process) error {
	grace := time.After(200 * time.Millisecond)
	for others := 0; ; others++ {
		select {
		case p := <-t.ended:
			if p == t.endpoint.process {
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
