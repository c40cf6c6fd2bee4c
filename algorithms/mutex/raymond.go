package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var raymondAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "raymond",
		New: func(c nodes.Config) nodes.Machine {
			return &raymond{tree: c.Value(treeOption), holder: nodes.None}
		},
		Messages: []nodes.MessageKind{{Zero: raymondRequest{}}, {Zero: raymondPrivilege{}, Token: true}},
		Options:  []nodes.Option{treeOption},
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID {
			return neighbours(c.Value(treeOption), c.N, id)
		},
		Live: nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"raymond-tree"}, Family: "token",
	Source:  "Raymond, A tree-based algorithm for distributed mutual exclusion, ACM TOCS 7(1), 1989",
	Summary: "The token moves along the edges of a tree, in which every node knows the direction to it.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			// Twice the distance to an idle privilege; less if the privilege passes by on its way to another node.
			far := float64(diameter(c))
			cost := always("2D at most, about 4 saturated",
				algorithm.Between(0, 2*far), algorithm.Between(min(1, far), far))
			cost.One = algorithm.Exactly(0) // the only node that asks keeps the privilege
			return cost
		},
		Symbols: []algorithm.Symbol{{Name: "D", Says: "diameter of the tree, in edges", Value: diameter}},
		// The privilege goes straight from the node that leaves to the next to enter, and each of its edges
		// took a request.
		Exact: func(c nodes.Config, _ bool) algorithm.EntryCost {
			tree := c.Value(treeOption)
			return handovers(func(from, to nodes.ID) int { return 2 * distance(tree, from, to) })
		},
		// A queue holds each neighbour once. If nodes still wait on the side that the privilege leaves, a request
		// follows it on the link, and is in the receiver's queue before a node on the receiver's side asks again.
		Bypass:     peers,
		Identities: []algorithm.Identity{counts("privilege = request")},
	},
	Published: slices.Concat([]algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "4 - 4/N on any tree", Hold: 2 * algorithm.Hop,
			Value: formula(func(n float64) float64 { return 4 - 4/n }), Within: algorithm.Steady},
		{Figure: algorithm.SynchronizationDelayHops, Source: "2 - 2/N on any tree", Sizes: nine,
			Value: formula(func(n float64) float64 { return 2 - 2/n })},
	}, meanDistances("line", "star", "binary")),
	Faults: withoutTimeouts(
		under(recovers|blocks, "nobody needs the dead leaf (L), unless it had kept the token, since nobody "+
			"asked (B)", "dead-idle"),
		under(blocks, tokenLost, "lost-token"),
		under(starves, "the whole subtree behind the lost request waits, since it has asked already",
			"lost-request"),
		under(starves|blocks, "all wait if the token is lost (B); if a request is lost, its subtree waits (P)",
			losses...),
		under(starves|blocks, "nodes that are cut off from the token wait (P); all do if the token is "+
			"lost as it crosses the cut (B)", "split-brain", "half-cut", "holder-in-minority", "holder-in-majority",
			"one-way"),
		under(starves|blocks|unhit, "as under split-brain; not hit if the tree has no link that is cut",
			"bridge", "majority-ring"),
		under(starves|blocks, "no token is made, so exclusion holds; all wait if the node had the token "+
			"(B), and otherwise its subtree (P)", comebacks...),
	),
}

// meanDistances returns claims on the cost of single requests in several trees: a request and a privilege
// for each edge between the last node that entered and the next, both drawn at random.
func meanDistances(trees ...string) (claims []algorithm.Claim) {
	for _, tree := range trees {
		claims = append(claims, algorithm.Claim{
			Figure: algorithm.MessagesPerEntry, Source: "2 x mean distance in the tree", Load: "sequential",
			Options: map[string]string{treeOption.Name: tree}, Sizes: []int{4, 5, 7, 9, 15, 16, 31, 32},
			Value:  func(c nodes.Config) algorithm.Range { return algorithm.Exactly(2 * meanDistance(c)) },
			Within: algorithm.Mean,
		})
	}
	return claims
}

// raymond is the algorithm of K. Raymond, "A tree-based algorithm for distributed mutual exclusion",
// ACM TOCS 7(1), 1989.
//
// The nodes form a tree and send only to their neighbours. A node that has the privilege may enter, and each
// node knows where it is: here, or in the direction of a neighbour (HOLDER). A node queues the neighbours
// that have requested the privilege from it, and itself (REQUEST_Q), and sends one request in that direction
// for all of them (ASKED). A node that has the privilege and is not inside (USING) sends it to the first of
// its queue, and requests it back at once if others wait.
//
// Mutual exclusion holds because there is one privilege. A second one could only be a copy made by the
// network: the privilege counts how often it was sent, and a node drops one that was sent no more often than
// the last it had. Nobody waits for ever, since the directions always lead to the privilege and queues are
// served in order.
type raymond struct {
	tree   string
	holder nodes.ID   // the neighbour on the way to the privilege; None: it is here, or we do not know
	has    bool       // it is here
	using  bool       // our client is inside
	asked  bool       // the holder has been asked for it
	queue  []nodes.ID // neighbours that want it, and this node, in order of arrival
	serial uint64     // of the privilege when it was last here, or was sent from here
	heard  []uint64   // by position of the neighbour: its next request has this serial or a higher one
}

type (
	raymondRequest   struct{ Serial uint64 } // asks for the privilege, whose last known serial is Serial
	raymondPrivilege struct{ Serial uint64 } // is the privilege, sent for the Serial-th time
)

// Start puts the privilege at node 0, the root.
func (r *raymond) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
	} else {
		r.holder = parent(r.tree, env.Self())
	}
}

// Recover leaves the privilege's place unknown: if node 0 made one again after a crash, there would be two.
func (r *raymond) Recover(*nodes.Env, nodes.Message) {}

func (r *raymond) Request(env *nodes.Env) {
	r.queue = append(r.queue, env.Self())
	r.assign(env)
	r.ask(env)
}

func (r *raymond) Release(env *nodes.Env) {
	r.using = false
	r.assign(env)
	r.ask(env)
}

func (r *raymond) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case raymondRequest:
		at := position(r.tree, env.Self(), from)
		for len(r.heard) <= at {
			r.heard = append(r.heard, 0)
		}
		if m.Serial < r.heard[at] {
			return // a copy: served too, it could make the privilege go back and forth for ever
		}
		r.heard[at] = m.Serial + 1
		r.queue = append(r.queue, from)
	case raymondPrivilege:
		if m.Serial <= r.serial {
			return // a copy
		}
		r.serial = m.Serial
		r.has, r.holder, r.asked = true, nodes.None, false
	default:
		nodes.Unexpected(r, m)
	}
	r.assign(env)
	r.ask(env)
}

// assign gives the privilege, if it is here and free, to the first of the queue (ASSIGN_PRIVILEGE).
func (r *raymond) assign(env *nodes.Env) {
	if !r.has || r.using || len(r.queue) == 0 {
		return
	}
	first := r.queue[0]
	r.queue = slices.Delete(r.queue, 0, 1)
	if first == env.Self() {
		r.using = true
		env.Grant()
		return
	}
	r.has, r.holder = false, first
	r.serial++
	env.Send(first, raymondPrivilege{r.serial})
}

// ask sends for the privilege, if it is wanted and not asked for yet (MAKE_REQUEST).
func (r *raymond) ask(env *nodes.Env) {
	if r.holder == nodes.None || len(r.queue) == 0 || r.asked {
		return
	}
	r.asked = true
	env.Send(r.holder, raymondRequest{r.serial})
}

// HasToken reports whether the privilege is here.
func (r *raymond) HasToken() bool { return r.has }

// WaitsFor names the neighbour on the way to the privilege.
func (r *raymond) WaitsFor() nodes.Set {
	if r.holder == nodes.None {
		return nodes.Set{}
	}
	return nodes.SetOf(r.holder)
}
