package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The algorithm of Ricart and Agrawala as lecture notes print it has two mistakes. There is an algorithm with
// each of them: it is known to be broken, and shows that the checks detect the mistake.
//
// Its clock can fall: the notes "set highestClock to max(localClock, c)", where localClock is the stamp of
// the node's own last request. So a late request makes the node forget a later one, which it has permitted,
// and its own next request comes before that. Both are then inside.
//
// Its replies do not say which request they permit, and are counted. A reply that arrives twice counts for a
// peer that has not replied, or for the next request. The notes assume "a reliable mechanism for delivering
// messages", which also rules out copies; a node that sends its request again makes them.

var ricartPrintedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ricart-agrawala-printed",
		New:  func(nodes.Config) nodes.Machine { return &ricartPrinted{} },
		Messages: []nodes.MessageKind{{Zero: printedRequest{}, Broadcast: true},
			{Zero: printedReply{}, Permit: true}},
		Safe: nodes.NoAmnesia | nodes.NoDuplication,
		Live: ricartAgrawalaAlgorithm.Live,
	},
	Aliases: []string{"ricart-printed", "ra-printed"}, Family: "permission",
	Source: "Ricart and Agrawala, CACM 24(1), 1981, as printed by Temple University, CIS 307, Mutual " +
		"Exclusion and Elections in Distributed Systems (lecture notes)",
	Summary: "As ricart-agrawala, but a request that arrives late sets the clock back, and the next stamp may " +
		"come before one that was permitted.",
	Mutex: printedExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "exclusion",
		At:    nodes.Config{N: 3},
	},
	Faults: printedFaults(
		under(recovers|breaks, "a request that arrives late sets its receiver's clock back; its next "+
			"stamp may come before one that it has permitted (X)", "stopped-holder", "stopped-idle",
			"slow-node", "stalled-connection", "slow-links", "slow-network", "overtaking"),
	),
}

var ricartUntaggedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "ricart-agrawala-untagged",
		New:      func(nodes.Config) nodes.Machine { return &ricartPrinted{monotone: true} },
		Messages: ricartPrintedAlgorithm.Messages,
		Safe:     ricartAgrawalaAlgorithm.Safe,
		Live:     ricartAgrawalaAlgorithm.Live,
	},
	Aliases: []string{"ricart-untagged", "ra-untagged"}, Family: "permission",
	Source: ricartPrintedAlgorithm.Source + ", with a clock that never decreases",
	Summary: "As ricart-agrawala, but a reply does not say which request it permits, and replies are counted: " +
		"one that arrives twice counts twice.",
	Mutex: printedExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "exclusion",
		At:    nodes.Config{N: 3},
		By:    nodes.NoDuplication,
		Rare:  true,
	},
	Faults: printedFaults(),
}

func printedExclusion() *algorithm.Exclusion {
	return &algorithm.Exclusion{Cost: ricartAgrawalaAlgorithm.Mutex.Cost,
		Identities: ricartAgrawalaAlgorithm.Mutex.Identities[:2]}
}

// printedFaults returns the fault cells of an algorithm: its own cells, the cells for copies, which both
// algorithms share, and otherwise the cells of ricart-agrawala.
func printedFaults(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(beside(slices.Concat(own...), slices.Concat(
		under(recovers|breaks, "a reply that arrives twice is counted for a peer that has not replied", "copies"),
		under(blocks|breaks, "a lost request or reply is not sent again (B); a reply that arrives twice "+
			"is counted twice (X)", "flaky-links"),
	)), ricartAgrawalaAlgorithm.Faults)
}

// ricartPrinted has the variables of the notes. Its two threads are its handlers; the semaphore s, on which a
// request waits, is up when need becomes 0.
type ricartPrinted struct {
	monotone bool // the clock does not fall

	localClock   uint64    // the stamp of our last request
	highestClock uint64    // the highest stamp of the requests that have come, unless it has fallen
	need         int       // replies that are missing
	pending      nodes.Set // requesters not replied to yet; this node while it waits or is inside
}

type (
	printedRequest struct{ Clock uint64 } // asks to enter, stamped Clock
	printedReply   struct{}               // permits the request
)

func (r *ricartPrinted) Request(env *nodes.Env) {
	r.pending.Add(env.Self())
	r.localClock = r.highestClock + 1
	r.need = env.N() - 1
	env.Broadcast(printedRequest{r.localClock})
	if r.need == 0 {
		env.Grant() // without peers no reply comes, and the printed program would wait for ever
	}
}

func (r *ricartPrinted) Release(env *nodes.Env) {
	r.pending.Remove(env.Self())
	for peer := range r.pending.All() {
		env.Send(peer, printedReply{})
	}
	r.pending.Clear()
}

func (r *ricartPrinted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case printedRequest:
		if r.monotone {
			r.highestClock = max(r.highestClock, m.Clock)
		} else {
			r.highestClock = max(r.localClock, m.Clock)
		}
		ours := stamp{r.localClock, env.Self()}
		if r.pending.Has(env.Self()) && ours.before(stamp{m.Clock, from}) {
			r.pending.Add(from)
		} else {
			env.Send(from, printedReply{})
		}
	case printedReply:
		if r.need--; r.need == 0 {
			env.Grant()
		}
	default:
		nodes.Unexpected(r, m)
	}
}
