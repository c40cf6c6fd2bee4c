//go:build linux

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/bench/cluster"
	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/internal/certs"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/host"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// These tests run algorithms that never get anywhere in real processes, which are this program again.
const (
	testNode   = "TURNSTILE_TEST_NODE"
	testBroker = "broker-of-the-test"
	testProxy  = "proxy-of-the-test"
	testAgent  = "agent-of-the-test"

	testResource = "resource-of-the-test"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == testBroker:
		if err := cluster.ServeBroker(os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == testProxy:
		if err := cluster.ServeProxies(os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == testAgent:
		if err := runTestAgent(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case len(os.Args) == 2 && os.Args[1] == testResource:
		if err := cluster.ServeResource(os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case len(os.Args) == 1 && os.Getenv(testNode) != "":
		if err := runTestNode(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	default:
		os.Setenv(testNode, "1")
		os.Exit(m.Run())
	}
}

func runTestAgent() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	input := json.NewDecoder(os.Stdin)
	var p agent.Piped
	if err := input.Decode(&p); err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	told := io.MultiReader(bytes.NewReader(text), input.Buffered(), os.Stdin)
	o := agent.Options{Programs: map[string][]string{agent.BrokerProgram: {program, testBroker},
		agent.ProxyProgram: {program, testProxy}, agent.ResourceProgram: {program, testResource}}}
	if p.Name == "h1" {
		o.Clock = clockOfTheTest()
	}
	return agent.ServePiped(context.Background(), told, os.Stdout, o)
}

// testClock is the variable that says how the clock of host h1 differs, of two hosts: when it began to, how
// many nanoseconds it is ahead then, and how much faster it runs, in parts per million.
const testClock = "TURNSTILE_TEST_CLOCK"

// clockOfTheTest returns that clock; nil: it is that of all.
func clockOfTheTest() func() int64 {
	var begun, ahead, ppm int64
	if n, _ := fmt.Sscanf(os.Getenv(testClock), "%d %d %d", &begun, &ahead, &ppm); n < 3 {
		return nil
	}
	return func() int64 {
		now := agent.Monotonic()
		return now + ahead + (now-begun)*ppm/1_000_000
	}
}

func runTestNode() error {
	input := json.NewDecoder(os.Stdin)
	var role struct {
		Node     host.Config      `json:"node"`
		Machines []catalog.Part   `json:"machines"`
		Chaos    chaos.NodeFaults `json:"chaos"`
	}
	if err := input.Decode(&role); err != nil {
		return err
	}
	orders, err := host.OrdersAfter(input, os.Stdin, func() { os.Exit(1) }) // when the test ends
	if err != nil {
		return err
	}
	var all []row.Instance
	for _, p := range role.Machines {
		spec, err := rowOf(p.Row)
		if err != nil {
			return err
		}
		all = append(all, row.Instance{Row: spec, Config: p.Config})
	}
	stack, err := row.Assemble(all[0], all[1:]...)
	if err != nil {
		return err
	}
	site, err := role.Chaos.Open(stack, role.Node.Seed)
	if err != nil {
		return err
	}
	role.Node.Shaper, role.Node.Watcher, role.Node.Faults = site.Shaper, site.Watcher, site
	if role.Node.Node%2 == 1 { // those on host h1
		role.Node.Monotonic = clockOfTheTest()
	}
	return host.Run(role.Node, stack.Stack, orders, os.Stdout)
}

// Each of these never serves some request, in a way of its own.
func stuckSpec(name string) *row.Row {
	s := &row.Row{Spec: nodes.Spec{
		Name:       name,
		Live:       nodes.NoLoss | nodes.NoCrash,
		Messages:   []nodes.MessageKind{{Zero: ask{}}, {Zero: kept{}}},
		Circulates: name == "skipping ring",
	}}
	s.New = map[string]func(nodes.Config) nodes.Machine{
		"alarmed":       func(nodes.Config) nodes.Machine { return &alarmed{} },
		"keeping":       func(nodes.Config) nodes.Machine { return &keeping{} },
		"silent":        func(nodes.Config) nodes.Machine { return &silent{} },
		"pestering":     func(nodes.Config) nodes.Machine { return &pestering{} },
		"impatient":     func(nodes.Config) nodes.Machine { return &impatient{} },
		"chattering":    func(nodes.Config) nodes.Machine { return &chattering{} },
		"skipping ring": func(nodes.Config) nodes.Machine { return &skippingRing{} },
	}[name]
	return s
}

type (
	ask  struct{ Again bool }
	kept struct{ Number uint64 }
)

// keeping serves its client under a number that it saves.
type keeping struct{ number uint64 }

func (k *keeping) Request(env *nodes.Env) {
	k.number++
	env.Save(kept{k.number})
	env.GrantFenced(k.number)
}
func (k *keeping) Recover(_ *nodes.Env, saved nodes.Message) {
	if m, ok := saved.(kept); ok {
		k.number = m.Number
	}
}
func (*keeping) Release(*nodes.Env)                          {}
func (*keeping) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// alarmed serves its client when a timer of 5 ms has run out.
type alarmed struct{}

func (*alarmed) Request(env *nodes.Env)                      { env.SetTimer(nodes.Timer{}, 5e6, 5e6) }
func (*alarmed) Timeout(env *nodes.Env, _ nodes.Timer)       { env.Grant() }
func (*alarmed) Release(*nodes.Env)                          {}
func (*alarmed) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// silent is an algorithm in which a request gets no answer. Node 0 serves itself.
type silent struct{}

func (*silent) Request(env *nodes.Env) {
	if env.Broadcast(ask{}); env.Self() == 0 {
		env.Grant()
	}
}
func (*silent) Release(*nodes.Env)                          {}
func (*silent) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// pestering polls node 0, which refuses for ever.
type pestering struct{ silent }

func (*pestering) Receive(env *nodes.Env, from nodes.ID, _ nodes.Message) { env.Send(from, ask{}) }

// impatient waits for a timer, and then for the next.
type impatient struct{ silent }

func (*impatient) Request(env *nodes.Env)                { env.SetTimer(nodes.Timer{}, 1e6, 1e6) }
func (*impatient) Timeout(env *nodes.Env, _ nodes.Timer) { env.SetTimer(nodes.Timer{}, 1e6, 1e6) }

// chattering serves everybody, and never stops talking.
type chattering struct{ pestering }

func (*chattering) Request(env *nodes.Env) {
	env.Broadcast(ask{})
	env.Grant()
}

// A skippingRing passes its token on, but not to node 0.
type skippingRing struct{ wants bool }

func (r *skippingRing) Start(env *nodes.Env) {
	if env.Self() == 1 {
		r.pass(env)
	}
}

func (r *skippingRing) pass(env *nodes.Env) {
	env.Send(nodes.ID(int(env.Self())%(env.N()-1)+1), ask{})
}
func (r *skippingRing) Request(*nodes.Env)     { r.wants = true }
func (r *skippingRing) Release(env *nodes.Env) { r.pass(env) }
func (r *skippingRing) Receive(env *nodes.Env, _ nodes.ID, _ nodes.Message) {
	if !r.wants {
		r.pass(env)
		return
	}
	r.wants = false
	env.Grant()
}

// Every run ends, whatever its nodes do, and says what they did.
func TestEveryRunEnds(t *testing.T) {
	const heartbeat, probe = "heartbeat:period=5ms,timeout=100ms", "probe:period=5ms,timeout=100ms"
	for _, test := range []struct {
		algorithm string
		load      workload.Load
		outcome   check.Outcome
		says      string
		detectors []string // heartbeats are no progress, and no livelock either
	}{
		{"silent", workload.Saturated, check.Violated, "no progress: nothing moves, with 2 requests unserved",
			[]string{"", heartbeat}},
		{"silent", workload.One, check.Valid, "all of", []string{probe}},
		{"pestering", workload.Saturated, check.Violated,
			"messages were handled since anybody entered, with 2", []string{""}},
		{"impatient", workload.Saturated, check.Violated, "since anybody entered, with 3 requests unserved",
			[]string{"", probe}},
		{"skipping ring", workload.Saturated, check.Violated,
			"since anybody entered, with 1 request unserved", []string{"", heartbeat}},
		{"chattering", workload.One, check.Inconclusive,
			"messages go on without end, though no request is open", []string{"", heartbeat}},
	} {
		for _, detector := range test.detectors {
			t.Run(test.algorithm+" "+detector, func(t *testing.T) {
				t.Parallel()
				o := option.Defaults()
				o.Algorithm, o.Config.N, o.Workload.Load = test.algorithm, 3, test.load
				o.Detector = detector
				o.Workload.Hold = chance.Constant(20 * time.Millisecond)
				o.Warmup, o.WarmupLimit = 0, 0
				o.Duration, o.Patience = 300*time.Millisecond, impatience
				r, err := makeRun(t, o)
				got, text := r.Trials[0], ""
				for _, f := range got.Verdict.Findings {
					text += fmt.Sprintln(f.Outcome, f.Check, f.Says)
				}
				text += fmt.Sprintln(got.Verdict.Reason, err)
				if got.Verdict.Outcome != test.outcome || !strings.Contains(text, test.says) {
					t.Errorf("%v, want %v and %q:\n%s", got.Verdict.Outcome, test.outcome, test.says, text)
				}
			})
		}
	}
}

// Under a sequential load the next request does not wait for the heartbeats of a leader to cease, as in a
// simulation.
func TestSequentialLoadBesideALeaderWithHeartbeats(t *testing.T) {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Config.Elect, o.Seed = "central-failover", 3, "bully-majority", 1
	o.Latency, o.Workload.Load = chance.Constant(60*time.Millisecond), workload.Sequential
	o.Duration, o.Warmup, o.WarmupLimit, o.Entries, o.Patience = 0, 0, 0, 4, 300*time.Millisecond
	made, err := makeRun(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := made.Trials[0].Verdict; v.Outcome != check.Valid {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

// rowOf finds the row of an algorithm, one of those of the tests included.
func rowOf(name string) (*row.Row, error) {
	if spec := stuckSpec(name); spec.New != nil {
		return spec, nil
	}
	return row.Find("algorithm", append(catalog.All(), detector.Table...), name)
}

// setup returns how tests make runs: all processes are this program again.
func setup(t *testing.T) Setup {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Results: t.TempDir(), Set: "set", Node: program, Broker: []string{program, testBroker},
		Proxy: []string{program, testProxy}, Agent: []string{program, testAgent},
		Resource: []string{program, testResource}}
}

// impatience is the patience of runs that are expected to stall. It is longer than what a trial does between
// two looks at its counters.
const impatience = 100 * time.Millisecond

// makeRun makes a run of real processes.
func makeRun(t *testing.T, o Options) (*Run, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	spec, err := rowOf(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Make(ctx, resolved(t, spec, o), setup(t))
	if r == nil || len(r.Trials) == 0 {
		t.Fatalf("there is no trial: %v", err)
	}
	return r, err
}

// A takenApart is a run of one trial, for tests that have a hand in it.
type takenApart struct {
	*Run
	trial *trial
}

// takeApart begins a run of one trial, whose brokers are up. It ends with the test.
func takeApart(t *testing.T, o Options) *takenApart {
	t.Helper()
	spec, err := rowOf(o.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	s := setup(t)
	j := drafted(t, spec, o, false)
	if o.Hosts > 0 { // a draft does not know where its nodes are
		j = resolved(t, spec, o)
		if err := s.findHosts(j); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.begin(*j)
	if err != nil {
		t.Fatal(err)
	}
	launcher := cluster.NewLauncher()
	carrier := &transport{site: s.here(launcher)}
	if j.Hosts > 0 {
		if carrier.site, err = s.muster(t.Context(), launcher, j, r.Folder.Path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(carrier.site.fleet.close)
		if o.Resource == option.ResourceProcess { // as across machines, where all speak TLS
			if carrier.site.tls, err = certs.New("run"); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Cleanup(func() { carrier.close() })
	if err := carrier.launch(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	dir := r.Folder.LogFolder(1)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return &takenApart{r, &trial{Job: j, seed: 1, origin: r.Record.origin(1), dir: dir,
		startNode: carrier.site.starter(j), transport: carrier, keepFleet: r.keepFleet}}
}

// make makes the trial, and returns what it was and why it ended early, if it did.
func (r *takenApart) make(ctx context.Context, t *testing.T) (*Trial, error) {
	t.Helper()
	trouble := r.trial.run(ctx)
	if err := r.finish(ctx, r.trial, 1, trouble); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.trial.dir); len(left) > 0 {
		t.Errorf("%v are left behind: %v", left, err)
	}
	return r.Trials[0], trouble
}

// A run whose only request waits for ever ends, though a fault of its plan waits for somebody to enter: once
// the time for requests is over nobody will.
func TestARunEndsThoughAFaultIsStillArmed(t *testing.T) {
	t.Parallel()
	o := option.Defaults()
	o.Algorithm, o.Config = "ricart-agrawala", nodes.Config{N: 3}
	o.Workload = workload.Workload{Load: workload.Sequential, Hold: chance.Constant(100 * time.Microsecond)}
	o.Warmup, o.WarmupLimit, o.Duration = 0, 0, 600*time.Millisecond
	for _, text := range []string{"cut: 0/1/2, at: 100ms, for: 400ms", "pause: holder, at: 300ms, for: 10ms"} {
		fault, err := chaos.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, fault)
	}
	r, err := makeRun(t, o)
	if v := r.Trials[0].Verdict; v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, "no progress") {
		t.Errorf("%v: %s; %v", v.Outcome, v.Reason, err)
	}
}
