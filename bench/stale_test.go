package bench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/agent"
	"turnstile/bench/cluster"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// When counters of other hosts are late, those that are there are too old for all that must know the latest.
func TestStaleCountersAreTakenForUnknown(t *testing.T) {
	tr, node := played(t, 2)
	tr.watch.of[0] = node(0).counters.Load()
	known, renewed := false, 0
	tr.watch.refresh = func() bool {
		renewed++
		return known
	}
	m := &meter{trial: tr}
	if s := tr.sums(); !s.unknown || s.atRest() || s.same(s) || m.warm(s, int64(time.Second)) {
		t.Errorf("%+v is taken for what nodes count now", s)
	}
	tr.counts.wants = true
	counted := func() uint64 {
		events, err := history.Watch(filepath.Join(tr.dir, "orchestrator.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer events.Close()
		before := events.EventCount.Load()
		if err := tr.counts.record(tr.now(), false); err != nil {
			t.Fatal(err)
		}
		return events.EventCount.Load() - before
	}
	tr.counts.readAhead(8, 9)
	if renewed = 0; counted() != 0 || renewed != 1 || tr.counts.ahead.moment != 0 {
		t.Error("messages are on record that were counted at another time")
	}
	known = true
	if renewed = 0; counted() != 1 || renewed != 1 {
		t.Error("no messages are on record, or those of an earlier time")
	}
	if s := tr.sums(); s.unknown || !m.warm(s, int64(time.Second)) {
		t.Errorf("%+v is not taken for what nodes count now", s)
	}
}

// A fault is put on record as healed with what it has hit at nodes of other hosts until then.
func TestWhatOtherHostsHaveSeenCountsForEachStep(t *testing.T) {
	tr, _ := played(t, 2)
	tr.Faults = append(tr.Faults, faulty(t, "loss: 10%, at: 50ms, for: 10ms"))
	if err := tr.faults.prepare(filepath.Join(tr.dir, agent.FaultsFile)); err != nil {
		t.Fatal(err)
	}
	var did []string
	do := func(what string, err error) func() error {
		return func() error {
			did = append(did, what)
			return err
		}
	}
	tr.faults.share = do("share", nil)
	err := tr.faults.step(do("step", nil))
	if err != nil || !slices.Equal(did, []string{"share", "step", "share"}) {
		t.Errorf("it did %v: %v", did, err)
	}
	wrong := errors.New("wrong")
	did, tr.faults.share = nil, do("share", wrong)
	if err := tr.faults.step(do("step", nil)); !errors.Is(err, wrong) || !slices.Equal(did, []string{"share"}) {
		t.Errorf("it did %v: %v", did, err)
	}
}

// A lostRegister is that of a resource process that is gone.
type lostRegister struct{ witnesses }

func (lostRegister) takeOut(context.Context, nodes.ID, uint32) (doubt, error) {
	return doubt{}, errors.New("the resource process ended before it answered")
}

// Nodes have crashed with their host though the resource process was there, too, which would take them out of
// the register.
func TestNodesCrashWithTheHostThatHasTheResource(t *testing.T) {
	tr, node := played(t, 3)
	tr.nodes.resource = lostRegister{}
	why := "host a is gone: its agent has ended"
	for _, i := range []int{0, 2} {
		node(i).end(cluster.Fate{Killed: true, Gone: true, Says: why, Heard: time.Now()})
	}
	err := tr.nodes.goneWith(hostGoneError{errors.New(why)})
	if want := why + ", so its nodes have crashed (0,2)"; err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
	if tr.nodes.isUp(0) || !tr.nodes.isUp(1) || tr.nodes.isUp(2) {
		t.Errorf("up are %v", tr.nodes.up())
	}
	tr.nodes.lives[1].node.Signal(syscall.SIGKILL)
	if err := tr.nodes.crashed(1); err == nil || !strings.Contains(err.Error(), "ended before it answered") {
		t.Errorf("a node whose host is there stays in the register: %v", err)
	}
}

// Hosts that do not start the node program that was named are told before a run begins.
func TestHostsAreAskedForTheNodeProgram(t *testing.T) {
	s := Setup{Node: "/opt/mine", found: []agent.Description{{Name: "a", Programs: true}, {Name: "b"}}}
	if err := s.checkProgram(); err != nil {
		t.Error(err)
	}
	s.NodeGiven = true
	err := s.checkProgram()
	if err == nil || !strings.Contains(err.Error(), "host b starts node programs of its own version alone") ||
		!strings.Contains(err.Error(), "--allow-program /opt/mine") {
		t.Error(err)
	}
}

// A run over hosts whose messages a server of somebody else carries has no broker of its own.
func TestHostsTakeAServerOfSomebodyElse(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	o.NATS = "nats://there"
	job := Job{Options: o}
	if err := job.checkTransport(); err != nil || job.Scene().Brokers > 1 {
		t.Errorf("%d brokers: %v", job.Scene().Brokers, err)
	}
	if o.NATS = ""; o.BrokerCount() != 2 {
		t.Errorf("%d brokers of the run's own", o.BrokerCount())
	}
}
