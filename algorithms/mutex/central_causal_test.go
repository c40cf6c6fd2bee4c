package mutex

import (
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

func causalMutants() []mutant {
	change := mutantsOf[causalCoordinator](&centralAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("a request that waits for another is looked at no more", "progress",
			func(c causalCoordinator) nodes.Machine { return &causalForgetful{c} }).at("delivery", "causal"),
		change("a client waits for its own request", "progress",
			func(c causalCoordinator) nodes.Machine { return &causalSelfish{c} }).at("delivery", "causal"),
	}
}

type (
	causalForgetful struct{ causalCoordinator }
	causalSelfish   struct{ causalCoordinator }
)

func (c *causalForgetful) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	c.behind = nil
	c.causalCoordinator.Receive(env, from, m)
}

func (c *causalSelfish) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if ask, ok := m.(causalRequest); ok {
		ask.Known[from] = ask.Number
		m = ask
	}
	c.causalCoordinator.Receive(env, from, m)
}

// inversions counts the entries that came too early: the client had been told of a peer's request when it
// asked, and entered before that request was served. Clients tell each other that they have asked.
func inversions(h *history.History, n int, told uint8) (count int) {
	heard := make([]map[nodes.ID][]int64, n) // by client: when it was told of each request of another
	for i := range heard {
		heard[i] = map[nodes.ID][]int64{}
	}
	for _, l := range h.Logs {
		for _, m := range l.Trace {
			if m.Kind == told && !m.Sent {
				heard[l.Node][m.Peer] = append(heard[l.Node][m.Peer], m.At)
			}
		}
	}
	entered := make([]int, n)             // by client: its entries
	before := make([]map[nodes.ID]int, n) // by client: of how many requests of each other it had been told
	for _, e := range h.Events {
		switch e.Kind {
		case history.Requested:
			before[e.Node] = map[nodes.ID]int{}
			for peer, times := range heard[e.Node] {
				for _, at := range times {
					if at < e.At {
						before[e.Node][peer]++
					}
				}
			}
		case history.Entered:
			entered[e.Node]++
			for peer, requests := range before[e.Node] {
				if entered[peer] < requests {
					count++
					break
				}
			}
		}
	}
	return count
}

// A client may be served before requests that it was told of, unless delivery is in causal order.
func TestRequestsAreServedInCausalOrder(t *testing.T) {
	const n = 5
	for delivery, served := range map[string]bool{"told": false, "causal": true} {
		total := 0
		for seed := range uint64(20) {
			o := sim.Options{Seed: seed, Entries: 200, Trace: true, Workload: workload.Workload{
				Load: workload.Closed, Think: algotest.Drawn("uniform:1ms,30ms"), Hold: algotest.Drawn("100us")}}
			o.Stack = algotest.StackOf(&centralAlgorithm, nodes.Config{N: n}.With("delivery", delivery))
			algotest.Over(&o, algotest.NetworkOf("uniform:100us,5ms"))
			for kind, name := range o.Stack.Codec().Names() {
				if name == "told" {
					total += inversions(algotest.History(t, o), n, uint8(kind))
				}
			}
		}
		if (total == 0) != served {
			t.Errorf("%s: %d entries came before one of which their clients had been told", delivery, total)
		}
	}
}
