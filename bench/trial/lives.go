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
	"turnstile/bench/cluster"
	"turnstile/bench/site"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// A life is what a trial knows of a node: its latest process, and what is left of earlier ones.
type life struct {
	node        cluster.Node // nil: it was not started
	told        uint64       // orders
	incarnation uint32
	down        bool     // its latest process was to end, and has
	expected    bool     // its process is to end, and that is no trouble
	requests    []uint64 // that the clients of its earlier processes have made, by instance
	memory      int      // how often it was to forget what it had saved
}

// A nodeSet is the nodes of a trial, which are started, end, and are restarted.
type nodeSet struct {
	*journal
	*bench.Job
	ctx      context.Context // of the run, for what is done to nodes in the course of it
	site     carrier
	dir      string                         // where logs go on this machine
	input    func(nodes.ID) ([]byte, error) // for the next process of a node
	pauses   *pauses
	watch    *watch
	notes    *notes
	resource site.Resource
	driver   *chaos.Driver  // of faults that kill nodes; nil: there is none yet
	endpoint *site.Endpoint // the servers of somebody else that the run is about

	lives []life               // by node
	all   []cluster.Process    // of all nodes, those that have ended included
	ended chan cluster.Process // those that are followed and have ended, unless on purpose
}

// A carrier is what a set of nodes needs of the site of its run.
type carrier interface {
	// Start starts a process of a node, as Host.Start does.
	Start(id nodes.ID, c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error)
	DirOf(dir string, id nodes.ID) string
	Processes() []cluster.Process
	ReadUse()
}

// news waits until nodes have said something or a process has ended, as it may, and reports false if that
// takes too long.
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

// wait lets a time pass, unless the trial must end sooner.
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

// cut returns why the trial must end at once, or nil.
func (n *nodeSet) cut() error {
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

// death explains that a process has ended on its own. Of several it names the one that carries the messages,
// whose end is the cause of the others'.
func (n *nodeSet) death(first cluster.Process) error {
	if first.Fate().Gone {
		return hostGoneError{errors.New(first.Fate().Says)}
	}
	if past, err := n.departed(first); past || err != nil {
		return err
	}
	grace := time.After(200 * time.Millisecond)
	for others := 0; ; others++ {
		select {
		case p := <-n.ended:
			switch {
			case n.isPast(p):
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
			return fmt.Errorf("%s ended on its own%s: %s", first.Name(), also, first.Fate().Says)
		}
	}
}

// A hostGoneError ends a trial one of whose hosts is gone.
type hostGoneError struct{ error }

// goneWith records that the nodes of hosts that are gone have crashed, and says so beside why the trial ends.
func (n *nodeSet) goneWith(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(hostGoneError)) {
		time.Sleep(20 * time.Millisecond) // all nodes of the host end within that time
	}
	var says []string
	gone := map[string]effect.Group{}
	for _, id := range n.up() {
		f, ended := n.lives[id].fate()
		if !ended || !f.Gone {
			continue
		}
		if wrong := n.crashedWith(id, f); wrong != nil {
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

// crashedWith records that a node has crashed with its host.
func (n *nodeSet) crashedWith(id nodes.ID, f proc.Fate) error {
	err := n.broke(nodes.NoCrash)
	if err == nil {
		seen := max(0, int64(f.Heard.Sub(n.started)))
		err = n.Add(history.Event{At: seen, Kind: history.Killed, Node: id})
	}
	if err == nil {
		err = n.crashed(id)
	}
	return err
}

// fate returns how the process of the node has ended, if it has.
func (l *life) fate() (f proc.Fate, ended bool) {
	select {
	case <-l.node.Ended():
		return l.node.Fate(), true
	default:
		return f, false
	}
}

// kill ends the process of a node at once, and returns when it is gone. What the node does between the event
// Killed and the event Crashed is in its log.
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
		return n.buried(id, false)
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
		return n.buried(id, true)
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

// isPast reports whether p was the process of a node and has ended as it was to.
func (n *nodeSet) isPast(p cluster.Process) bool {
	if id := n.idOf(p); id >= 0 {
		return n.lives[id].down
	}
	return slices.Contains(n.all, p)
}

// idOf returns the node whose latest process p is, or -1.
func (n *nodeSet) idOf(p cluster.Process) nodes.ID {
	return nodes.ID(slices.IndexFunc(n.lives, func(l life) bool { return l.node == p }))
}

// departed takes note that a process has ended, if that is no trouble, and reports whether it is none.
func (n *nodeSet) departed(p cluster.Process) (bool, error) {
	if n.isPast(p) {
		return true, nil
	}
	id := n.idOf(p)
	if id < 0 || !p.Fate().Killed {
		return false, nil
	}
	if struck := n.driver != nil && n.driver.Struck(id); !struck && !n.lives[id].expected {
		return false, nil
	}
	n.lives[id].expected = true
	if n.driver != nil { // puts the fault on record, and buries whom it has killed
		if err := n.driver.Step(); err != nil || n.isPast(p) {
			return true, err
		}
	}
	return true, n.buried(id, false)
}

// buried records that the process of a node has ended, as it was to: by the trial, or by itself. The node is
// taken out of the register first: whoever reads that later is not to count it.
func (n *nodeSet) buried(id nodes.ID, byTrial bool) error {
	l := &n.lives[id]
	if fate := l.node.Fate(); !fate.Killed {
		return fmt.Errorf("%s was to be killed, and ended by itself: %s", l.node.Name(), fate.Says)
	}
	if !byTrial { // nobody knows when it ended, but after it was last heard of
		seen, err := l.node.LastSeen()
		if err == nil {
			err = n.broke(nodes.NoCrash)
		}
		if err == nil {
			err = n.Add(history.Event{At: seen, Kind: history.Killed, Node: id})
		}
		if err != nil {
			return err
		}
	}
	return n.crashed(id)
}

// crashed records that a node has crashed, whose process has ended, and is over with it.
func (n *nodeSet) crashed(id nodes.ID) error {
	l := &n.lives[id]
	crashed := history.Event{Kind: history.Crashed, Node: id}
	if int(id) < n.Config.N {
		inDoubt, err := n.resource.TakeOut(n.ctx, id, l.incarnation)
		if f, _ := l.fate(); err != nil && f.Gone { // with the process that keeps the register, and the run ends
			inDoubt, err = site.Doubt{Units: int32(n.Config.Capacity())}, nil
		}
		if err != nil {
			return err
		}
		crashed.Count, crashed.Instance = uint32(inDoubt.Units), uint16(inDoubt.Resource)
	}
	crashed.At = n.now()
	l.down, l.expected = true, false
	for i, requests := range n.watch.bury(id) {
		if i == len(l.requests) {
			l.requests = append(l.requests, 0)
		}
		l.requests[i] += requests
	}
	n.pauses.disturbed = true
	return errors.Join(n.pauses.end(l.node, uint32(id)), n.Add(crashed))
}

// restart brings a node up again that was killed: a new process, with what the last has saved unless it is to
// forget. It returns when the node hears its subjects.
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
	err = n.Add(history.Event{At: n.now(), Kind: history.Restarted, Node: id, Count: l.incarnation})
	if n.Stack.Forgets(id, forget) { // its peers may rely on what it has lost
		err = errors.Join(err, n.broke(nodes.NoAmnesia))
	}
	return err
}

// end ends the processes that are up.
func (n *nodeSet) end() {
	up := n.up()
	for _, id := range up {
		n.lives[id].node.Signal(syscall.SIGKILL)
	}
	for _, id := range up {
		<-n.lives[id].node.Ended()
	}
}

// gaugeMemory records how much memory the largest node has taken.
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

// anyoneRequests reports whether a node is up that makes requests by itself, or is asked to.
func (n *nodeSet) anyoneRequests() bool {
	for id := range n.Config.N {
		if !n.lives[id].down && (n.Workload.Load != workload.One || id == 0) {
			return true
		}
	}
	return false
}

// logOf returns the log of the latest process of a node, and savedOf where it saves what it will need after
// a crash.
func (n *nodeSet) logOf(id nodes.ID) string { return n.fileOf(id, int(n.lives[id].incarnation), "log") }

func (n *nodeSet) savedOf(id nodes.ID) string { return n.fileOf(id, n.lives[id].memory, "saved") }

// fileOf returns a file of a node, one of several unless its number is 0.
func (n *nodeSet) fileOf(id nodes.ID, number int, what string) string {
	if number > 0 {
		what = fmt.Sprintf("%d.%s", number, what)
	}
	return filepath.Join(n.site.DirOf(n.dir, id), fmt.Sprintf("node-%06d.%s", id, what))
}

// outOfReach ends a trial whose endpoint is: what clients do from then on says nothing about the service, and
// nobody knows whether its servers still have their data.
func (n *nodeSet) outOfReach(why error) error {
	return errors.Join(fmt.Errorf("%w; what clients do from then on says nothing about the service", why),
		n.broke(nodes.ServersUp|nodes.ServerMajority|nodes.NoAmnesia))
}
