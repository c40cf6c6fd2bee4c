package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// With --delivery told, clients tell each other that they have asked. A client that asks after it has heard
// of a request may yet be served before it: its own request may be the first to arrive. The queue of a
// server is first come, first served, and not first asked, unless messages are delivered in causal order.
//
// With --delivery causal they are. A request names the latest request of each client that its sender knew of,
// and the server takes a request once it has taken all requests that it names. That is causal delivery with
// the server as the one destination, after A. Schiper, J. Eggli and A. Sandoz, "A new algorithm to implement
// causal ordering", WDAG 1989. Further dependencies need not be named: the server takes each of the named
// requests after all that this one names in turn.
//
// A request that is lost keeps back all that depend on it.

type (
	centralTold   struct{ Number uint64 } // its sender has asked for the Number-th time
	causalRequest struct {                // asks to enter, for the Number-th time
		Number uint64
		Known  []uint64 // by client: the latest request that its sender knew of; 0: none
	}
)

var deliveryOption = nodes.Option{
	Name: "delivery",
	Usage: "delivery of requests to the server: in order of arrival; the same, while clients tell each other " +
		"of requests; or in causal order",
	Values:  []string{"arrival", "told", "causal"},
	Default: "arrival",
	Shows: []nodes.Shown{
		{Value: "arrival", Figure: "messages per entry", Least: 2.9, Most: 3.1},
		{Value: "told", Figure: "told per entry", Least: 4, Most: 5},
		{Value: "causal", Figure: "told per entry", Least: 4, Most: 5},
		{Value: "causal", Than: "told", Figure: "order by request", Least: 1.05, Most: 2, N: 9,
			Latency: "exponential:5ms"},
	},
}

// tells reports whether clients tell each other that they have asked, causally whether requests are delivered
// in causal order, and byArrival whether in the order of their arrival.
func tells(c nodes.Config) bool     { return c.Value(deliveryOption) != "arrival" }
func causally(c nodes.Config) bool  { return c.Value(deliveryOption) == "causal" }
func byArrival(c nodes.Config) bool { return !causally(c) }

func newCentralClient(c nodes.Config) nodes.Machine {
	plain := centralClient{server: theServer(c)}
	if !tells(c) {
		return &plain
	}
	return &tellingClient{centralClient: plain, causal: causally(c), known: make([]uint64, c.N)}
}

func newCoordinator(c nodes.Config, _ nodes.ID) nodes.Machine {
	if causally(c) {
		return &causalCoordinator{taken: make([]uint64, c.N)}
	}
	return &coordinator{}
}

// centralCost is what an entry takes: three messages, and one to each peer where clients tell each other.
func centralCost(c nodes.Config) algorithm.Cost {
	if !tells(c) {
		return always("3", algorithm.Exactly(3), algorithm.Exactly(2))
	}
	return always("3 + (N-1)", algorithm.Exactly(float64(3+c.N-1)), algorithm.Exactly(2))
}

// A tellingClient tells its peers that it has asked.
type tellingClient struct {
	centralClient
	causal bool
	known  []uint64 // by client: the latest request that we have heard of
}

func (t *tellingClient) Request(env *nodes.Env) {
	if t.causal {
		t.number++
		t.waiting = true
		env.Send(t.server, causalRequest{t.number, t.known})
	} else {
		t.centralClient.Request(env)
	}
	env.Broadcast(centralTold{t.number})
}

func (t *tellingClient) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(centralTold); ok {
		t.known[from] = max(t.known[from], m.Number)
		return
	}
	t.centralClient.Receive(env, from, m)
}

// A causalCoordinator takes a request once it has taken all that its sender knew of.
type causalCoordinator struct {
	coordinator
	taken  []uint64       // by client: the number of its latest request that is taken
	behind []earlyRequest // requests that wait for others to arrive, in the order of their arrival
}

// An earlyRequest has arrived and is not taken.
type earlyRequest struct {
	From nodes.ID
	Of   causalRequest
}

func (c *causalCoordinator) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	ask, ok := m.(causalRequest)
	if !ok {
		c.coordinator.Receive(env, from, m)
		return
	}
	c.behind = append(c.behind, earlyRequest{from, ask})
	for at := 0; at < len(c.behind); at++ {
		if next := c.behind[at]; c.knowsAll(next.Of.Known) {
			c.behind = slices.Delete(c.behind, at, at+1)
			c.taken[next.From] = max(c.taken[next.From], next.Of.Number)
			c.coordinator.Receive(env, next.From, centralRequest{next.Of.Number})
			at = -1 // start again: others may have waited for this one
		}
	}
}

// knowsAll reports whether all requests that a client knew of are taken.
func (c *causalCoordinator) knowsAll(known []uint64) bool {
	for client, number := range known {
		if c.taken[client] < number {
			return false
		}
	}
	return true
}
