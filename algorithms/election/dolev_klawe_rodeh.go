package election

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var dolevKlaweRodehAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "dolev-klawe-rodeh", Kind: nodes.Election,
		New:      func(c nodes.Config) nodes.Machine { return &dolevKlaweRodeh{ringNode: newRingNode(c)} },
		Messages: []nodes.MessageKind{{Zero: dolevValue{}}, {Zero: ringElected{}}},
		Options:  []nodes.Option{idsOption},
		Edges:    nextOnly,
		Safe:     nodes.NoAmnesia,
		Live:     nodes.NoLoss | nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia,
	},
	Aliases: []string{"peterson-ring"}, Family: "ring",
	Source: "D. Dolev, M. Klawe and M. Rodeh, An O(n log n) unidirectional distributed algorithm for " +
		"extrema finding in a circle, J. Algorithms 3(3), 1982; G. L. Peterson, An O(n log n) " +
		"unidirectional algorithm for the circular extrema problem, TOPLAS 4(4), 1982, its basic form",
	Summary: "In each round a candidate learns the values of the two candidates before it; it goes on, " +
		"with the nearer one's value, only if that is the highest of the three; a value that comes all the way " +
		"round to its candidate is the highest, and its owner leads.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins, Rank: rankInRing,
		Partitions: ringPartitions, Costs: dolevKlaweRodehCosts},
	Published: dolevKlaweRodehClaims,
	Faults: silent(
		under(recovers|blocks, "it needs links that keep messages in order (Dolev, Klawe and Rodeh "+
			"1982): a value that overtakes others is dropped as one of another round, and the election does "+
			"not end (B)", "overtaking-election")),
}

// dolevKlaweRodeh is the basic form of the algorithm of Dolev, Klawe and Rodeh, with an announcement.
// Peterson's form sends the higher of two values in the second half of a round, and decides the same.
// Messages go one way only.
//
// A candidate stands for a value, at first its own identity. In the first half of each round it sends its
// value, and gets the value of the candidate before it. In the second half it passes that on, and gets the
// value of the candidate two before it. If the first value is a local maximum, the candidate stands for that
// in the next round; otherwise it only passes values on from then on. So of two neighbours at least one gives
// up. The highest identity is always a local maximum: it moves on by one candidate each round, and no other
// value passes the candidate that stands for it. If that candidate is the only one left, its own value comes
// back in the first half of a round. The election is over, and it announces the value's owner.
//
// Second tells the two messages of a round apart, and rounds have numbers, so a message out of order is
// dropped. The election then has no leader, rather than two. A candidate drops a second copy of a value. If
// no candidate does, the copy comes back to its sender. The sender is no longer a candidate, and drops values
// of its own earlier rounds. A node that forgot its part in an election may become a
// candidate again after the election is over; if messages overtake each other as well, two may lead.
type dolevKlaweRodeh struct {
	ringNode
	active bool       // it is a candidate
	round  uint32     // from 1
	value  dolevOwned // the value that it stands for
	first  dolevOwned // the value of the candidate before it
	second bool       // it has the first value of the round, and waits for the second
}

// dolevOwned is an identity and its owner.
type dolevOwned struct {
	Identity uint32
	Owner    nodes.ID
}

// dolevValue carries a value in one half of a round.
type dolevValue struct {
	Election, Round uint32
	Second          bool
	Value           dolevOwned
}

func (d *dolevKlaweRodeh) Campaign(env *nodes.Env) {
	if d.begin(env) {
		d.stand(env, 1, dolevOwned{d.identity, env.Self()})
	}
}

// stand begins a round as a candidate for a value.
func (d *dolevKlaweRodeh) stand(env *nodes.Env, round uint32, value dolevOwned) {
	d.active, d.round, d.value, d.second = true, round, value, false
	env.Send(d.next, dolevValue{d.election, round, false, value})
}

func (d *dolevKlaweRodeh) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case dolevValue:
		current, fresh := d.takes(env, m.Election)
		if fresh {
			d.active, d.round = false, 0
			if m.Round == 1 && !m.Second { // true unless this node has forgotten that it took part
				d.stand(env, 1, dolevOwned{d.identity, env.Self()})
			}
		}
		switch {
		case !current:
		case !d.active && m.Round > d.round: // a node drops values of rounds in which it stood
			env.Send(d.next, m)
		case d.active && m.Round == d.round && m.Second == d.second:
			d.compare(env, m.Value)
		}
	case ringElected:
		d.hear(env, m)
	default:
		nodes.Unexpected(d, m)
	}
}

// compare takes the first or the second value of a round.
func (d *dolevKlaweRodeh) compare(env *nodes.Env, value dolevOwned) {
	switch {
	case !d.second && value == d.value:
		d.announce(env, value.Owner)
	case !d.second:
		d.first, d.second = value, true
		env.Send(d.next, dolevValue{d.election, d.round, true, value})
	case d.first.Identity > max(d.value.Identity, value.Identity):
		d.stand(env, d.round+1, d.first)
	default:
		d.active = false
	}
}
