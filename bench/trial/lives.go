package trial

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"turnstile/bench"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// A life is the state of a node in a trial: its latest process, and what remains of earlier ones.
type life struct {
	node        cluster.Node // latest process; nil: not started
	ordered     uint64       // how many orders its latest process was given
	incarnation uint32
	down        bool     // the latest process has ended as expected
	expected    bool     // the latest process may end without ending the trial
	leaves      bool     // it was told to leave
	requests    []uint64 // requests by clients of its earlier processes, by instance
	memory      int      // how often the node was made to forget its saved state
}

// A nodeSet has the nodes of a trial, and starts, kills and restarts them.
type nodeSet struct {
	*journal
	*bench.Job
	ctx      context.Context // context of the run
	site     carrier
	dir      string                         // folder of logs on this machine
	input    func(nodes.ID) ([]byte, error) // returns the input for the next process of a node
	pauses   *pauses
	watch    *watch
	notes    *notes
	resource site.Resource
	driver   *chaos.Driver  // carries out the faults; nil: not made yet
	endpoint *site.Endpoint // watches the external servers under test, if any

	informs bool                               // programs are told of nodes that go down or come up again
	inform  func(do string, id nodes.ID) error // tells them

	lives []life               // indexed by node
	all   []cluster.Process    // all processes of nodes, including ended ones
	ended chan cluster.Process // followed processes that ended, except those ended on purpose
}

// A carrier is the part of a site that a nodeSet needs.
type carrier interface {
	// Start starts a process of a node, as Host.Start does.
	Start(id nodes.ID, c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error)
	DirOf(dir string, id nodes.ID) string
	Processes() []cluster.Process
	ReadUse()
}

// news waits until a node has sent a note or a process has ended as expected. It returns false if the channel
// late fires first.
func (n *nodeSet) news(late <-chan time.Time) (bool, error) {
	select {
	case <-n.notes.fresh:
		return true, nil
	case p := <-n.ended:
		return true, n.death(p)
	case why := <-n.endpoint.Lost:
		return false, n.outOfReach(why)
	case <-n.ctx.Done():
		return false, ErrInterrupted
	case <-late:
		return false, nil
	}
}

// wait waits for d, unless the trial must end sooner.
func (n *nodeSet) wait(d time.Duration) error {
	planned := n.now() + int64(d)
	for late := time.After(d); ; {
		if news, err := n.news(late); err != nil {
			return err
		} else if !news {
			return n.pauses.overslept(planned, n.now())
		}
	}
}

// mustEnd returns the error that ends the trial at once, or nil.
func (n *nodeSet) mustEnd() error {
	select {
	case p := <-n.ended:
		return n.death(p)
	case why := <-n.endpoint.Lost:
		return n.outOfReach(why)
	case <-n.ctx.Done():
		return ErrInterrupted
	default:
		return nil
	}
}

// death returns an error that names the process that ended by itself. If several ended, it prefers one that
// carries messages, since its end caused the others to end.
func (n *nodeSet) death(first cluster.Process) error {
	if first.Fate().Gone {
		return hostGoneError{errors.New(first.Fate().Says)}
	}
	if past, err := n.expectedEnd(first); past || err != nil {
		return err
	}
	at, grace := n.now(), time.After(200*time.Millisecond)
	for others := 0; ; others++ {
		select {
		case p := <-n.ended:
			switch {
			case n.endedAsExpected(p):
				others--
			case slices.Contains(n.site.Processes(), p):
				first = p
			}
		case why := <-n.endpoint.Lost:
			return n.outOfReach(why)
		case <-grace:
			also := ""
			if others > 0 {
				also = fmt.Sprintf(" (and %d more after it)", others)
			}
			err := fmt.Errorf("%s ended on its own at %.3f s%s: %s", first.Name(), float64(at)/1e9, also,
				first.Fate().Says)
			id := n.idOf(first)
			if id >= 0 && first.Fate().Killed { // markHostsGone records its death
				return err
			}
			if id >= 0 {
				if seen, wrong := n.lives[id].node.LastSeen(); wrong == nil {
					at = min(at, seen)
				}
			}
			return endedError{err, at}
		}
	}
}

// An endedError ends a trial because a process has ended by itself. The time at is when the trial noticed
// that or, for a node, its last sign of life.
type endedError struct {
	error
	at int64
}

// A hostGoneError ends a trial that has lost a host.
type hostGoneError struct{ error }

// markHostsGone records crashes: of nodes that ended by themselves, and of nodes whose hosts are gone. It
// adds these hosts to the text of err, the error that ends the trial.
func (n *nodeSet) markHostsGone(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(hostGoneError)) {
		time.Sleep(20 * time.Millisecond) // all processes of nodes on the host end within that time
	}
	var says []string
	gone := map[string]nodes.Group{}
	for _, id := range n.up() {
		f, ended := n.lives[id].fate()
		if ended && f.Killed && !f.Gone {
			if wrong := n.markEnded(id); wrong != nil {
				return errors.Join(err, wrong)
			}
		}
		if !ended || !f.Gone {
			continue
		}
		if wrong := n.markHostGone(id, f); wrong != nil {
			return errors.Join(err, wrong)
		}
		if gone[f.Says] = append(gone[f.Says], id); len(gone[f.Says]) == 1 {
			says = append(says, f.Says)
		}
	}
	for i, why := range says {
		says[i] = fmt.Sprintf("%s, so its nodes have crashed (%s)", why, gone[why].Short())
	}
	switch text := strings.Join(says, "; "); {
	case text == "":
		return err
	case errors.As(err, new(hostGoneError)):
		return errors.New(text)
	default:
		return fmt.Errorf("%w; %s", err, text)
	}
}

// markHostGone records that a node has crashed with its host.
func (n *nodeSet) markHostGone(id nodes.ID, f proc.Fate) error {
	err := n.broke(nodes.NoCrash)
	if err == nil {
		seen := max(0, int64(f.Heard.Sub(n.started)))
		err = n.Add(history.Event{At: seen, Kind: history.Killed, Node: id, Value: seen})
	}
	if err == nil {
		err = n.markCrashed(id)
	}
	return err
}

// fate returns how the process of the node ended, if it has.
func (l *life) fate() (f proc.Fate, ended bool) {
	select {
	case <-l.node.Ended():
		return l.node.Fate(), true
	default:
		return f, false
	}
}

// kill kills the process of a node, and returns when it is gone. The node may still act between the events
// Killed and Crashed; its log shows what it does.
func (n *nodeSet) kill(id nodes.ID) error {
	l := &n.lives[id]
	if l.down {
		return fmt.Errorf("node %d cannot be killed: it is down already", id)
	}
	select {
	case <-l.node.Ended():
		if !l.expected {
			return n.death(l.node)
		}
		return n.recordEnd(id, false)
	default:
	}
	err := n.broke(nodes.NoCrash)
	if err == nil {
		err = n.Add(history.Event{At: n.now(), Kind: history.Killed, Node: id})
	}
	if err != nil {
		return err
	}
	l.expected = true
	l.node.Signal(syscall.SIGKILL)
	select {
	case <-l.node.Ended():
		return n.recordEnd(id, true)
	case <-n.ctx.Done():
		return ErrInterrupted
	case <-time.After(n.LongestPause()):
		return fmt.Errorf("%s has not ended %v after it was killed", l.node.Name(), n.LongestPause())
	}
}

// up returns the nodes that are up.
func (n *nodeSet) up() (all []nodes.ID) {
	for id := range n.lives {
		if l := &n.lives[id]; l.node != nil && !l.down {
			all = append(all, nodes.ID(id))
		}
	}
	return all
}

// isUp reports whether a node is up.
func (n *nodeSet) isUp(id nodes.ID) bool { return !n.lives[id].down }

// departing reports whether a node is still up that is to end by itself.
func (n *nodeSet) departing() bool {
	return slices.ContainsFunc(n.lives, func(l life) bool { return l.expected && !l.down })
}

// endedAsExpected reports whether p is a process of a node that has ended as expected.
func (n *nodeSet) endedAsExpected(p cluster.Process) bool {
	if id := n.idOf(p); id >= 0 {
		return n.lives[id].down
	}
	return slices.Contains(n.all, p)
}

// idOf returns the node whose latest process is p, or -1.
func (n *nodeSet) idOf(p cluster.Process) nodes.ID {
	return nodes.ID(slices.IndexFunc(n.lives, func(l life) bool { return l.node == p }))
}

// expectedEnd reports whether the end of a process is expected. If so, it records the end.
func (n *nodeSet) expectedEnd(p cluster.Process) (bool, error) {
	if n.endedAsExpected(p) {
		return true, nil
	}
	id := n.idOf(p)
	if id >= 0 && n.lives[id].leaves && p.Fate().Well {
		return true, n.recordEnd(id, false)
	}
	if id < 0 || !p.Fate().Killed {
		return false, nil
	}
	if struck := n.driver != nil && n.driver.Struck(id); !struck && !n.lives[id].expected {
		return false, nil
	}
	n.lives[id].expected = true
	if n.driver != nil { // records the fault, and marks the nodes that the fault killed
		if err := n.driver.Step(); err != nil || n.endedAsExpected(p) {
			return true, err
		}
	}
	return true, n.recordEnd(id, false)
}

// recordEnd records that the process of a node has ended as expected: it has left in order, perhaps just
// before it was to be killed, or it was killed, by the trial or by the node itself. It takes the node out of
// the register before it records the crash, so that later readers of the register do not count it.
func (n *nodeSet) recordEnd(id nodes.ID, byTrial bool) error {
	l := &n.lives[id]
	switch fate := l.node.Fate(); {
	case fate.Well && l.leaves:
		return errors.Join(n.broke(nodes.NoCrash), n.markCrashed(id))
	case !fate.Killed:
		return fmt.Errorf("%s was to be killed, and ended by itself: %s", l.node.Name(), fate.Says)
	case byTrial:
		return n.markCrashed(id)
	}
	return n.markEnded(id)
}

// markEnded records that a node whose process has ended by itself was killed at an unknown time after its
// last sign of life, and has crashed: a client that died inside is not inside together with later ones.
func (n *nodeSet) markEnded(id nodes.ID) error {
	seen, err := n.lives[id].node.LastSeen()
	if err == nil {
		killed := history.Event{At: seen, Kind: history.Killed, Node: id}
		if !n.lives[id].expected { // a kill by the plan comes after the event that its fault began
			killed.Value = seen
		}
		err = n.Add(killed)
	}
	if err == nil {
		err = n.broke(nodes.NoCrash)
	}
	if err != nil {
		return err
	}
	return n.markCrashed(id)
}

// markCrashed records that a node has crashed, once its process has ended.
func (n *nodeSet) markCrashed(id nodes.ID) error {
	l := &n.lives[id]
	crashed := history.Event{Kind: history.Crashed, Node: id}
	if int(id) < n.Config.N {
		inDoubt, err := n.resource.TakeOut(n.ctx, id, l.incarnation)
		if f, _ := l.fate(); err != nil && f.Gone { // the register is lost with its host, and the run ends
			inDoubt, err = site.Doubt{Units: int32(n.Config.Capacity())}, nil
		}
		if err != nil {
			return err
		}
		crashed.Count, crashed.Instance = uint32(inDoubt.Units), uint16(inDoubt.Resource)
	}
	crashed.At = n.now()
	l.down, l.expected, l.leaves = true, false, false
	for i, requests := range n.watch.retire(id) {
		if i == len(l.requests) {
			l.requests = append(l.requests, 0)
		}
		l.requests[i] += requests
	}
	n.pauses.disturbed = true
	return errors.Join(n.pauses.end(l.node, uint32(id)), n.Add(crashed), n.inform(host.Down, id))
}

// restart starts a new process of a killed node. The process reads what the last one saved, unless forget is
// set. It returns when the node is subscribed to its subjects.
func (n *nodeSet) restart(id nodes.ID, forget bool) error {
	l := &n.lives[id]
	if !l.down {
		return fmt.Errorf("node %d cannot be restarted: it is up", id)
	}
	l.incarnation++
	if forget {
		l.memory++
	}
	n.notes.put(id, host.Note{})
	if err := n.startNext(id); err != nil {
		return err
	}
	l.down = false
	missing, err := n.awaitReady(id)
	if missing > 0 && err == nil {
		err = fmt.Errorf("%v after it was started again, %s is not ready", n.joinLimit(), l.node.Name())
	}
	if err != nil {
		return err
	}
	n.pauses.disturbed = true
	err = errors.Join(n.Add(history.Event{At: n.now(), Kind: history.Restarted, Node: id, Count: l.incarnation}),
		n.inform(host.Up, id))
	if n.Stack.Forgets(id, forget) { // other nodes may rely on the state that this node has lost
		err = errors.Join(err, n.broke(nodes.NoAmnesia))
	}
	return err
}

// end kills the processes that are up.
func (n *nodeSet) end() {
	up := n.up()
	for _, id := range up {
		n.lives[id].node.Signal(syscall.SIGKILL)
	}
	for _, id := range up {
		<-n.lives[id].node.Ended()
	}
}

// gaugeMemory records the peak memory of the node that used most.
func (n *nodeSet) gaugeMemory() error {
	n.site.ReadUse()
	var most int64
	for _, id := range n.up() {
		if kb, known := n.lives[id].node.PeakResidentKB(); known {
			most = max(most, kb)
		}
	}
	if most == 0 {
		return nil
	}
	return n.Gauge(n.now(), history.ResidentKB, most)
}

// anyoneRequests reports whether some node is up that makes requests, by itself or on order.
func (n *nodeSet) anyoneRequests() bool {
	for id := range n.Config.N {
		if !n.lives[id].down && (n.Workload.Load != workload.One || id == 0) {
			return true
		}
	}
	return false
}

// logOf returns the log of a node's latest process, and savedOf the file in which the node saves its state.
func (n *nodeSet) logOf(id nodes.ID) string { return n.fileOf(id, int(n.lives[id].incarnation), "log") }

func (n *nodeSet) savedOf(id nodes.ID) string { return n.fileOf(id, n.lives[id].memory, "saved") }

// fileOf returns the path of a file of a node. A number above 0 is part of the name of the file.
func (n *nodeSet) fileOf(id nodes.ID, number int, what string) string {
	if number > 0 {
		what = fmt.Sprintf("%d.%s", number, what)
	}
	return filepath.Join(n.site.DirOf(n.dir, id), fmt.Sprintf("node-%06d.%s", id, what))
}

// outOfReach returns the error that ends a trial whose external servers are out of reach. From then on its
// clients show nothing about the service, and the servers may have lost their data.
func (n *nodeSet) outOfReach(why error) error {
	return errors.Join(fmt.Errorf("%w; what clients do from then on says nothing about the service", why),
		n.broke(nodes.ServersUp|nodes.ServerMajority|nodes.NoAmnesia))
}
