//go:build linux

// Package benchtest lets tests make runs of real processes, each of which runs the test program again. It
// also has algorithms for tests: in most of them, some request is never served.
package benchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/host"
	"turnstile/option"
)

// The test program acts as a node if the environment variable named by testNode is set, and as a broker or
// another process of a run if its argument is one of the other constants.
const (
	testNode   = "TURNSTILE_TEST_NODE"
	testBroker = "broker-of-the-test"
	testProxy  = "proxy-of-the-test"
	testAgent  = "agent-of-the-test"

	testResource = "resource-of-the-test"
)

// Main runs the tests of a package, or a node, broker or other process that one of them has started.
func Main(m *testing.M) {
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

// Clock is an environment variable that sets the clock of host h1, the second of two. It has three numbers: a
// time, by how many nanoseconds the clock is ahead at that time, and by how many parts per million it is too
// fast.
const Clock = "TURNSTILE_TEST_CLOCK"

// clockOfTheTest returns the clock that Clock sets; nil: Clock is not set.
func clockOfTheTest() func() int64 {
	var begun, ahead, ppm int64
	if n, _ := fmt.Sscanf(os.Getenv(Clock), "%d %d %d", &begun, &ahead, &ppm); n < 3 {
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
	orders, err := host.OrdersAfter(input, os.Stdin, func() { os.Exit(1) }) // called when the test ends
	if err != nil {
		return err
	}
	var all []algorithm.Instance
	for _, p := range role.Machines {
		spec, err := Algorithm(p.Algorithm)
		if err != nil {
			return err
		}
		all = append(all, algorithm.Instance{Algorithm: spec, Config: p.Config})
	}
	stack, err := algorithm.Assemble(all[0], all[1:]...)
	if err != nil {
		return err
	}
	site, err := role.Chaos.Open(stack, role.Node.Seed)
	if err != nil {
		return err
	}
	role.Node.Shaper, role.Node.Watcher, role.Node.Faults = site.Shaper, site.Watcher, site
	if role.Node.Node%2 == 1 { // odd nodes are on host h1
		role.Node.Monotonic = clockOfTheTest()
	}
	return host.Run(role.Node, stack.Stack, orders, os.Stdout)
}

// stuck returns the algorithm for tests with a name, or one without New if the name is unknown. Most of these
// algorithms never serve some request, each for another reason.
func stuck(name string) *algorithm.Algorithm {
	s := &algorithm.Algorithm{Spec: nodes.Spec{
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

// pestering answers each message by another, so that messages circulate for ever.
type pestering struct{ silent }

func (*pestering) Receive(env *nodes.Env, from nodes.ID, _ nodes.Message) { env.Send(from, ask{}) }

// impatient sets a timer, and sets it again each time it expires.
type impatient struct{ silent }

func (*impatient) Request(env *nodes.Env)                { env.SetTimer(nodes.Timer{}, 1e6, 1e6) }
func (*impatient) Timeout(env *nodes.Env, _ nodes.Timer) { env.SetTimer(nodes.Timer{}, 1e6, 1e6) }

// chattering serves every client, and its messages circulate for ever.
type chattering struct{ pestering }

func (*chattering) Request(env *nodes.Env) {
	env.Broadcast(ask{})
	env.Grant()
}

// A skippingRing passes its token round all nodes except node 0.
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

// Algorithm finds an algorithm by its name; some exist only for tests.
func Algorithm(name string) (*algorithm.Algorithm, error) {
	if spec := stuck(name); spec.New != nil {
		return spec, nil
	}
	return algorithm.Find("algorithm", slices.Concat(catalog.Table{}.Algorithms(), detector.Table), name)
}

// Programs are the programs of processes, with their arguments: all are this program again.
type Programs struct {
	Node                           string
	Broker, Proxy, Agent, Resource []string
}

// ThisProgram returns the programs of all processes: this program, with different arguments.
func ThisProgram(t testing.TB) Programs {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Programs{program, []string{program, testBroker}, []string{program, testProxy},
		[]string{program, testAgent}, []string{program, testResource}}
}

// OverHosts returns the options of a short run of an algorithm over hosts.
func OverHosts(algorithm string, n, hosts int) bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Hosts = algorithm, n, hosts
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 200*time.Millisecond, Impatience
	return o
}

// Impatience is the patience of runs that are expected to stall. It is longer than the time between two
// readings of a trial's counters.
const Impatience = 100 * time.Millisecond

// Families are an algorithm that asks all, one that passes a token, and one with a coordinator.
var Families = []string{"ricart-agrawala", "token-ring", "central"}
