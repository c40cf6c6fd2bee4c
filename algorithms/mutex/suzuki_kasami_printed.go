package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// holderOption says what a node does if it asks while it has the token. In the printed program the node
// waits; in the example printed beside the program, a node "has sent a request to all, and grabbed the
// token".
var holderOption = nodes.Option{
	Name:    "holder",
	Usage:   "what a node does that asks although it has the token",
	Values:  []string{holderWaits, holderEnters},
	Default: holderWaits,
	Shows: []nodes.Shown{
		{Value: holderWaits, Figure: "entries", Least: 0, Most: 0},
		{Value: holderEnters, Figure: "entries", Least: 1, Most: 1000},
	},
}

const (
	holderWaits  = "waits"
	holderEnters = "enters"
)

var suzukiPrintedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "suzuki-kasami-printed",
		New: func(c nodes.Config) nodes.Machine {
			return &suzukiPrinted{suzukiKasami: suzukiKasami{rn: make([]uint64, c.N)},
				direct: c.Value(holderOption) == holderEnters}
		},
		Messages: suzukiKasamiAlgorithm.Messages,
		Options:  []nodes.Option{holderOption},
		Live:     suzukiKasamiAlgorithm.Live,
	},
	Aliases: []string{"sk-printed"}, Family: "token",
	Source: "Suzuki and Kasami, ACM TOCS 3(4), 1985, as Lozes and Henrio, Distributed Algorithms: Mutual " +
		"exclusion (lecture notes, Nice), print it",
	Summary: "As suzuki-kasami, but a node that has the token and is not inside answers no request, and " +
		"waits for the token itself.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost { // a holder that enters at once also sends its requests
			return always("N", algorithm.Between(0, float64(c.N)), algorithm.Between(0, 1))
		},
	},
	Flaw: &algorithm.Flaw{
		Check: "progress",
		At:    nodes.Config{N: 2},
		Alone: true,
	},
	Faults: beside(
		under(blocks|unhit, "all wait before the fault, which finds no message (-), but hits connections of "+
			"processes (B)",
			"broker-restart", "split-brokers", "stalled-connection", "reset-connections"),
		slices.Concat(
			under(blocks, "the first nodes that ask wait for ever: for the token that they have, or for an idle "+
				"holder", nodePlans...),
			under(unhit, "all wait before a fault begins, and no message is on its way",
				append(slices.Clip(linkPlans), "lost-token")...)),
	),
}

// suzukiPrinted is the program of Suzuki and Kasami's algorithm as a lecture prints it. It is known to be
// broken, and is here to show that the checks detect this.
//
// Its entry protocol sends a request to all and waits until the token arrives. Its exit protocol sends the
// token on if the queue is not empty. A node that gets a request records its number, and does nothing else.
// So a node that leaves while nobody has asked keeps the token for ever. In the paper the holder enters
// without a request, and an idle holder sends the token to the first node that requests it.
//
// The program is safe, since there is one token.
type suzukiPrinted struct {
	suzukiKasami
	direct bool // a node that asks while it has the token enters at once
}

// Request is the entry protocol.
func (s *suzukiPrinted) Request(env *nodes.Env) {
	s.wants = true
	s.rn[env.Self()]++
	env.Broadcast(suzukiRequest{s.rn[env.Self()]})
	if s.direct && s.has {
		env.Grant()
	}
}

func (s *suzukiPrinted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(suzukiRequest); ok {
		s.hear(from, q.Number)
		return
	}
	s.suzukiKasami.Receive(env, from, m)
}
