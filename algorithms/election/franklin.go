package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var franklinAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "franklin", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &franklin{ringNode: newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: franklinIdentity{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Edges:    nextOnly,
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "W. R. Franklin, On an improved algorithm for decentralized extrema finding in circular " +
		"configurations of processors, CACM 25(5), 1982",
	Summary: "In each round a candidate compares itself with the next candidates on both sides and " +
		"gives up unless it is higher than both, so at most half of them go on.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Rank: rankInRing,
		Partitions: ringPartitions, Costs: franklinCosts},
	Published: franklinClaims,
	Faults:    silent(),
}

// franklin is the algorithm of Franklin, with numbered rounds in place of FIFO links, and an announcement.
//
// A candidate sends its identity both ways; nodes that are not candidates pass it on to the next candidate.
// Of two neighbours one gives up. A candidate that gets its own identity back is the only one, and leads when
// that identity has come from both sides; the highest node never gives up.
//
// No two lead, even if messages are lost, copied or late. If two led, the identity of each would have passed
// the other before the other became a candidate in its present life, which cannot hold for both. Hence Life:
// a node drops the identities that it sent in an earlier life. But a node that has forgotten that it took
// part numbers elections anew, and if messages overtake each other as well, two may lead.
//
// A neighbour may be one round ahead, but not two, since for the next round it needs this node's identity.
// So early identities are kept, and two places for each side are enough. A node that gives up passes on what
// it has kept.
type franklin struct {
	ringNode
	active bool               // it is a candidate
	round  uint32             // from 1
	came   [2][2]franklinMark // from each side, by whether the round is even or odd
}

type (
	// franklinIdentity is the identity of a candidate in a round.
	franklinIdentity struct {
		Election, Round uint32
		Identity, Life  uint32 // Life is the candidate's incarnation
		Forward         bool   // it goes in the direction of the ring
	}
	franklinMark struct{ round, identity, life uint32 }
)

func (f *franklin) Campaign(env *nodes.Env) {
	if f.begin(env) {
		f.stand(env)
	}
}

// stand makes this node a candidate.
func (f *franklin) stand(env *nodes.Env) {
	f.active, f.came = true, [2][2]franklinMark{}
	f.send(env, 1)
}

// send begins a round.
func (f *franklin) send(env *nodes.Env, round uint32) {
	f.round = round
	for _, forward := range []bool{true, false} {
		env.Send(f.to(forward), franklinIdentity{f.election, round, f.identity, env.Incarnation(), forward})
	}
}

func (f *franklin) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case franklinIdentity:
		current, fresh := f.takes(env, m.Election)
		if fresh {
			f.active = false
			if m.Round == 1 { // true unless this node has forgotten that it took part
				f.stand(env)
			}
		}
		switch {
		case !current:
		case m.Identity == f.identity && (!f.active || m.Life != env.Incarnation()):
		case !f.active:
			env.Send(f.to(m.Forward), m)
		case m.Round >= f.round:
			f.came[side(m.Forward)][m.Round%2] = franklinMark{m.Round, m.Identity, m.Life}
			f.compare(env)
		}
	case ringElected:
		f.hear(env, m)
	default:
		nodes.Unexpected(f, m)
	}
}

// compare ends each round for which the identities of both neighbours have come.
func (f *franklin) compare(env *nodes.Env) {
	for f.active {
		back, ahead := f.came[0][f.round%2], f.came[1][f.round%2]
		if back.round != f.round || ahead.round != f.round {
			return
		}
		if back.identity == f.identity && ahead.identity == f.identity {
			f.win(env)
			return
		}
		if max(back.identity, ahead.identity) <= f.identity {
			f.send(env, f.round+1)
			continue
		}
		f.active = false
		for _, forward := range []bool{true, false} {
			if early := f.came[side(forward)][(f.round+1)%2]; early.round == f.round+1 {
				env.Send(f.to(forward), franklinIdentity{f.election, early.round, early.identity, early.life, forward})
			}
		}
	}
}
