package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var hirschbergSinclairAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "hirschberg-sinclair", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &hirschbergSinclair{ringNode: newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: sinclairProbe{}}, {Zero: sinclairReply{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Edges:    nextOnly,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "D. S. Hirschberg and J. B. Sinclair, Decentralized extrema-finding in circular " +
		"configurations of processors, CACM 23(11), 1980",
	Summary: "A candidate asks 1, 2, 4, 8... nodes on both sides whether they are lower, and goes on " +
		"while all are; a node that has asked all the way round leads.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Rank: rankInRing,
		Partitions: ringPartitions, Costs: hirschbergSinclairCosts},
	Published: hirschbergSinclairClaims,
	Faults:    silent(),
}

// hirschbergSinclair is the algorithm of Hirschberg and Sinclair, with an announcement.
//
// A probe goes as far as its phase says, unless a higher node stops it. The node at its end replies; when
// both replies are in, the candidate doubles the distance. A probe that comes back to its sender has gone
// all the way round. Only the highest node's probe does, so it alone ever leads, even if messages are
// lost, copied or late, or nodes forget.
//
// A probe carries its direction, because in a ring of two nodes the probes of both directions arrive on one
// link.
type hirschbergSinclair struct {
	ringNode
	phase   uint32
	replied [2]bool // whether this phase's probes backward and forward were answered
}

type (
	// sinclairProbe asks whether all nodes up to a distance are lower than its sender.
	sinclairProbe struct {
		Election, Identity, Phase uint32
		Hops                      uint32 // hops still to go, this one included
		Forward                   bool   // it goes in the direction of the ring
	}
	// sinclairReply goes back to the sender of a probe, and says that all nodes on the probe's way are lower.
	sinclairReply struct {
		Election, Identity, Phase uint32
		Forward                   bool // the probe went in the direction of the ring
	}
)

func (h *hirschbergSinclair) Campaign(env *nodes.Env) {
	if h.begin(env) {
		h.probe(env, 0)
	}
}

// probe begins a phase.
func (h *hirschbergSinclair) probe(env *nodes.Env, phase uint32) {
	h.phase, h.replied = phase, [2]bool{}
	for _, forward := range []bool{true, false} {
		env.Send(h.to(forward), sinclairProbe{h.election, h.identity, phase, 1 << phase, forward})
	}
}

func (h *hirschbergSinclair) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case sinclairProbe:
		current, fresh := h.takes(env, m.Election)
		switch {
		case !current:
		case m.Identity == h.identity:
			h.win(env)
		case m.Identity < h.identity:
			if fresh {
				h.probe(env, 0)
			}
		case m.Hops == 1:
			env.Send(h.to(!m.Forward), sinclairReply{m.Election, m.Identity, m.Phase, m.Forward})
		default:
			m.Hops--
			env.Send(h.to(m.Forward), m)
		}
	case sinclairReply:
		h.reply(env, m)
	case ringElected:
		h.hear(env, m)
	default:
		nodes.Unexpected(h, m)
	}
}

func (h *hirschbergSinclair) reply(env *nodes.Env, m sinclairReply) {
	switch current, _ := h.takes(env, m.Election); {
	case !current:
	case m.Identity != h.identity:
		env.Send(h.to(!m.Forward), m)
	case m.Phase == h.phase:
		h.replied[side(m.Forward)] = true
		if h.replied == [2]bool{true, true} {
			h.probe(env, h.phase+1)
		}
	}
}
