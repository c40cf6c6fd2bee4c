package election

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var itaiRodehAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "itai-rodeh", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			i := &itaiRodeh{anonymousNode: newAnonymousNode(c)}
			for at := range i.drawn {
				i.drawn[at] = make([]uint32, c.N)
			}
			return i
		},
		Ports:    nextOnly,
		Edges:    nextOnly,
		Messages: []nodes.MessageKind{{Zero: itaiDraw{}}},
		Options:  []nodes.Option{drawsOption},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "anonymous ring",
	Source: "A. Itai and M. Rodeh, Symmetry breaking in distributed networks, Information and " +
		"Computation 88(1), 1990, in the form of the PRISM model checker's case study",
	Summary: "In each round every node draws an identity and sends it round the ring; the highest that " +
		"only one has drawn makes its owner the leader; without one, all draw again.",
	Elector:   &algorithm.Leadership{Partitions: ringPartitions},
	Published: itaiRodehClaims,
	Faults: silent(
		under(starves|blocks, "the ring is broken (B); but the node before the dead one leads if it has seen all "+
			"identities already (P)",
			"dead-highest")),
}

// itaiRodeh is the algorithm of Itai and Rodeh in its synchronous form, in which all draw again. Nodes have
// no identities of their own, and know how many they are.
//
// Each draw goes round to all others, N-1 hops, so a round takes N(N-1) messages. At its end all know the
// same draws, in the order of the ring, and come to the same conclusion without an announcement.
//
// A neighbour may be one round ahead, but not two, since for the next round it needs this node's draw. So
// draws of the next round are kept, by where they were drawn, and neither copies nor the order of messages
// matter. A node that forgets its draw and draws again breaks this: the others then know different draws.
type itaiRodeh struct {
	anonymousNode
	round uint32 // the current or latest round, counted over all elections
	open  bool   // an election goes on
	// drawn[r%2][h] is what the node h hops back drew in round r, which is this round or the next; 0: not
	// known yet. known[r%2] counts the known ones.
	drawn [2][]uint32
	known [2]int
}

// itaiDraw says what the node Hops back has drawn in a round.
type itaiDraw struct{ Round, Hops, Identity uint32 }

func (i *itaiRodeh) Campaign(env *nodes.Env) {
	if !i.open {
		i.draw(env)
		i.conclude(env)
	}
}

// draw begins the next round.
func (i *itaiRodeh) draw(env *nodes.Env) {
	clear(i.drawn[i.round%2]) // these places are now for the round after the new one
	i.known[i.round%2] = 0
	i.round++
	i.open = true
	i.follow(env, nodes.None)
	own := i.chooseIdentity(env)
	i.know(itaiDraw{i.round, 0, own})
	if env.N() > 1 {
		env.Send(0, itaiDraw{i.round, 1, own})
	}
}

// know records a draw and reports whether it is new.
func (i *itaiRodeh) know(d itaiDraw) bool {
	drawn := &i.drawn[d.Round%2][d.Hops]
	if *drawn != 0 {
		return false
	}
	*drawn = d.Identity
	i.known[d.Round%2]++
	return true
}

func (i *itaiRodeh) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	d, ok := m.(itaiDraw)
	if !ok {
		nodes.Unexpected(i, m)
	}
	if d.Round < i.round || d.Round == i.round && !i.open || d.Round > i.round+1 || !i.know(d) {
		return // a copy, or meant for an earlier life of this node
	}
	if !i.open {
		i.draw(env)
	}
	if int(d.Hops) < env.N()-1 {
		env.Send(0, itaiDraw{d.Round, d.Hops + 1, d.Identity})
	}
	i.conclude(env)
}

// conclude ends each round whose draws are all known.
func (i *itaiRodeh) conclude(env *nodes.Env) {
	for i.open && i.known[i.round%2] == env.N() {
		winner := highestUnique(i.drawn[i.round%2])
		if winner >= 0 {
			i.open = false
			i.follow(env, somebodyUnless(winner == 0))
		}
		if winner < 0 || i.known[(i.round+1)%2] > 0 { // draw again, or join another election
			i.draw(env)
		}
	}
}

// highestUnique returns the index of the highest number that occurs only once, or -1.
func highestUnique(all []uint32) int {
	sorted := slices.Sorted(slices.Values(all))
	for at := len(sorted) - 1; at >= 0; at-- {
		unlike := func(other int) bool {
			return other < 0 || other == len(sorted) || sorted[other] != sorted[at]
		}
		if unlike(at-1) && unlike(at+1) {
			return slices.Index(all, sorted[at])
		}
	}
	return -1
}
