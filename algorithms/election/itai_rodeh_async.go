package election

import (
	"cmp"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var itaiRodehAsyncAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "itai-rodeh-async", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &itaiRodehAsync{anonymousNode: newAnonymousNode(c)} },
		Ports:    nextOnly,
		Edges:    nextOnly,
		Messages: []nodes.MessageKind{{Zero: asyncCandidate{}}, {Zero: asyncElected{}}},
		Options:  []nodes.Option{drawsOption},
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "anonymous ring",
	Source: "A. Itai and M. Rodeh, Symmetry breaking in distributed networks, Information and " +
		"Computation 88(1), 1990, as W. Fokkink and J. Pang give it, Variations on Itai-Rodeh leader " +
		"election for anonymous rings, J. UCS 12(8), 2006",
	Summary: "Candidates draw identities and compare them as in Chang-Roberts; candidates that share the " +
		"highest draw again, in the next round; one that meets no equal on the whole way round leads.",
	Elector: &algorithm.Leadership{Partitions: ringPartitions},
	Faults:  itaiRodehAlgorithm.Faults,
}

// itaiRodehAsync is the algorithm of Itai and Rodeh for asynchronous rings, with an announcement. Nodes have
// no identities of their own, and know how many they are.
//
// A candidate sends the number of its round and its draw. Rounds compare first, then draws: a higher message
// makes a node give up, and a lower one is stopped. A message that has made N hops is back at its sender, and
// matters only if it has the sender's present round and draw. If it has met no equal candidate on its way,
// its sender leads; otherwise the sender draws again for the next round. So candidates that share the highest
// draw go on.
//
// A message that passes another candidate makes it give up, or is marked by it. If two led, the message of
// each would have passed the other before the other became a candidate in its present life, which cannot hold
// for both. So no two lead, even if nodes crash and forget: a message of an earlier life makes nobody a
// leader. Rounds are numbered over all elections, so messages of an earlier one are recognised, and links
// need not be FIFO.
type itaiRodehAsync struct {
	anonymousNode
	round    uint32 // the highest round that it has heard of
	identity uint32 // its draw in that round, as a candidate
	open     bool   // an election goes on
	active   bool   // it is a candidate
}

type (
	asyncCandidate struct {
		Round, Identity uint32
		Life            uint32 // the incarnation of its sender
		Hops            uint32 // hops made so far, the present one included
		Alone           bool   // the message has met no equal candidate
	}
	// asyncElected says that the node Hops back leads.
	asyncElected struct{ Round, Hops uint32 }
)

func (i *itaiRodehAsync) Campaign(env *nodes.Env) {
	if !i.open {
		i.open, i.active = true, true
		i.follow(env, nodes.None)
		i.draw(env)
	}
}

// draw begins the next round as a candidate.
func (i *itaiRodehAsync) draw(env *nodes.Env) {
	i.round++
	i.identity = i.chooseIdentity(env)
	env.Send(0, asyncCandidate{i.round, i.identity, env.Incarnation(), 1, true})
}

func (i *itaiRodehAsync) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case asyncCandidate:
		if !i.open {
			if m.Round <= i.round {
				return // of an election that is over
			}
			i.open, i.active = true, false
			i.follow(env, nodes.None)
		}
		i.compare(env, m)
	case asyncElected:
		if m.Round < i.round || m.Round == i.round && !i.open {
			return // it has come back to the leader, or is a copy, or too late
		}
		i.round, i.open = m.Round, false
		i.follow(env, nodes.Somebody)
		env.Send(0, asyncElected{m.Round, m.Hops + 1})
	default:
		nodes.Unexpected(i, m)
	}
}

// compare drops or passes on a candidate's message. This node's own may make it the leader.
func (i *itaiRodehAsync) compare(env *nodes.Env, m asyncCandidate) {
	back := int(m.Hops) == env.N()
	order := 1 // a node that is not a candidate passes on everything
	if i.active {
		order = cmp.Or(cmp.Compare(m.Round, i.round), cmp.Compare(m.Identity, i.identity))
	}
	switch {
	case order < 0, order > 0 && back: // lower, or sent by this node before it gave up
	case back && m.Life != env.Incarnation():
	case order == 0 && back && m.Alone:
		i.open = false
		i.follow(env, itself)
		env.Send(0, asyncElected{i.round, 1})
	case order == 0 && back:
		i.draw(env)
	default:
		i.active = i.active && order == 0
		i.round = max(i.round, m.Round)
		env.Send(0, asyncCandidate{m.Round, m.Identity, m.Life, m.Hops + 1, m.Alone && order != 0})
	}
}
