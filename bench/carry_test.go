//go:build linux

package bench

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/algorithms/mutex"
	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
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
	if err := (brokers{tr.connections}).kill(1); err != nil {
		t.Fatal(err)
	}
	for !conns[1].IsClosed() || !conns[4].IsClosed() {
		time.Sleep(time.Millisecond)
	}
	if is, err := tr.connections.settled(); is || err != nil || conns[0].IsClosed() {
		t.Errorf("with a broker missing it is settled: %v, %v", is, err)
	}
	if err := (brokers{tr.connections}).start(1, false); err != nil || tr.transport.url(1, 0) != url {
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
	do(tr.connections.strain(1, routes([2]int{0, 1}, [2]int{0, 2})))
	stall := port.Strain{Stall: true}
	for _, id := range []nodes.ID{0, 2} {
		stall.Links = append(stall.Links, toBroker(id))
	}
	do(tr.connections.strain(2, stall))
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
	for _, number := range []int{2, 1} {
		_, err := tr.connections.relieve(number)
		do(err)
	}
	if got, err := tr.transport.proxies.InForce(ctx); err != nil || len(got) > 0 {
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
	there := &transport{server: "nats://there", site: &site{}}
	foreign, plain := &trial{Job: carried(t, 1, false).Job, transport: there}, carried(t, 1, false).connections
	foreign.wire(t.Context())
	other, own := brokers{foreign.connections}, brokers{plain}
	reset := port.Strain{Links: []port.Link{toBroker(0)}, Close: true}
	host := func(i int) port.Member { return port.Member{Role: port.Host, I: i} }
	_, unknown := plain.relieve(1)
	cut := port.Strain{Links: []port.Link{{A: host(0), B: host(1)}}}
	for says, errs := range map[string][]error{
		errNotOurs.Error(): {other.kill(0), other.start(0, false),
			other.strain(1, routes([2]int{0, 1}))},
		errNoProxies.Error(): {other.strain(1, reset), plain.strain(1, reset),
			plain.strain(1, routes([2]int{0, 1}))},
		errNoCutter.Error():                            {plain.strain(1, cut)},
		"no fault 1 is on connections":                 {unknown},
		"there is no broker 1: they count from 0 to 0": {own.kill(1), own.start(1, false)},
		"kill it first":                                {own.start(0, false)},
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

// suffering returns the options of a short run of an algorithm with faults, as plans write them.
func suffering(t *testing.T, algorithm string, brokers int, faults ...string) Options {
	t.Helper()
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Workload.Load, o.Brokers = algorithm, 4, workload.Saturated, brokers
	o.Warmup, o.Duration, o.Patience = 20*time.Millisecond, 400*time.Millisecond, impatience
	for _, text := range faults {
		f, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	return o
}

// complete makes a run of real processes, which ends early only if it stalls.
func complete(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := makeRun(t, o)
	if err != nil && !strings.Contains(err.Error(), "stalled") {
		t.Errorf("the run ended early: %v", err)
	}
	return r
}

// A run names the faults of connections, brokers and routes that lost messages. No algorithm is convicted
// outside of its model, and all faults are healed at the end.
func TestTheTransportSuffers(t *testing.T) {
	for i, test := range []struct {
		name    string
		faults  []string
		brokers int
		never   bool // it loses nothing, so that the run is valid
	}{
		{"lag", []string{"lag: 1, by: 20ms, at: 50ms, for: 100ms"}, 1, true},
		{"throttle", []string{"throttle: all, to: 20KB, at: 50ms, for: 100ms"}, 1, true},
		{"stall", []string{"stall: holder, at: 50ms, for: 100ms"}, 1, true},
		{"pause", []string{"pause: broker 0, at: 50ms, for: 100ms"}, 1, true},
		{"reset", []string{"reset: random, at: 50ms, for: 50ms"}, 1, false},
		{"resets", []string{"reset: minority, at: 50ms, every: 100ms, repeat: 3"}, 1, false},
		{"kill", []string{"kill: broker 0, at: 50ms, for: 50ms"}, 1, false},
		{"routes", []string{"cut: broker 0/broker 1-2, at: 50ms, for: 50ms"}, 3, false},
		{"to the end", []string{"cut: broker 0/broker 1/broker 2, at: 200ms", "stall: 2, at: 250ms"}, 3, false},
		{"one of three, and a node", []string{"kill: broker 1, at: 50ms, for: 100ms",
			"kill: 0, at: 75ms, for: 25ms", "pause: broker 2, at: 75ms, for: 50ms"}, 3, false},
	} {
		for j, algorithm := range families {
			if soak.Pick(i%len(families) != j, false, false) {
				continue
			}
			t.Run(test.name+" "+algorithm, func(t *testing.T) {
				t.Parallel()
				o := suffering(t, algorithm, test.brokers, test.faults...)
				if test.never { // it goes on after the heal, however late that is
					o.Warmup, o.Duration, o.Entries = 0, 0, 300
					o.Workload.Hold = chance.Constant(time.Millisecond)
				}
				r := complete(t, o)
				v := r.Trials[0].Verdict
				if v.Outcome == check.Violated || v.Outcome == check.Inconclusive && !v.OutsideModel &&
					!strings.Contains(v.Reason, "nobody entered") || test.never && v.Outcome != check.Valid {
					t.Errorf("%v, outside its model: %v: %s", v.Outcome, v.OutsideModel, v.Reason)
				}
				for _, f := range v.Findings {
					if (f.Check == "loss" || f.Check == "accounting") && f.Outcome != check.Valid &&
						!f.OutsideModel {
						t.Errorf("%s is %v: %s", f.Check, f.Outcome, f.Says)
					}
					if f.Check == "faults" && strings.Contains(f.Says+strings.Join(f.Witness, ""),
						"not healed") {
						t.Error(f.Says)
					}
				}
				if left, _ := filepath.Glob(filepath.Join(r.Folder.LogFolder(1), "*")); len(left) > 0 {
					t.Errorf("%v are left behind", left)
				}
				t.Logf("%v: %s; %d lost with the broker", v.Outcome, v.Reason, v.LostWithBroker)
			})
		}
	}
}

// A trial that stalls leaves the brokers and proxies to the next as they were.
func TestTrialsDoNotInheritFaults(t *testing.T) {
	t.Parallel()
	o := suffering(t, "ricart-agrawala", 1, "lag: 1, by: 1ms", "loss: 100%, at: 10ms")
	o.Warmup, o.WarmupLimit, o.Duration, o.Entries, o.Trials = 0, 0, 0, 4000, 2
	r := complete(t, o)
	if len(r.Trials) != 2 {
		t.Fatalf("there were %d trials", len(r.Trials))
	}
	for _, trial := range r.Trials {
		if v := trial.Verdict; !v.OutsideModel || trial.Trouble != "" {
			t.Errorf("trial %d: %v, %s, %s", trial.Number, v.Outcome, v.Reason, trial.Trouble)
		}
	}
}

// What is left of a fault at the end of a trial ends it as trouble.
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
	tr.transport.brokers.Kill(2)
	err = tr.faults.checkHealed()
	if want := "faults were not healed: fault 4 of a connection or a route; broker 2 is down"; err == nil ||
		err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}

// The two networks of bully-second-network have nothing in common: while the broker of either is dead, the
// other carries what it is for. So nobody leads beside the leader, and what is lost goes on the account of
// the dead.
func TestEachNetworkHasABrokerOfItsOwn(t *testing.T) {
	for _, test := range []struct {
		name   string
		faults []string
		lost   bool // with the broker, for sure
	}{
		{"the first is dead", []string{"kill: broker 0, at: 100ms, for: 700ms"}, true},
		{"the second is dead, and the leader", []string{
			"kill: broker 0, network: second, at: 50ms, for: 900ms", "kill: 2, at: 100ms, for: 900ms"}, false},
		{"the second is reset, and stands still", []string{
			"reset: 1, network: second, at: 50ms, for: 100ms",
			"pause: broker 0, network: second, at: 300ms, for: 50ms"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := suffering(t, "bully-second-network", 1, test.faults...)
			o.Config.N, o.Workload.Load, o.Workload.Hold = 3, workload.Campaign, option.Defaults().Workload.Hold
			o.Warmup, o.Duration = 0, 1500*time.Millisecond
			v := complete(t, o).Trials[0].Verdict
			for _, f := range v.Findings {
				doubtful := f.Outcome != check.Valid && (f.Check == "loss" || f.Check == "accounting")
				two := f.Check == "leaders" && test.lost && f.Says != "never were there two leaders at once"
				if f.Outcome == check.Violated || doubtful || two || strings.Contains(f.Says, "not healed") {
					t.Errorf("%s is %v: %s %q", f.Check, f.Outcome, f.Says, f.Witness)
				}
			}
			if test.lost && v.LostWithBroker == 0 {
				t.Error("nothing was lost with the broker")
			}
		})
	}
}
