//go:build linux

package bench

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/mutex"
	"turnstile/nodes/port"
)

// carried returns a trial whose transport is up, and which has no node processes.
func carried(t *testing.T, brokers int, proxies bool) *trial {
	t.Helper()
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Brokers, o.Proxies = 4, brokers, proxies
	tr := &trial{Job: drafted(t, spec, o, false), transport: &transport{}}
	s := setup(t)
	tr.transport.site = s.here(cluster.NewLauncher())
	if tr.journal, err = newJournal(t.TempDir(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.journal.Close() })
	t.Cleanup(func() { tr.transport.close() })
	err = tr.transport.launch(t.Context(), tr.Job)
	if err != nil {
		t.Fatal(err)
	}
	tr.wire(t.Context())
	for _, p := range tr.transport.processes() {
		tr.connections.include(p)
	}
	return tr
}

// joined connects a node to its broker, and has it subscribe to what nodes do.
func joined(t *testing.T, tr *trial, id nodes.ID) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(tr.transport.url(id, 0), nats.Token(tr.transport.token()), nats.NoReconnect(),
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

// awaitSettled waits until the brokers know each other and all nodes, and checks that no end of a process is
// reported as trouble.
func awaitSettled(t *testing.T, tr *trial) {
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

// Nodes are spread over the brokers, and a trial begins once each broker knows of all.
func TestSubscriptionsAreAwaited(t *testing.T) {
	t.Parallel()
	for _, multicast := range []bool{false, true} {
		tr := carried(t, 3, false)
		tr.Multicast = multicast
		if err := tr.connections.awaitSubscriptions(false); err != nil {
			t.Fatal(err)
		}
		for id := range nodes.ID(tr.total()) {
			joined(t, tr, id)
			if is, err := tr.connections.settled(); is && int(id) < tr.total()-1 {
				t.Errorf("settled after node %d, %v", id, err)
			}
		}
		if err := tr.connections.awaitSubscriptions(true); err != nil {
			t.Error(err)
		}
		awaitSettled(t, tr)
		if got := tr.transport.url(3, 0); got != tr.transport.url(0, 0) || got == tr.transport.url(1, 0) {
			t.Errorf("node 3 connects to %s, node 0 to %s", got, tr.transport.url(0, 0))
		}
	}
}

func TestBrokersAreKilledAndRestarted(t *testing.T) {
	t.Parallel()
	tr := carried(t, 3, true)
	var conns []*nats.Conn
	for id := range nodes.ID(tr.total()) {
		conns = append(conns, joined(t, tr, id))
	}
	awaitSettled(t, tr)
	url := tr.transport.url(1, 0)
	if err := tr.connections.KillBroker(1); err != nil {
		t.Fatal(err)
	}
	for !conns[1].IsClosed() || !conns[4].IsClosed() {
		time.Sleep(time.Millisecond)
	}
	if is, err := tr.connections.settled(); is || err != nil || conns[0].IsClosed() {
		t.Errorf("with a broker missing it is settled: %v, %v", is, err)
	}
	if err := tr.connections.RestartBroker(1); err != nil || tr.transport.url(1, 0) != url {
		t.Fatalf("it comes back at %s, %v", tr.transport.url(1, 0), err)
	}
	joined(t, tr, 1)
	joined(t, tr, 4)
	awaitSettled(t, tr)
	tr.transport.brokers.Process(1).Signal(syscall.SIGKILL) // not on purpose
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
	for id := range nodes.ID(tr.total()) {
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
	do(tr.connections.CutRoutes(1, [][]int{{0}, {1, 2}}))
	do(tr.connections.BeginConnection(2, []nodes.ID{0, 2}, port.Strain{Stall: true}))
	if got, err := tr.transport.proxies.InForce(ctx); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("in force are %v, %v", got, err)
	}
	conn, err := nats.Connect(tr.transport.url(1, 0), nats.Token(tr.transport.token()),
		nats.Timeout(host.JoinTimeout))
	do(err)
	conn.Close()
	_, err = nats.Connect(tr.transport.url(0, 0), nats.Token(tr.transport.token()),
		nats.Timeout(100*time.Millisecond))
	if err == nil {
		t.Error("a stalled connection is made")
	}
	do(tr.connections.HealConnection(2))
	do(tr.connections.HealRoutes(1))
	if got, err := tr.transport.proxies.InForce(ctx); err != nil || len(got) > 0 {
		t.Errorf("in force are %v, %v", got, err)
	}
	awaitSettled(t, tr)
}

func TestFaultsOfTransportRefused(t *testing.T) {
	t.Parallel()
	there := &transport{server: "nats://there", site: &site{}}
	foreign, plain := &trial{Job: carried(t, 1, false).Job, transport: there}, carried(t, 1, false).connections
	foreign.wire(t.Context())
	other, reset := foreign.connections, port.Strain{Reset: true}
	for says, errs := range map[string][]error{
		errNotOurs.Error(): {other.KillBroker(0), other.RestartBroker(0), other.HealRoutes(1),
			other.CutRoutes(1, nil)},
		errNoProxies.Error(): {other.BeginConnection(1, nil, reset), other.HealConnection(1),
			plain.BeginConnection(1, nil, reset), plain.CutRoutes(1, nil)},
		errNoCutter.Error():                            {plain.CutNetwork(1, []int{0}), plain.HealNetwork(1)},
		"there is no broker 1: they count from 0 to 0": {plain.KillBroker(1), plain.RestartBroker(1)},
		"kill it first":                                {plain.RestartBroker(0)},
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

func TestTransportIsValidated(t *testing.T) {
	spec, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Options){
		"2 brokers: a run has 1 or 3":           func(o *Options) { o.Brokers = 2 },
		"leave out one of --brokers and --nats": func(o *Options) { o.Brokers, o.NATS = 3, "nats://there" },
		"leave out one of --proxies and --nats": func(o *Options) { o.Proxies, o.NATS = true, "nats://there" },
		"":                                      func(o *Options) { o.Brokers, o.Proxies = 3, true },
	} {
		o := option.Defaults()
		o.Algorithm = "central"
		change(&o)
		if _, err := Resolve(o, spec, false); (err == nil) != (says == "") ||
			err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, and should say %q", err, says)
		}
	}
}
