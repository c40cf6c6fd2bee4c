package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var leLannAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "le-lann", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &leLann{ringNode: newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: lannIdentity{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Edges:    nextOnly,
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "G. Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977, in the " +
		"form of G. Tel, Introduction to Distributed Algorithms, 2000",
	Summary: "Each candidate sends its identity round the ring and notes the others that " +
		"pass; when its own is back it has seen them all, and the highest candidate leads.",
	Elector:   &algorithm.Leadership{Partitions: ringPartitions, Costs: leLannCosts},
	Published: leLannClaims,
	Faults:    silent(),
}

// leLann is the algorithm of Le Lann, with an announcement. Every identity goes all the way round, and only
// candidates have sent theirs. A node that passes an identity on before it begins is not a candidate, so k
// candidates take kN messages. The highest candidate leads, which need not be the highest node.
//
// No two lead: the identity of each has to pass the other. A candidate that has seen a higher identity does
// not lead, and a candidate that leads drops identities that come later. On FIFO links the highest candidate
// leads: each sends its identity before it takes in another's, so the highest identity stays ahead of the
// others that it meets. A node that forgets that it was a candidate still takes its own identity off the
// ring; but a node that forgets which identities it has seen may lead beside another.
type leLann struct {
	ringNode
	candidate bool   // it has sent its identity in this election
	highest   uint32 // the highest identity of the known candidates
}

// lannIdentity carries the identity of a candidate.
type lannIdentity struct{ Election, Identity uint32 }

func (l *leLann) Campaign(env *nodes.Env) {
	if l.begin(env) {
		l.candidate, l.highest = true, l.identity
		env.Send(l.next, lannIdentity{l.election, l.identity})
	}
}

func (l *leLann) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case lannIdentity:
		current, fresh := l.takes(env, m.Election)
		if fresh {
			l.candidate = false
		}
		switch {
		case !current:
		case m.Identity != l.identity:
			l.highest = max(l.highest, m.Identity)
			env.Send(l.next, m)
		case l.candidate && l.highest == l.identity:
			l.win(env)
		}
	case ringElected:
		l.hear(env, m)
	default:
		nodes.Unexpected(l, m)
	}
}
