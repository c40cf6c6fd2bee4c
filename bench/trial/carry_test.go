//go:build linux

package trial

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/bench/site"
	"turnstile/hosts/cluster"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
	"turnstile/option"
)

// carried returns a trial with brokers and proxies but no node processes.
func carried(t *testing.T, brokers int, proxies bool) *Trial {
	t.Helper()
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Brokers, o.Proxies = 4, brokers, proxies
	o.Algorithm = spec.Name
	tr := takeApart(t, o).Trial
	if tr.journal, err = newJournal(t.TempDir(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.journal.Close() })
	tr.wire(t.Context())
	for _, p := range tr.Site.Processes() {
		tr.connections.include(p)
	}
	return tr
}

// joined connects a node to its broker, with the subscriptions of a node.
func joined(t *testing.T, tr *Trial, id nodes.ID) *nats.Conn {
	t.Helper()
	at := tr.Site.Reach(id, 0)
	conn, err := nats.Connect(at.URL, nats.Token(at.Token), nats.NoReconnect(),
		nats.Timeout(host.JoinTimeout))
	if err == nil {
		t.Cleanup(conn.Close)
		_, err = conn.SubscribeSync(host.SubjectsOf("r").Node(id))
	}
	if err == nil && tr.Multicast && int(id) < tr.Config.N {
		_, err = conn.SubscribeSync(host.SubjectsOf("r").Everyone())
	}
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// awaitSettled waits until the brokers know each other and all nodes, and checks that no process has ended
// unexpectedly.
func awaitSettled(t *testing.T, tr *Trial) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		is, err := tr.connections.settled()
		if err != nil {
			t.Fatal(err)
		}
		if is {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the brokers do not settle")
		}
	}
	if len(tr.nodes.ended) > 0 {
		t.Errorf("%s is reported to have ended", (<-tr.nodes.ended).Name())
	}
}

// Nodes are spread over the brokers, and a trial begins once each broker knows all nodes.
func TestSubscriptionsAreAwaited(t *testing.T) {
	t.Parallel()
	for _, multicast := range []bool{false, true} {
		tr := carried(t, 3, false)
		tr.Multicast = multicast
		if err := tr.connections.awaitSubscriptions(false); err != nil {
			t.Fatal(err)
		}
		for id := range nodes.ID(tr.Total()) {
			joined(t, tr, id)
			if is, err := tr.connections.settled(); is && int(id) < tr.Total()-1 {
				t.Errorf("settled after node %d, %v", id, err)
			}
		}
		if err := tr.connections.awaitSubscriptions(true); err != nil {
			t.Error(err)
		}
		awaitSettled(t, tr)
		if got := tr.Site.Reach(3, 0).URL; got != tr.Site.Reach(0, 0).URL || got == tr.Site.Reach(1, 0).URL {
			t.Errorf("node 3 connects to %s, node 0 to %s", got, tr.Site.Reach(0, 0).URL)
		}
	}
}

func TestBrokersAreKilledAndRestarted(t *testing.T) {
	t.Parallel()
	tr := carried(t, 3, true)
	var conns []*nats.Conn
	for id := range nodes.ID(tr.Total()) {
		conns = append(conns, joined(t, tr, id))
	}
	awaitSettled(t, tr)
	url := tr.Site.Reach(1, 0).URL
	if err := (brokers{tr.connections}).Kill(1); err != nil {
		t.Fatal(err)
	}
	for !conns[1].IsClosed() || !conns[4].IsClosed() {
		time.Sleep(time.Millisecond)
	}
	if is, err := tr.connections.settled(); is || err != nil || conns[0].IsClosed() {
		t.Errorf("with a broker missing it is settled: %v, %v", is, err)
	}
	if err := (brokers{tr.connections}).Start(1, false); err != nil || tr.Site.Reach(1, 0).URL != url {
		t.Fatalf("it comes back at %s, %v", tr.Site.Reach(1, 0).URL, err)
	}
	joined(t, tr, 1)
	joined(t, tr, 4)
	awaitSettled(t, tr)
	tr.Site.Broker(1).Signal(syscall.SIGKILL) // the trial does not expect this
	select {
	case p := <-tr.nodes.ended:
		if p.Name() != "broker 1" {
			t.Errorf("%s is reported to have ended", p.Name())
		}
	case <-time.After(20 * time.Second):
		t.Error("the end of a restarted broker is not reported")
	}
}

func TestRoutesAndConnectionsAreFaulty(t *testing.T) {
	t.Parallel()
	tr := carried(t, 3, true)
	for id := range nodes.ID(tr.Total()) {
		joined(t, tr, id)
	}
	awaitSettled(t, tr)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	do(tr.connections.strain(1, routes([2]int{0, 1}, [2]int{0, 2})))
	stall := port.Strain{Stall: true}
	for _, id := range []nodes.ID{0, 2} {
		stall.Links = append(stall.Links, toBroker(id))
	}
	do(tr.connections.strain(2, stall))
	if got, err := tr.Site.Proxies.InForce(ctx); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("in force are %v, %v", got, err)
	}
	conn, err := nats.Connect(tr.Site.Reach(1, 0).URL, nats.Token(tr.Site.Reach(0, 0).Token),
		nats.Timeout(host.JoinTimeout))
	do(err)
	conn.Close()
	_, err = nats.Connect(tr.Site.Reach(0, 0).URL, nats.Token(tr.Site.Reach(0, 0).Token),
		nats.Timeout(100*time.Millisecond))
	if err == nil {
		t.Error("a stalled connection is made")
	}
	for _, number := range []int{2, 1} {
		do(tr.connections.relieve(number))
	}
	if got, err := tr.Site.Proxies.InForce(ctx); err != nil || len(got) > 0 {
		t.Errorf("in force are %v, %v", got, err)
	}
	awaitSettled(t, tr)
}

// routes is a cut of routes between brokers.
func routes(pairs ...[2]int) (s port.Strain) {
	for _, p := range pairs {
		s.Links = append(s.Links, port.Link{A: port.Member{Role: port.Broker, I: p[0]},
			B: port.Member{Role: port.Broker, I: p[1]}})
	}
	return s
}

// toBroker is the connection of a node to its broker.
func toBroker(id nodes.ID) port.Link {
	return port.Link{A: port.NodeOf(id), B: port.Member{Role: port.Broker}}
}

func TestFaultsOfTransportRefused(t *testing.T) {
	t.Parallel()
	j := *carried(t, 1, false).Job
	j.NATS = "nats://there"
	foreign, plain := &Trial{Job: &j, Site: site.New(&j)}, carried(t, 1, false).connections
	foreign.wire(t.Context())
	other, own := brokers{foreign.connections}, brokers{plain}
	reset := port.Strain{Links: []port.Link{toBroker(0)}, Close: true}
	host := func(i int) port.Member { return port.Member{Role: port.Host, I: i} }
	unknown := plain.relieve(1)
	cut := port.Strain{Links: []port.Link{{A: host(0), B: host(1)}}}
	for says, errs := range map[string][]error{
		site.ErrNotOurs.Error(): {other.Kill(0), other.Start(0, false),
			other.strain(1, routes([2]int{0, 1}))},
		cluster.ErrNoProxies.Error(): {other.strain(1, reset), plain.strain(1, reset),
			plain.strain(1, routes([2]int{0, 1}))},
		errNoCutter.Error():                            {plain.strain(1, cut)},
		"no fault 1 is on connections":                 {unknown},
		"there is no broker 1: they count from 0 to 0": {own.Kill(1), own.Start(1, false)},
		"kill it first":                                {own.Start(0, false)},
	} {
		for i, err := range errs {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%d: the error is %v, and should say %q", i, err, says)
			}
		}
	}
	if is, err := other.settled(); !is || err != nil {
		t.Errorf("a server of others is settled: %v, %v", is, err)
	}
	if left, err := other.unhealed(); len(left) > 0 || err != nil {
		t.Errorf("not healed are %v, %v", left, err)
	}
}

// A fault that is still in force at the end of a trial is an error.
func TestFaultsThatAreLeftAreTrouble(t *testing.T) {
	t.Parallel()
	tr := carried(t, 3, true)
	err := tr.faults.prepare(filepath.Join(t.TempDir(), "faults"))
	if err == nil {
		err = tr.faults.begin(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.faults.checkHealed(); err != nil {
		t.Error(err)
	}
	if err := tr.connections.strain(4, routes([2]int{0, 1})); err != nil {
		t.Fatal(err)
	}
	tr.Site.KillBroker(2)
	err = tr.faults.checkHealed()
	if want := "faults were not healed: fault 4 of a connection or a route; broker 2 is down"; err == nil ||
		err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}
