package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// A life is what a trial knows of a node beside its latest process.
type life struct {
	incarnation uint32
	down        bool     // its latest process was to end, and has
	expected    bool     // its process is to end, and that is no trouble
	requests    []uint64 // that the clients of its earlier processes have made, by instance
	memory      int      // how often it was to forget what it had saved
}

// kill ends the process of a node at once, and returns when it is gone. What the node does between the event
// Killed and the event Crashed is in its log.
func (t *trial) kill(id nodes.ID) error {
	l, p := &t.lives[id], t.processes[id]
	if l.down {
		return fmt.Errorf("node %d cannot be killed: it is down already", id)
	}
	select {
	case <-p.Ended():
		if !l.expected {
			return t.death(p)
		}
		return t.buried(id, p, false)
	default:
	}
	err := t.broke(nodes.NoCrash)
	if err == nil {
		err = t.journal.Add(history.Event{At: t.now(), Kind: history.Killed, Node: id})
	}
	if err != nil {
		return err
	}
	l.expected = true
	p.Kill()
	select {
	case <-p.Ended():
		return t.buried(id, p, true)
	case <-t.context.Done():
		return errInterrupted
	case <-time.After(t.longestPause()):
		return fmt.Errorf("%s has not ended %v after it was killed", p.Name, t.longestPause())
	}
}

// up returns the processes of the nodes that are up.
func (t *trial) up() (all []*cluster.Process) {
	for id, p := range t.processes {
		if p != nil && !t.lives[id].down {
			all = append(all, p)
		}
	}
	return all
}

// isUp reports whether a node is up.
func (t *trial) isUp(id nodes.ID) bool { return !t.lives[id].down }

// everyProcess returns the processes of all nodes, those that have ended included.
func (t *trial) everyProcess() []*cluster.Process { return slices.Concat(t.past, t.processes) }

// isPast reports whether p was the process of a node and has ended as it was to.
func (t *trial) isPast(p *cluster.Process) bool {
	id := slices.Index(t.processes, p)
	return id >= 0 && t.lives[id].down || slices.Contains(t.past, p)
}

// departed takes note that a process has ended, if that is no trouble, and reports whether it is none.
func (t *trial) departed(p *cluster.Process) (bool, error) {
	if t.isPast(p) {
		return true, nil
	}
	id := slices.Index(t.processes, p)
	if id < 0 || !p.WasKilled() {
		return false, nil
	}
	if struck := t.driver != nil && t.driver.Struck(nodes.ID(id)); !struck && !t.lives[id].expected {
		return false, nil
	}
	t.lives[id].expected = true
	if t.driver != nil { // puts the fault on record, and buries whom it has killed
		if err := t.driver.Step(); err != nil || t.isPast(p) {
			return true, err
		}
	}
	return true, t.buried(nodes.ID(id), p, false)
}

// buried records that the process of a node has ended, as it was to: by the trial, or by itself. The node is
// taken out of the register first: whoever reads that later is not to count it.
func (t *trial) buried(id nodes.ID, p *cluster.Process, byTrial bool) error {
	l := &t.lives[id]
	if !p.WasKilled() {
		return fmt.Errorf("%s was to be killed, and ended by itself: %s", p.Name, p.Fate())
	}
	if !byTrial { // nobody knows when it ended, but after it was last heard of
		seen, err := history.LastSeen(t.logOf(id))
		if err == nil {
			err = t.broke(nodes.NoCrash)
		}
		if err == nil {
			err = t.journal.Add(history.Event{At: seen, Kind: history.Killed, Node: id})
		}
		if err != nil {
			return err
		}
	}
	crashed := history.Event{Kind: history.Crashed, Node: id}
	if int(id) < t.Config.N {
		crashed.Count = uint32(t.resource.TakeOut(0, id))
	}
	crashed.At = t.now()
	l.down, l.expected = true, false
	for i, requests := range t.watch.bury(int(id)) {
		if i == len(l.requests) {
			l.requests = append(l.requests, 0)
		}
		l.requests[i] += requests
	}
	t.lossy, t.pauses.disturbed = true, true
	return errors.Join(t.endPause(p, uint32(id)), t.journal.Add(crashed))
}

// restart brings a node up again that was killed: a new process, with what the last has saved unless it is to
// forget. It returns when the node hears its subjects and has been told to go on.
func (t *trial) restart(id nodes.ID, forget bool) error {
	l := &t.lives[id]
	if !l.down {
		return fmt.Errorf("node %d cannot be restarted: it is up", id)
	}
	if t.outage.away { // it could not connect, and nobody would bring the broker back in the meantime
		return fmt.Errorf("node %d cannot be restarted while connections to the broker are taken away", id)
	}
	l.incarnation++
	if forget {
		l.memory++
	}
	t.notes.forget(id)
	t.past = append(t.past, t.processes[id])
	if err := t.startNode(id); err != nil {
		return err
	}
	l.down = false
	limit := t.joinLimit()
	for deadline := time.After(limit); !t.notes.isReady(id); {
		select {
		case <-t.notes.fresh:
		case p := <-t.ended:
			if err := t.death(p); err != nil {
				return err
			}
		case <-t.context.Done():
			return errInterrupted
		case <-deadline:
			return fmt.Errorf("%v after it was started again, %s is not ready", limit, t.processes[id].Name)
		}
	}
	if err := t.watch.revive(int(id), t.logOf(id)); err != nil {
		return err
	}
	t.pauses.disturbed = true
	return errors.Join(t.journal.Add(history.Event{At: t.now(), Kind: history.Restarted, Node: id,
		Count: l.incarnation}), t.forgot(id, forget), t.goOn(id))
}

// forgot puts on record if the restart of a node has lost state that its peers may rely on.
func (t *trial) forgot(id nodes.ID, forget bool) error {
	if !t.Stack.Forgets(id, forget) {
		return nil
	}
	return t.broke(nodes.NoAmnesia)
}

// broke records that assumptions about the system do not hold any more.
func (t *trial) broke(needs nodes.Assumption) error {
	return t.journal.Add(history.Event{At: t.now(), Kind: history.AssumptionBroken, Node: nodes.None,
		Value: int64(needs)})
}

// goOn tells a node that has restarted what the others were told: when to issue requests, to park.
func (t *trial) goOn(id nodes.ID) error {
	if t.began == 0 {
		return nil // they will be told together
	}
	orders := []host.Order{{Do: host.Issue, Begin: max(t.now(), t.began), End: t.end, Since: t.began}}
	if t.calmed != "" {
		orders = append(orders, host.Order{Do: t.calmed})
	}
	for _, o := range orders {
		if err := t.order(t.context, o, t.processes[id]); err != nil {
			return err
		}
	}
	return nil
}

// anyoneRequests reports whether a node is up that makes requests by itself, or is asked to.
func (t *trial) anyoneRequests() bool {
	for id := range t.Config.N {
		if !t.lives[id].down && (t.Workload.Load != workload.One || id == 0) {
			return true
		}
	}
	return false
}

// logOf returns the log of the latest process of a node.
func (t *trial) logOf(id nodes.ID) string {
	if life := t.lives[id].incarnation; life > 0 {
		return filepath.Join(t.dir, fmt.Sprintf("node-%06d.%d.log", id, life))
	}
	return filepath.Join(t.dir, fmt.Sprintf("node-%06d.log", id))
}

// savedOf returns where a node saves what it will need after a crash.
func (t *trial) savedOf(id nodes.ID) string {
	if memory := t.lives[id].memory; memory > 0 {
		return filepath.Join(t.dir, fmt.Sprintf("node-%06d.%d.saved", id, memory))
	}
	return filepath.Join(t.dir, fmt.Sprintf("node-%06d.saved", id))
}
