package mutex

import (
	"slices"

	"turnstile/algorithms/quorum"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The quorums of a grid as lecture notes give them: a node waits for an ACK of each node of its row and its
// column, and each node acknowledges one request at a time. That is Maekawa's algorithm without INQUIRE and
// RELINQUISH. It is known to be broken, and here to show what these messages are for, and why a node asks
// itself too.
//
//   - If a node asks itself, any two quorums meet where the row of one crosses the column of the other, so
//     it is safe. But two that ask at the same time each have their own ACK, and wait for the other's.
//   - The notes do not say whether a node is in its own row and column. If it does not ask itself, two nodes
//     of one column have disjoint quorums in a grid of two rows, and so have the nodes of a cluster of two.
//
// Any number of nodes forms a grid, of as many rows as its largest divisor up to its square root; a prime
// number of nodes is a single row, in which all are asked.

var gridQuorumAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "grid-quorum",
		New:  func(nodes.Config) nodes.Machine { return &gridQuorum{} },
		Messages: []nodes.MessageKind{{Zero: gridRequest{}}, {Zero: gridAck{}, Permit: true},
			{Zero: gridRelease{}}},
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID { return othersOf(quorum.Grid(c.N, id), id) },
		Safe:  nodes.NoAmnesia | nodes.NoDuplication,
		Live:  nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"grid"}, Family: "quorum",
	Source: "lecture notes that give quorums of a grid, with a queue at each node and nothing against " +
		"deadlock (after Maekawa, ACM TOCS 3(2), 1985)",
	Summary: "A node asks its row and its column, itself included; each acknowledges one request at " +
		"a time, in the order of arrival: two that ask at the same time wait for each other.",
	Mutex: gridExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "progress",
		At:    nodes.Config{N: 4},
	},
	Faults: slices.Concat(
		under(blocks, gridStands, nodePlans...),
		under(blocks|unhit, gridStands+naiveLate, naiveLinks...)),
}

var gridSelflessAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:     "grid-quorum-selfless",
		New:      func(nodes.Config) nodes.Machine { return &gridQuorum{selfless: true} },
		Messages: gridQuorumAlgorithm.Messages,
		Edges:    gridQuorumAlgorithm.Edges,
		Safe:     gridQuorumAlgorithm.Safe,
		Live:     gridQuorumAlgorithm.Live,
	},
	Aliases: []string{"selfless-grid"}, Family: "quorum",
	Source: gridQuorumAlgorithm.Source + ", read so that a node is not in its own quorum",
	Summary: "As grid-quorum, but a node does not ask itself: in a grid of two rows the quorums of neighbours " +
		"do not meet.",
	Mutex: gridExclusion(),
	Flaw: &algorithm.Flaw{
		Check: "exclusion",
		Also:  "progress",
		At:    nodes.Config{N: 2},
	},
	// Five nodes are a single row, in which any two quorums meet.
	Faults: beside(slices.Concat(
		under(recovers|blocks, "requests that take the same time arrive everywhere in the same order (L); "+
			"otherwise two clients may each have an acknowledgement that the other waits for (B)",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection", "slow-links", "slow-network",
			"overtaking", "copies", "skewed-clocks"),
		under(blocks, "a lost request or acknowledgement is not sent again, and the node that waits for it "+
			"holds up others",
			"dead-idle", "lost-request", "lost-reply"),
		under(blocks|unhit, "a message that the cut loses is not sent again (B); all may wait before the cut, "+
			"which then hits nothing (-)", "split-brain", "half-cut", "one-way", "bridge", "majority-ring"),
	), withoutTimeouts()),
}

const gridStands = "two clients that ask at the same time each have an acknowledgement that the other " +
	"waits for, even without the fault"

func gridExclusion() *algorithm.Exclusion {
	others := func(c nodes.Config) int { return gridSize(c) - 1 }
	return &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			// From RELEASE to ACK: two hops, or one if the node that leaves or the next to enter sends the last ACK.
			return always("3(K-1)", algorithm.Exactly(float64(3*others(c))), algorithm.Between(1, 2))
		},
		Symbols: []algorithm.Symbol{{Name: "K", Says: "nodes in a row and a column of the grid", Value: gridSize}},
		Identities: []algorithm.Identity{
			counts("request = (K-1) entries", others),
			counts("ack = request"),
			counts("release = request"),
		},
	}
}

// gridSize returns how many nodes are in the row and the column of a node, itself included.
func gridSize(c nodes.Config) int {
	rows := quorum.GridRows(c.N)
	return rows + c.N/rows - 1
}

type gridQuorum struct {
	selfless bool // we do not ask ourselves
	asked    nodes.Set
	awaiting nodes.Set  // the nodes that have yet to acknowledge our request
	queue    []nodes.ID // senders of the requests that we have; the first was acknowledged
}

type (
	gridRequest struct{} // asks to enter
	gridAck     struct{} // permits the request
	gridRelease struct{} // gives the permission back
)

func (g *gridQuorum) Start(env *nodes.Env) {
	g.asked = quorum.Grid(env.N(), env.Self())
	if g.selfless {
		g.asked.Remove(env.Self())
	}
}

func (g *gridQuorum) Request(env *nodes.Env) {
	g.awaiting = g.asked.Clone()
	for arbiter := range g.asked.All() {
		env.Send(arbiter, gridRequest{})
	}
	if g.asked.Empty() {
		env.Grant() // there are no others
	}
}

func (g *gridQuorum) Release(env *nodes.Env) {
	for arbiter := range g.asked.All() {
		env.Send(arbiter, gridRelease{})
	}
}

func (g *gridQuorum) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case gridRequest:
		if len(g.queue) == 0 {
			env.Send(from, gridAck{})
		}
		g.queue = append(g.queue, from)
	case gridAck:
		if g.awaiting.Remove(from) && g.awaiting.Empty() {
			env.Grant()
		}
	case gridRelease:
		if at := slices.Index(g.queue, from); at >= 0 {
			g.queue = slices.Delete(g.queue, at, at+1)
		}
		if len(g.queue) > 0 {
			env.Send(g.queue[0], gridAck{})
		}
	default:
		nodes.Unexpected(g, m)
	}
}

// WaitsFor names the nodes that have yet to acknowledge.
func (g *gridQuorum) WaitsFor() nodes.Set { return g.awaiting.Clone() }

// LentTo returns the sender of the request that we have acknowledged.
func (g *gridQuorum) LentTo() nodes.ID {
	if len(g.queue) == 0 {
		return nodes.None
	}
	return g.queue[0]
}
