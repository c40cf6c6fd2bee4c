package mutex

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var tokenRingAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "token-ring",
		New: func(c nodes.Config) nodes.Machine {
			next, _ := ringOrder(c.N, c.Value(orderOption)) // the options are valid
			return &tokenRing{next: next}
		},
		Messages: []nodes.MessageKind{{Zero: ringToken{}, Token: true}},
		Options:  []nodes.Option{orderOption},
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID {
			next, _ := ringOrder(c.N, c.Value(orderOption))
			return []nodes.ID{after(next, c.N, id)}
		},
		Live:       nodes.NoLoss | nodes.NoCrash,
		Circulates: true,
	},
	Aliases: []string{"ring"}, Family: "token",
	Source:  "Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977",
	Summary: "One token circulates in a ring of nodes, and a node that has it may enter before passing it on.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			const formula = "1 saturated; N if one requests; unbounded if none"
			if c.N == 1 {
				return always(formula, algorithm.Exactly(0), algorithm.Exactly(0))
			}
			return algorithm.Cost{
				Formula:    formula,
				Sequential: algorithm.Unbounded(1),
				One:        algorithm.Exactly(float64(c.N)),
				Saturated:  algorithm.Exactly(1),
				Any:        algorithm.Unbounded(1),
				Delay:      algorithm.Between(1, float64(c.N-1)),
			}
		},
		// Each node enters once in a lap (G. Le Lann, 1977).
		Bypass: peers,
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: textbook, Value: exactly(1)},
		{Figure: algorithm.MessagesPerEntry, Source: textbook, Load: "one",
			Value: formula(func(n float64) float64 { return n })},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(1)},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook + ": at most N-1", Load: "closed",
			Think: 20 * algorithm.Hop, Sizes: nine,
			Value: func(c nodes.Config) algorithm.Range { return algorithm.Between(1, float64(c.N-1)) }},
		{Figure: algorithm.ClientDelayHops, Source: textbook + ": anywhere from 0 to N", Load: "sequential",
			Sizes: nine, Value: func(c nodes.Config) algorithm.Range { return algorithm.Between(0, float64(c.N)) }},
	},
	Faults: withoutTimeouts(
		under(blocks, "the token is lost when it is passed to the dead node next", "dead-idle"),
		under(blocks, tokenLost, "lost-token"),
		under(blocks|unhit, "the token is lost between neighbours that do not reach each other (B); not hit if "+
			"all neighbours do (-)", "majority-ring"),
		under(recovers|blocks, "the token is lost with a holder that is killed (B); other nodes hold nothing (L)",
			"empty-restarts"),
	),
}

// orderOption is the order of nodes in the ring. The ring is virtual: every node can send to every other.
var orderOption = nodes.Option{
	Name:  "order",
	Usage: "order of the nodes in the ring of the token, as in 0,2,1; by default by number",
	Check: func(c nodes.Config, value string) error {
		_, err := ringOrder(c.N, value)
		return err
	},
	Shows: []nodes.Shown{
		{Value: "0,1,2,3,4", Figure: "order by next", Least: 0.95, Most: 1},
		{Value: "4,3,2,1,0", Figure: "order by next", Least: 0, Most: 0.3},
	},
}

// ringOrder returns the successor of each node in a ring of n; nil: the successor is the node with the next
// number.
func ringOrder(n int, value string) ([]nodes.ID, error) {
	if value == "" {
		return nil, nil
	}
	words, next := strings.Split(value, ","), make([]nodes.ID, n)
	order := make([]nodes.ID, 0, n)
	for _, word := range words {
		id, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
		switch {
		case err != nil || id >= uint64(n):
			return nil, fmt.Errorf("%q is not a node: list the nodes 0 to %d in the order of the ring", word, n-1)
		case slices.Contains(order, nodes.ID(id)):
			return nil, fmt.Errorf("node %d comes twice: list each node once", id)
		}
		order = append(order, nodes.ID(id))
	}
	if len(order) != n {
		return nil, fmt.Errorf("%d of %d nodes: list each node once", len(order), n)
	}
	for at, id := range order {
		next[id] = order[(at+1)%n]
	}
	return next, nil
}

// tokenRing is the algorithm of G. Le Lann, "Distributed systems: towards a formal approach",
// IFIP Congress 1977.
//
// One token circulates in the ring 0, 1, ..., n-1, 0, or in the order of the option. A node that has it may
// enter, and passes it on when it leaves; a node whose client does not wait passes it on at once.
//
// Mutual exclusion holds because there is one token. A second one could only be a copy made by the network:
// the token counts its hops, and a node drops one that has made no more hops than the last it had.
type tokenRing struct {
	hops  uint64     // number of hops of the token when it was last here
	has   bool       // the token is here
	wants bool       // our client waits or is inside
	next  []nodes.ID // by node: its successor; nil: the node with the next number
}

// ringToken is the token after this many Hops.
type ringToken struct{ Hops uint64 }

// Start makes the token at node 0.
func (r *tokenRing) Start(env *nodes.Env) {
	if env.Self() == 0 {
		r.has = true
		r.pass(env)
	}
}

// Recover does nothing: if node 0 made a token again after a crash, there would be two.
func (r *tokenRing) Recover(*nodes.Env, nodes.Message) {}

func (r *tokenRing) Request(env *nodes.Env) {
	r.wants = true
	if r.has {
		env.Grant() // only in a ring of one node, which keeps the token
	}
}

func (r *tokenRing) Release(env *nodes.Env) {
	r.wants = false
	r.pass(env)
}

func (r *tokenRing) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case ringToken:
		if m.Hops <= r.hops {
			return // the token is a copy
		}
		r.hops = m.Hops
		r.has = true
		if r.wants {
			env.Grant()
		} else {
			r.pass(env)
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// pass sends the token to the next node.
func (r *tokenRing) pass(env *nodes.Env) {
	if env.N() == 1 {
		return // there is no other node
	}
	r.has = false
	env.Send(after(r.next, env.N(), env.Self()), ringToken{r.hops + 1})
}

// after returns the successor of a node in a ring of n; next is as ringOrder returns it.
func after(next []nodes.ID, n int, id nodes.ID) nodes.ID {
	if next == nil {
		return (id + 1) % nodes.ID(n)
	}
	return next[id]
}

// HasToken reports whether the token is here.
func (r *tokenRing) HasToken() bool { return r.has }
