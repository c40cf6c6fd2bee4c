package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/mutex"
)

// A playedNode is a node without a process, such as one that is far away.
type playedNode struct {
	name     string
	say      func([]byte) []byte             // takes what it prints
	counters atomic.Pointer[history.Watched] // nil: nobody knows yet
	heard    []host.Order
	deaf     bool
	ended    chan struct{}
	fate     cluster.Fate
}

func (p *playedNode) Name() string                        { return p.name }
func (p *playedNode) Dismiss()                            {}
func (p *playedNode) Turns() uint32                       { return 0 }
func (p *playedNode) Ended() <-chan struct{}              { return p.ended }
func (p *playedNode) Fate() cluster.Fate                  { return p.fate }
func (p *playedNode) CPUTime() (time.Duration, bool)      { return 0, false }
func (p *playedNode) PeakResidentKB() (int64, bool)       { return 0, false }
func (p *playedNode) LastSeen() (int64, error)            { return 7, nil }
func (p *playedNode) Counters() (*history.Watched, error) { return p.counters.Load(), nil }

func (p *playedNode) Signal(s syscall.Signal) error {
	if s == syscall.SIGKILL {
		p.end(cluster.Fate{Killed: true, Says: "signal: killed"})
	}
	return nil
}

func (p *playedNode) Tell(order []byte) error {
	if p.deaf {
		return errors.New("it is deaf")
	}
	var o host.Order
	err := json.Unmarshal(order, &o)
	p.heard = append(p.heard, o)
	return err
}

// ready has the node say that it is.
func (p *playedNode) ready() { p.say([]byte("\x1e" + `{"ready":true}` + "\n")) }

func (p *playedNode) end(f cluster.Fate) {
	p.fate = f
	close(p.ended)
}

// played returns a trial with so many nodes that are played, and these as they are started.
func played(t *testing.T, count int) (tr *trial, started func(int) *playedNode) {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N = count
	tr = &trial{Job: drafted(t, spec, o, false), dir: t.TempDir(),
		transport: &transport{server: "nats://there", site: &site{}}}
	var all []*playedNode
	tr.startNode = func(_ nodes.ID, c cluster.Command, say func([]byte) []byte) (cluster.Node, error) {
		p := &playedNode{name: c.Name, say: say, ended: make(chan struct{})}
		p.counters.Store(&history.Watched{Counters: new(history.Counters),
			Instances: make([]history.InstanceCounters, 1)})
		all = append(all, p)
		return p, nil
	}
	if tr.journal, err = newJournal(tr.dir, 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.journal.Close() })
	tr.wire(t.Context())
	err = tr.openResource()
	for id := nodes.ID(0); int(id) < count && err == nil; id++ {
		err = tr.nodes.startNext(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr, func(i int) *playedNode { return all[i] }
}

// A node has joined once it is known what it counts: before that, it has obeyed nothing.
func TestWhatANodeCountsIsUnknownUntilItIsKnown(t *testing.T) {
	tr, node := played(t, 1)
	late, n := node(0), tr.nodes
	counters := late.counters.Swap(nil)
	late.ready()
	joined := make(chan int, 1)
	go func() {
		missing, err := n.awaitReady(0)
		if err != nil {
			t.Error(err)
		}
		joined <- missing
	}()
	select {
	case <-joined:
		t.Fatal("a node has joined of which nothing is known")
	case <-time.After(50 * time.Millisecond):
	}
	late.counters.Store(counters)
	late.ready()
	if missing := <-joined; missing != 0 {
		t.Errorf("%d nodes are missing", missing)
	}
}

// An order counts as obeyed once the node has counted it, and not while the count is unknown.
func TestOrdersAreObeyedWhenThatIsKnown(t *testing.T) {
	tr, node := played(t, 2)
	if err := tr.orders.give(host.Order{Do: host.Park}, tr.nodes.up()...); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if heard := node(i).heard; len(heard) != 1 || heard[0].Do != host.Park {
			t.Errorf("node %d heard %v", i, heard)
		}
	}
	if tr.orders.allObeyed() {
		t.Error("nodes of which nothing is known have obeyed")
	}
	for i := range 2 {
		tr.watch.of[i] = node(i).counters.Load()
		tr.watch.of[i].Instances[0].Obeyed.Store(uint64(i))
	}
	if tr.orders.obeyed(0) || !tr.orders.obeyed(1) || tr.orders.allObeyed() {
		t.Error("only node 1 has obeyed")
	}
}

// A node that ends in the course of a trial, though nothing asked for that, ends the trial, which says how.
func TestANodeThatEndsEndsTheTrial(t *testing.T) {
	tr, node := played(t, 3)
	node(1).end(cluster.Fate{Says: "exit status 2; it printed nothing"})
	err := tr.nodes.wait(20 * time.Second)
	if err == nil || err.Error() != "node 1 ended on its own: exit status 2; it printed nothing" {
		t.Errorf("the error is %v", err)
	}
}

// A node that a fault kills is down: its requests are over, it is told nothing, and another process follows.
func TestANodeThatIsKilledIsFollowedByAnother(t *testing.T) {
	tr, node := played(t, 2)
	n := tr.nodes
	for id := range nodes.ID(2) {
		n.watch.of[id] = node(int(id)).counters.Load()
	}
	first := &n.watch.of[1].Instances[0]
	first.Requests.Store(3)
	first.Entries.Store(2)
	first.Exits.Store(2)
	if !tr.sums().open() {
		t.Error("no request is open")
	}
	if err := n.kill(1); err != nil {
		t.Fatal(err)
	}
	if n.isUp(1) || tr.sums().open() || len(n.up()) != 1 || !n.watch.lossy {
		t.Errorf("up are %v, open are %+v", n.up(), tr.sums())
	}
	if err := n.kill(1); err == nil || !strings.Contains(err.Error(), "it is down already") {
		t.Errorf("killed again: %v", err)
	}
	n.start = func(_ nodes.ID, c cluster.Command, say func([]byte) []byte) (cluster.Node, error) {
		p := &playedNode{name: "node 1", say: say, ended: make(chan struct{})}
		p.counters.Store(node(1).counters.Load())
		if filepath.Base(c.Log) != "node-000001.1.log" {
			t.Errorf("its log is %s", c.Log)
		}
		p.ready()
		return p, nil
	}
	if err := n.restart(1, false); err != nil {
		t.Fatal(err)
	}
	if l := n.lives[1]; l.down || l.incarnation != 1 || l.requests[0] != 3 || len(n.all) != 3 {
		t.Errorf("restarted, it is %+v, of %d processes", l, len(n.all))
	}
}

// A node of which nothing is known yet can be killed, and has made no request.
func TestANodeIsKilledBeforeItIsKnownWhatItCounts(t *testing.T) {
	tr, _ := played(t, 2)
	if err := tr.nodes.kill(1); err != nil || tr.nodes.isUp(1) || tr.nodes.lives[1].requests != nil {
		t.Errorf("%v: it is %+v", err, tr.nodes.lives[1])
	}
}

// Only package cluster knows what a process is on this machine.
func TestATrialTouchesNoProcess(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, no := range []string{`"os/exec"`, "history.Watch(", "history.LastSeen(", "syscall.Kill(", ".Pid()"} {
			if !strings.HasSuffix(path, "_test.go") && strings.Contains(string(text), no) {
				t.Errorf("%s has %s: that is up to a cluster.Node", path, no)
			}
		}
	}
}
