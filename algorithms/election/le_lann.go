package election

import (
	"turnstile/nodes"
	"turnstile/nodes/row"
)

var leLannRow = row.Row{
	Spec: nodes.Spec{
		Name: "le-lann", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &leLann{ringNode: newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: lannIdentity{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.NoCrash | nodes.NoAmnesia,
	},
	Family: "ring",
	Source: "G. Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977, in the " +
		"form of G. Tel, Introduction to Distributed Algorithms, 2000",
	Summary: "Each candidate sends its identity round the ring and notes those of the others that " +
		"pass; when its own is back it has seen them all, and the highest candidate leads.",
	Elector:   &row.Leadership{Partitions: ringPartitions, Costs: leLannCosts},
	Published: leLannClaims,
	Faults:    silent(),
}

// leLann is the algorithm of Le Lann, with an announcement. Every identity goes all the way round, and only
// candidates have sent theirs: who has passed on one of another before it began is none, so k candidates take
// kN messages. The highest candidate leads, which need not be the highest node.
//
// No two lead: each identity has to pass the other candidate, the higher one stops the lower if it comes
// first, and a leader stops what comes after. On FIFO links the leader is the highest candidate: each has
// sent its identity before it took in another's, so that of the highest stays ahead of those that it meets on
// its way. A node that forgets that it was a candidate still takes its own identity off the ring; but one
// that forgets whom it has seen may lead beside another.
type leLann struct {
	ringNode
	candidate bool   // it has sent its identity in this election
	highest   uint32 // of the candidates that it knows of
}

// lannIdentity is that of a candidate.
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
